/*
 * dflt.c - the value that a column's DEFAULT gives
 *
 * SQLite reads a default with rules of its own (the column's affinity, signs)
 * that no expression in SQL has: a table of our own, in a database of our own,
 * shows what comes of it.
 */
#include "verify/dflt.h"

#include <sqlite3.h>
#include <string.h>
#include <strings.h>

#include "base/cell.h"
#include "base/token.h"
#include "recover/state.h"
#include "verify/sql.h"
#include "verify/value.h"

static bool
S_contains(const char *type, const char *part)
{
	return strcasestr(type, part) != NULL;
}

/* https://www.sqlite.org/datatype3.html, 3.1, in its order. */
static const char *
S_affinity(const char *type)
{
	if (S_contains(type, "INT"))
		return "INTEGER";
	if (S_contains(type, "CHAR") || S_contains(type, "CLOB") ||
	    S_contains(type, "TEXT"))
		return "TEXT";
	if (S_contains(type, "BLOB") || type[0] == '\0')
		return "BLOB";
	if (S_contains(type, "REAL") || S_contains(type, "FLOA") ||
	    S_contains(type, "DOUB"))
		return "REAL";
	return "NUMERIC";
}

static int
S_exec(sqlite3 *db, const char *sql, struct fault *f)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		return 0;
	if ((rc & 0xff) == SQLITE_ERROR)
		return 1;
	return state_sql_fault(db, rc, "evaluate a default", f);
}

static int
S_evaluate(sqlite3 *db, struct buf *b, const char *type, const char *dflt,
	   struct fault *f)
{
	OWN_STMT(s);
	struct value_reader v;
	char *sql = sqlite3_mprintf("ALTER TABLE d ADD COLUMN x %s DEFAULT"
				    " %s", S_affinity(type), dflt);
	int rc, got;

	if (!sql)
		return fault_set(f, FAULT_TROUBLE, "out of memory: SQL");
	rc = S_exec(db, "CREATE TABLE d(a); INSERT INTO d VALUES (1)", f);
	if (rc == 0)
		rc = S_exec(db, sql, f);
	sqlite3_free(sql);
	if (rc == 0)
		rc = sql_prepare_text(db, &s, "SELECT x FROM d", f);
	if (rc == 0)
		rc = sql_step(s, f);
	if (rc)
		return rc < 0 ? rc : 1;
	rc = value_reader_init(&v, db, f);
	if (rc)
		return rc;
	rc = value_put(&v, b, s, 0, VALUE_COMPARE, &got, f);
	value_reader_free(&v);
	return rc;
}

int
dflt_put(struct buf *b, const char *type, const char *dflt, struct fault *f)
{
	sqlite3 *db = NULL;
	int rc;

	if (!dflt)
		return cell_put_null(b, f);
	if (!token_literal(dflt))
		return 1;
	rc = sqlite3_open_v2(":memory:", &db,
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
			     SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc != SQLITE_OK)
		rc = state_sql_fault(db, rc, "open a scratch database", f);
	else
		rc = S_evaluate(db, b, type, dflt, f);
	(void)sqlite3_close(db);
	return rc;
}
