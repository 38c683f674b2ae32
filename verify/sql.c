/*
 * sql.c - statements on a recovered state, and names as they are quoted
 */
#include "verify/sql.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cell.h"
#include "recover/state.h"

int
sql_prepare_text(sqlite3 *db, sqlite3_stmt **s, const char *text,
		 struct fault *f)
{
	int rc = sqlite3_prepare_v2(db, text, -1, s, NULL);

	if ((rc & 0xff) == SQLITE_ERROR)
		return 1;
	if (rc != SQLITE_OK)
		return state_sql_fault(db, rc, "prepare a statement", f);
	return 0;
}

int
sql_prepare(sqlite3 *db, sqlite3_stmt **s, struct fault *f,
	    const char *fmt, ...)
{
	va_list ap;
	char *text;
	int rc;

	va_start(ap, fmt);
	text = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	if (!text)
		return fault_set(f, FAULT_TROUBLE, "out of memory: SQL");
	rc = sql_prepare_text(db, s, text, f);
	sqlite3_free(text);
	return rc;
}

int
sql_step(sqlite3_stmt *s, struct fault *f)
{
	int rc = sqlite3_step(s);

	if (rc == SQLITE_ROW)
		return 0;
	if (rc == SQLITE_DONE)
		return 1;
	if ((rc & 0xff) == SQLITE_ERROR)
		return 2;
	return state_sql_fault(sqlite3_db_handle(s), rc, "read a row", f);
}

int
sql_int(sqlite3 *db, const char *text, int64_t *v, struct fault *f)
{
	OWN_STMT(s);
	int rc = sql_prepare_text(db, &s, text, f);

	if (rc == 0)
		rc = sql_step(s, f);
	if (rc < 0)
		return rc;
	*v = rc == 0 ? sqlite3_column_int64(s, 0) : 0;
	return 0;
}

int
sql_copy_text(sqlite3_stmt *s, int col, char **text, struct fault *f)
{
	const unsigned char *t = sqlite3_column_text(s, col);

	*text = strdup(t ? (const char *)t : "");
	if (!*text)
		return fault_set(f, FAULT_TROUBLE, "out of memory: a name");
	return 0;
}

int
sql_quote(struct buf *b, const char *name, struct fault *f)
{
	int rc = buf_u8(b, '"', f);

	for (; rc == 0 && *name; name++) {
		if (*name == '"')
			rc = buf_u8(b, '"', f);
		if (rc == 0)
			rc = buf_u8(b, (uint8_t)*name, f);
	}
	return rc ? rc : buf_u8(b, '"', f);
}

int
sql_shown(const char *raw, char **text, struct fault *f)
{
	char *t = strdup(raw);
	size_t n, i = 0;

	if (!t)
		return fault_set(f, FAULT_TROUBLE, "out of memory: a name");
	n = strlen(t);
	while (cell_utf8_check(t + i, n - i) != 0) {
		size_t step = 1;

		/* The longest valid start of at most one sequence. */
		while (step < 4 && step < n - i &&
		       cell_utf8_check(t + i, step) != 0)
			step++;
		if (cell_utf8_check(t + i, step) != 0) {
			t[i] = '?';
			step = 1;
		}
		i += step;
	}
	*text = t;
	return 0;
}
