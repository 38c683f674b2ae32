/*
 * standin.c - functions that a schema calls and SQLite does not have
 *
 * SQLite asks nobody for a function that it lacks. Its message names it; a
 * message that is put otherwise leaves the statement as refused as it was.
 */
#include "verify/standin.h"

#include <stddef.h>
#include <string.h>

#define STANDIN_MAX 256		/* functions of one schema */
#define STANDIN_NAME_MAX 255u	/* as SQLite's own limit */

static void
S_null(sqlite3_context *context, int n, sqlite3_value **value)
{
	(void)n;
	(void)value;
	sqlite3_result_null(context);
}

/* The name in a message, of *n bytes; NULL: it is about something else. */
static const char *
S_name(const char *says, size_t *n)
{
	static const char *const before[] = {
		"unknown function: ", "no such function: ",
		"wrong number of arguments to function ",
	};

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		size_t skip = strlen(before[i]);

		if (strncmp(says, before[i], skip) != 0)
			continue;
		*n = strlen(says + skip);
		if (*n > 2 && strcmp(says + skip + *n - 2, "()") == 0)
			*n -= 2;
		return says + skip;
	}
	return NULL;
}

/* 0, or 1: there is nothing that it could stand in for. */
static int
S_add(sqlite3 *db)
{
	char name[STANDIN_NAME_MAX + 1];
	size_t n;
	const char *at = S_name(sqlite3_errmsg(db), &n);

	if (!at || n > STANDIN_NAME_MAX)
		return 1;
	memcpy(name, at, n);
	name[n] = '\0';
	return sqlite3_create_function_v2(db, name, -1, SQLITE_UTF8 |
					  SQLITE_DETERMINISTIC |
					  SQLITE_INNOCUOUS, NULL, S_null, NULL,
					  NULL, NULL) != SQLITE_OK;
}

int
standin_prepare(sqlite3 *db, const char *text, sqlite3_stmt **s)
{
	int rc = sqlite3_prepare_v2(db, text, -1, s, NULL);

	for (int i = 0; rc == SQLITE_ERROR && i < STANDIN_MAX; i++) {
		if (S_add(db))
			break;
		rc = sqlite3_prepare_v2(db, text, -1, s, NULL);
	}
	return rc;
}
