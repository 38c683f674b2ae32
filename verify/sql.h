/*
 * sql.h - statements on a recovered state, and names as they are quoted
 */
#ifndef VERIFY_SQL_H
#define VERIFY_SQL_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fault.h"

static inline void
own_stmt_finalize(sqlite3_stmt **s)
{
	(void)sqlite3_finalize(*s);
	*s = NULL;
}

static inline void
own_sql_free(char **text)
{
	sqlite3_free(*text);
	*text = NULL;
}

/* Text of sqlite3_mprintf. */
#define OWN_SQL(name) \
	char *name __attribute__((cleanup(own_sql_free))) = NULL

#define OWN_STMT(name) \
	sqlite3_stmt *name __attribute__((cleanup(own_stmt_finalize))) = NULL

/*
 * fmt as in sqlite3_mprintf (%w quotes within "..."). 0 and *s; 1: SQLite
 * does not accept the statement (an unknown function, collation, module),
 * sqlite3_errmsg says why; else a fault.
 */
int
sql_prepare(sqlite3 *db, sqlite3_stmt **s, struct fault *f,
	    const char *fmt, ...);

/* The same for text that is ready. */
int
sql_prepare_text(sqlite3 *db, sqlite3_stmt **s, const char *text,
		 struct fault *f);

/* 0: a row; 1: the end; 2: SQLite refuses to compute a value; or a fault. */
int
sql_step(sqlite3_stmt *s, struct fault *f);

/* The integer that a statement's first row starts with; 0 without a row. */
int
sql_int(sqlite3 *db, const char *text, int64_t *v, struct fault *f);

/* A copy of a column as NUL-terminated UTF-8 ("" for NULL), owned. */
int
sql_copy_text(sqlite3_stmt *s, int col, char **text, struct fault *f);

/* "name" with its quotes doubled, at the end of b. */
int
sql_quote(struct buf *b, const char *name, struct fault *f);

/*
 * A copy that is strictly valid UTF-8: each byte that is not becomes '?'.
 * For showing only.
 */
int
sql_shown(const char *raw, char **text, struct fault *f);

#endif
