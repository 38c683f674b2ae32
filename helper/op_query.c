/*
 * op_query.c - one read-only statement on the recovered state
 *
 * Nothing that a statement does could reach the evidence: the state is
 * private memory. What is refused here is refused so that nobody takes the
 * answer for more than a reading: a second statement, one that writes, one
 * that opens another database or changes how this one is read.
 */
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "helper/ops.h"
#include "verify/sql.h"
#include "verify/value.h"

#define QUERY_HINT "one SELECT, VALUES, WITH, EXPLAIN or reading PRAGMA"
#define QUERY_TABLES "SELECT name FROM sqlite_schema " \
	"WHERE type IN ('table', 'view') ORDER BY name"

/* Pragmas that only tell. true: also with an argument, which selects. */
static const struct {
	const char *name;
	bool argument;
} pragmas[] = {
	{ "application_id", false }, { "auto_vacuum", false },
	{ "collation_list", false }, { "compile_options", false },
	{ "data_version", false }, { "database_list", false },
	{ "encoding", false }, { "foreign_key_check", true },
	{ "foreign_key_list", true }, { "freelist_count", false },
	{ "function_list", false }, { "index_info", true },
	{ "index_list", true }, { "index_xinfo", true },
	{ "integrity_check", true }, { "module_list", false },
	{ "page_count", false }, { "page_size", false },
	{ "pragma_list", false }, { "quick_check", true },
	{ "schema_version", false }, { "table_info", true },
	{ "table_list", true }, { "table_xinfo", true },
	{ "user_version", false },
};

static int
S_allow_pragma(const char *name, const char *argument)
{
	for (size_t i = 0; i < sizeof(pragmas) / sizeof(pragmas[0]); i++)
		if (!sqlite3_stricmp(name, pragmas[i].name))
			return argument && !pragmas[i].argument
			       ? SQLITE_DENY : SQLITE_OK;
	return SQLITE_DENY;
}

/*
 * Asked also for what virtual tables run inside (an R*Tree prepares its
 * INSERTs when it is opened), so writing is judged on the statement as a
 * whole, by sqlite3_stmt_readonly, which does not know of these.
 */
static int
S_authorize(void *arg, int action, const char *a, const char *b,
	    const char *database, const char *inner)
{
	(void)arg;
	(void)database;
	(void)inner;
	switch (action) {
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
		return SQLITE_DENY;
	case SQLITE_PRAGMA:
		return S_allow_pragma(a, b);
	default:
		return SQLITE_OK;
	}
}

/* The tables and views, so far as a hint has room for them. */
static int
S_list_tables(sqlite3 *db, struct fault *f)
{
	char list[FAULT_HINT_MAX - 128];
	size_t n = 0;
	OWN_STMT(s);

	if (sqlite3_prepare_v2(db, QUERY_TABLES, -1, &s, NULL) != SQLITE_OK)
		return fault_hint(f, QUERY_HINT);
	while (sqlite3_step(s) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		size_t more = name ? strlen(name) : 0;

		if (!name || n + more + 3 > sizeof(list))
			return fault_hint(f, "too many tables and views to "
					  "list here; all of them: "
					  QUERY_TABLES);
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
				      n ? ", " : "", name);
	}
	if (n == 0)
		return fault_hint(f, "the database has no table and no view");
	return fault_hint(f, "the tables and views: %s", list);
}

/* What helps against SQLite's complaint. */
static int
S_hint(sqlite3 *db, struct fault *f)
{
	if (strstr(f->text, ": no such table: "))
		return S_list_tables(db, f);
	if (strstr(f->text, ": no such column: "))
		return fault_hint(f, "PRAGMA table_xinfo(TABLE) lists the "
				  "columns of a table");
	return fault_hint(f, QUERY_HINT);
}

static int
S_usage(sqlite3 *db, const char *doing, struct fault *f)
{
	int at = sqlite3_error_offset(db);

	if (at >= 0)
		fault_set(f, FAULT_USAGE, "%s at byte %d: %s", doing, at,
			  sqlite3_errmsg(db));
	else
		fault_set(f, FAULT_USAGE, "%s: %s", doing, sqlite3_errmsg(db));
	return S_hint(db, f);
}

static int
S_refuse(struct fault *f, const char *why)
{
	fault_set(f, FAULT_USAGE, "the SQL %s", why);
	return fault_hint(f, QUERY_HINT);
}

/* What the caller wrote is wrong, or what SQLite found in the database is. */
static int
S_sql_fault(sqlite3 *db, int sqlite_rc, struct fault *f)
{
	switch (sqlite_rc & 0xff) {
	case SQLITE_ERROR:
	case SQLITE_AUTH:
	case SQLITE_RANGE:
	case SQLITE_MISMATCH:
	case SQLITE_READONLY:
		return S_usage(db, "the SQL is not accepted", f);
	default:
		return state_sql_fault(db, sqlite_rc, "run the SQL", f);
	}
}

/* Behind the first statement only blanks and comments may stand. */
static int
S_check_tail(sqlite3 *db, const char *tail, struct fault *f)
{
	const char *end = tail;
	OWN_STMT(more);

	while (*tail) {
		if (sqlite3_prepare_v2(db, tail, -1, &more, &end) !=
		    SQLITE_OK || more || end == tail)
			return S_refuse(f, "holds more than one statement");
		tail = end;
	}
	return 0;
}

static int
S_prepare(sqlite3 *db, const struct op *o, sqlite3_stmt **s, struct fault *f)
{
	const char *tail = NULL;
	int rc;

	if (strlen(o->text) != o->ask->text_bytes)
		return S_refuse(f, "holds a NUL byte");
	rc = sqlite3_prepare_v2(db, o->text, -1, s, &tail);
	if (rc != SQLITE_OK)
		return S_sql_fault(db, rc, f);
	if (!*s)
		return S_refuse(f, "holds no statement");
	if (!sqlite3_stmt_readonly(*s))
		return S_refuse(f, "would write");
	if (sqlite3_bind_parameter_count(*s) > 0)
		return S_refuse(f, "holds a parameter, for which there is no"
				" value");
	if (sqlite3_column_count(*s) == 0)
		return S_refuse(f, "gives no columns");
	return S_check_tail(db, tail, f);
}

static int
S_columns(struct wire *w, sqlite3_stmt *s, int n, struct fault *f)
{
	int rc = wire_begin(w, WIRE_COLUMNS, f);

	for (int i = 0; !rc && i < n; i++) {
		const char *name = sqlite3_column_name(s, i);

		if (!name)
			return fault_set(f, FAULT_TROUBLE, "out of memory");
		rc = cell_put_utf8(&w->buf, name, strlen(name), f);
	}
	return rc ? rc : wire_end(w, f);
}

static int
S_rows(const struct op *o, struct value_reader *v, sqlite3_stmt *s,
       struct fault *f)
{
	int n = sqlite3_column_count(s);
	enum value_use use = o->ask->flags & ASK_RAW_BLOBS ? VALUE_BYTES
							   : VALUE_FINAL;
	int rc = S_columns(o->wire, s, n, f), type, step;

	if (rc)
		return rc;
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		rc = wire_begin(o->wire, WIRE_RESULT, f);
		for (int i = 0; !rc && i < n; i++)
			rc = value_put(v, &o->wire->buf, s, i, use, &type, f);
		if (!rc)
			rc = wire_end(o->wire, f);
		if (rc)
			return rc;
	}
	return step == SQLITE_DONE ? 0
	       : S_sql_fault(sqlite3_db_handle(s), step, f);
}

static int
S_query(const struct op *o, sqlite3 *db, struct fault *f)
{
	struct value_reader v;
	int rc = value_reader_init(&v, db, f);
	OWN_STMT(s);

	if (rc)
		return rc;
	(void)sqlite3_set_authorizer(db, S_authorize, NULL);
	rc = S_prepare(db, o, &s, f);
	if (!rc)
		rc = S_rows(o, &v, s, f);
	value_reader_free(&v);
	return rc;
}

int
op_query(struct op *o, struct fault *f)
{
	int rc;
	OWN_STATE(state);
	OWN_DB(db);

	rc = op_open(o, 0, &state, f);
	if (!rc)
		rc = state_connect(state, &db, f);
	if (!rc)
		rc = S_query(o, db, f);
	own_db_close(&db);
	return rc ? rc : state_finish(state, f);
}
