/*
 * role.h - the files that make up one SQLite database
 */
#ifndef BASE_ROLE_H
#define BASE_ROLE_H

enum role {
	ROLE_MAIN,
	ROLE_WAL,
	ROLE_SHM,
	ROLE_JOURNAL,
	ROLE_COUNT
};

/* "main", "wal", "shm", "journal": the word in reports and manifests. */
const char *
role_name(enum role r);

/* "", "-wal", "-shm", "-journal": what SQLite puts behind main's name. */
const char *
role_suffix(enum role r);

#endif
