/*
 * schema.c - what kind of database it is, and how it becomes ours
 */
#include "lease/schema.h"

#include <stdio.h>
#include <string.h>

#include "lease/migrate.h"
#include "lease/store.h"

enum kind { KIND_OURS, KIND_EMPTY, KIND_OLD, KIND_OLD_EPOCH };

static const char S_schema[] =
#include "lease/schema.inc"
	;

#define S_TEXT(n) S_TEXT_(n)
#define S_TEXT_(n) #n

/* name|type|notnull|default|pk of each column, in the order of the names. */
#define S_SHAPE \
	"SELECT group_concat(name || '|' || type || '|' || \"notnull\" || '|'" \
	" || ifnull(dflt_value, '') || '|' || pk, ';') FROM (SELECT * FROM" \
	" pragma_table_info('leases') ORDER BY name)"
#define S_OLD_HEAD "acquired|REAL|1||0;agent|TEXT|0||0;cwd|TEXT|0||0;"
#define S_OLD_TAIL "expires|REAL|1||0;host|TEXT|0||0;note|TEXT|0||0;" \
	"resource|TEXT|0||1;session|TEXT|1||0"

int
schema_foreign(const char *name, struct fault *f)
{
	(void)fault_set(f, FAULT_REFUSED,
			"%s is the database of another program", name);
	return fault_hint(f, "name another file with --db");
}

static int
S_exec(struct store *s, const char *sql, const char *doing, struct fault *f)
{
	if (sqlite3_exec(s->sql.db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return stmt_fault(s->sql.db, f, doing);
}

/* The first column of the first row, as a number or as text. */
static int
S_ask(struct store *s, const char *sql, int64_t *number, char *text,
      size_t room, struct fault *f)
{
	sqlite3_stmt *st = NULL;
	int rc = 0;

	if (sqlite3_prepare_v2(s->sql.db, sql, -1, &st, NULL) != SQLITE_OK ||
	    sqlite3_step(st) != SQLITE_ROW)
		rc = stmt_fault(s->sql.db, f, "look at the schema");
	else if (number)
		*number = sqlite3_column_int64(st, 0);
	else
		(void)snprintf(text, room, "%s", sqlite3_column_text(st, 0)
			? (const char *)sqlite3_column_text(st, 0) : "");
	(void)sqlite3_finalize(st);
	return rc;
}

static int
S_kind_by_shape(struct store *s, enum kind *kind, struct fault *f)
{
	char shape[512], encoding[16];
	int64_t others;
	int rc = S_ask(s, "SELECT count(*) FROM sqlite_schema WHERE NOT"
		       " (type = 'table' AND name = 'leases' OR type = 'index'"
		       " AND tbl_name = 'leases')", &others, NULL, 0, f);

	if (!rc)
		rc = S_ask(s, S_SHAPE, NULL, shape, sizeof(shape), f);
	if (!rc)
		rc = S_ask(s, "PRAGMA encoding", NULL, encoding,
			   sizeof(encoding), f);
	if (rc)
		return rc;
	if (others == 0 && strcmp(encoding, "UTF-8") == 0) {
		if (strcmp(shape, S_OLD_HEAD S_OLD_TAIL) == 0) {
			*kind = KIND_OLD;
			return 0;
		}
		if (strcmp(shape, S_OLD_HEAD "epoch|TEXT|1|''|0;" S_OLD_TAIL)
		    == 0) {
			*kind = KIND_OLD_EPOCH;
			return 0;
		}
	}
	return schema_foreign("this", f);
}

static int
S_kind(struct store *s, enum kind *kind, struct fault *f)
{
	int64_t id, version, objects;
	int rc = S_ask(s, "PRAGMA application_id", &id, NULL, 0, f);

	if (!rc)
		rc = S_ask(s, "PRAGMA user_version", &version, NULL, 0, f);
	if (rc)
		return rc;
	if (id == STORE_APPLICATION_ID && version > STORE_USER_VERSION) {
		(void)fault_set(f, FAULT_REFUSED, "it is of a newer version");
		return fault_hint(f, "use the holdfast that made it");
	}
	if (id == STORE_APPLICATION_ID && version == STORE_USER_VERSION) {
		*kind = KIND_OURS;
		return 0;
	}
	if (id != 0 || version != 0)
		return schema_foreign("this", f);
	rc = S_ask(s, "SELECT count(*) FROM sqlite_schema", &objects, NULL, 0,
		   f);
	if (!rc && objects > 0)
		return S_kind_by_shape(s, kind, f);
	*kind = KIND_EMPTY;
	return rc;
}

int
schema_ready(struct store *s, struct fault *f)
{
	char mode[16];
	enum kind kind;
	/* One snapshot: someone else may be making the schema right now. */
	int rc = S_exec(s, "BEGIN", "look at the schema", f);

	if (!rc)
		rc = S_kind(s, &kind, f);
	(void)sqlite3_exec(s->sql.db, "ROLLBACK", NULL, NULL, NULL);
	if (rc || kind != KIND_OURS)
		return rc ? rc : 1;
	if (s->wal_mode)
		return 0;
	rc = S_ask(s, "PRAGMA journal_mode", NULL, mode, sizeof(mode), f);
	return rc ? rc : strcmp(mode, "wal") != 0;
}

static int
S_make(struct store *s, struct fault *f)
{
	enum kind kind;
	int rc = S_kind(s, &kind, f);

	if (rc || kind == KIND_OURS)
		return rc;
	if (kind != KIND_EMPTY)
		rc = S_exec(s, "ALTER TABLE leases RENAME TO old_leases",
			    "set the old table aside", f);
	if (!rc)
		rc = S_exec(s, S_schema, "make the schema", f);
	if (!rc)
		rc = S_exec(s, "INSERT INTO meta VALUES(1, lower(hex("
			    "randomblob(16))), NULL, 0, 0)",
			    "make the schema", f);
	if (!rc && kind != KIND_EMPTY)
		rc = migrate_rows(s, kind == KIND_OLD_EPOCH, f);
	if (!rc)
		rc = S_exec(s, "UPDATE meta SET legacy_fence ="
			    " (SELECT ifnull(max(fence), 0) FROM held"
			    "  WHERE origin = 'legacy'), handoff_closed ="
			    " NOT EXISTS (SELECT 1 FROM held"
			    "  WHERE origin = 'legacy');"
			    "PRAGMA application_id = "
			    S_TEXT(STORE_APPLICATION_ID) ";"
			    "PRAGMA user_version = "
			    S_TEXT(STORE_USER_VERSION),
			    "make the schema", f);
	return rc;
}

int
schema_make(struct store *s, struct fault *f)
{
	int rc = queue_enter(&s->queue, clock_mono_ns() + s->wait_ns, f);

	if (!rc)
		rc = S_exec(s, "BEGIN IMMEDIATE", "lock the database", f);
	if (!rc) {
		rc = S_make(s, f);
		if (!rc)
			rc = S_exec(s, "COMMIT", "commit the schema", f);
		if (rc)
			(void)sqlite3_exec(s->sql.db, "ROLLBACK", NULL, NULL,
					   NULL);
	}
	/* Behind the commit: what is refused keeps its mode as well. */
	if (!rc)
		rc = S_exec(s, "PRAGMA journal_mode=WAL", "switch to WAL", f);
	queue_leave(&s->queue);
	return rc;
}
