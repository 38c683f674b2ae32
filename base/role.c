/*
 * role.c - the files that make up one SQLite database
 */
#include "base/role.h"

#include "base/fault.h"

static const struct {
	const char *name, *suffix;
} roles[ROLE_COUNT] = {
	[ROLE_MAIN] = { "main", "" },
	[ROLE_WAL] = { "wal", "-wal" },
	[ROLE_SHM] = { "shm", "-shm" },
	[ROLE_JOURNAL] = { "journal", "-journal" },
};

const char *
role_name(enum role r)
{
	MUST(r < ROLE_COUNT);
	return roles[r].name;
}

const char *
role_suffix(enum role r)
{
	MUST(r < ROLE_COUNT);
	return roles[r].suffix;
}
