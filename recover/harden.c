/*
 * harden.c - SQLite as a whole and each connection, made fit for evidence
 */
#include "recover/harden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/digest.h"
#include "recover/printable.h"
#include "recover/state.h"
#include "recover/vfs.h"
#include "reply/wire.h"

#define MEMDB_MAX (1ll << 46)

static int
S_configure(struct fault *f)
{
	if (sqlite3_config(SQLITE_CONFIG_URI, 0) != SQLITE_OK ||
	    sqlite3_config(SQLITE_CONFIG_MULTITHREAD) != SQLITE_OK ||
	    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1) != SQLITE_OK ||
	    sqlite3_config(SQLITE_CONFIG_MEMDB_MAXSIZE,
			   (sqlite3_int64)MEMDB_MAX) != SQLITE_OK)
		return fault_set(f, FAULT_TROUBLE, "SQLite takes no "
				 "configuration: it is initialised already");
	return 0;
}

int
state_setup(struct fault *f)
{
	static bool done;
	uint64_t seed;
	int rc;

	if (done)
		return 0;
	/* localtime would open /etc/localtime at its first use. */
	if (setenv("TZ", "UTC", 1) != 0)
		return fault_set(f, FAULT_TROUBLE, "out of memory: TZ");
	tzset();
	rc = digest_setup(f);
	if (!rc)
		rc = S_configure(f);
	if (rc)
		return rc;
	if (sqlite3_initialize() != SQLITE_OK)
		return fault_set(f, FAULT_TROUBLE,
				 "SQLite can't be initialised");
	/* The first draw opens /dev/urandom. */
	sqlite3_randomness((int)sizeof(seed), &seed);
	rc = vfs_setup(f);
	done = !rc;
	return rc;
}

static int
S_flags(sqlite3 *db)
{
	static const struct {
		int op, on;
	} flag[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1 },
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; !rc && i < sizeof(flag) / sizeof(flag[0]); i++)
		rc = sqlite3_db_config(db, flag[i].op, flag[i].on,
				       (int *)NULL);
	return rc;
}

static void
S_limits(sqlite3 *db)
{
	static const struct {
		int id, value;
	} limit[] = {
		{ SQLITE_LIMIT_LENGTH, WIRE_CELL_MAX },
		{ SQLITE_LIMIT_SQL_LENGTH, 16 << 20 },
		{ SQLITE_LIMIT_COLUMN, 2000 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 1000 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 500 },
		{ SQLITE_LIMIT_VDBE_OP, 25000000 },
		{ SQLITE_LIMIT_FUNCTION_ARG, 127 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50000 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 32766 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 10 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	for (size_t i = 0; i < sizeof(limit) / sizeof(limit[0]); i++)
		(void)sqlite3_limit(db, limit[i].id, limit[i].value);
}

/*
 * Some releases of SQLite forgot to call their JSON functions innocuous: a
 * table with one of them in an index, a CHECK or a generated column can't be
 * read without trusting its schema.
 */
static bool
S_json_needs_trust(void)
{
	static const char sql[] = "SELECT count(*) FROM pragma_function_list "
		"WHERE name = 'json_extract' AND flags & 0x200000 = 0";
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE |
				 SQLITE_OPEN_MEMORY, "memdb");
	bool needs;

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);
	needs = rc == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW &&
		sqlite3_column_int(st, 0) > 0;
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(db);
	return needs;
}

/*
 * With trust, what a schema may call is still no more than JSON: loading
 * extensions is off, and what is only for direct use stays so.
 */
static int
S_trust(sqlite3 *db, const char *sql, int rc)
{
	if (rc != SQLITE_CORRUPT ||
	    !strstr(sqlite3_errmsg(db), "unsafe use of ") ||
	    !S_json_needs_trust())
		return rc;
	rc = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1,
			       (int *)NULL);
	return rc ? rc : sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/*
 * The size of the cache is SQLite's own: most pages are read once, and to
 * read one again costs less than memory that is used for the first time. To
 * set it reads the schema.
 */
int
harden(sqlite3 *db, struct fault *f)
{
	static const char sql[] = "PRAGMA temp_store=MEMORY;"
		"PRAGMA query_only=1; PRAGMA cache_size=-2000";
	int rc = S_flags(db);

	S_limits(db);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	rc = S_trust(db, sql, rc);
	return rc ? state_sql_fault(db, rc, "read the schema", f) : 0;
}

/* SQLite quotes what it stumbles over, as the evidence spells it. */
static int
S_is(sqlite3 *db, int rc, const char *doing, enum fault_code code,
     struct fault *f)
{
	const char *says = db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
	char text[512];

	printable(says, strlen(says), text, sizeof(text));
	return fault_set(f, code, "%s: %s", doing, text);
}

int
state_sql_fault(sqlite3 *db, int sqlite_rc, const char *doing,
		struct fault *f)
{
	struct images *im = vfs_images_of(db);

	/* What our own reads met, before what SQLite made of it. */
	if (im && images_fault(im, f))
		return fault_wrap(f, "%s", doing);
	switch (sqlite_rc & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_FORMAT:
		return S_is(db, sqlite_rc, doing, FAULT_DAMAGED, f);
	case SQLITE_NOTADB:
		return fault_set(f, FAULT_DAMAGED, "%s: not a database or "
				 "encrypted: page 1 does not decode", doing);
	case SQLITE_NOMEM:
		(void)fault_set(f, FAULT_CAP, "%s: out of memory under "
				"--memory-limit", doing);
		return fault_hint(f, "a larger --memory-limit helps");
	case SQLITE_TOOBIG:
		return fault_set(f, FAULT_CAP, "%s: a value or a text is larger"
				 " than the limit of %u MiB", doing,
				 WIRE_CELL_MAX >> 20);
	case SQLITE_FULL:
		return S_is(db, sqlite_rc, doing, FAULT_CAP, f);
	case SQLITE_INTERRUPT:
		return S_is(db, sqlite_rc, doing, FAULT_INTERRUPTED, f);
	/* Our own SQL is right: the evidence holds what this SQLite does
	   not know, a module or a newer format. */
	case SQLITE_ERROR:
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return S_is(db, sqlite_rc, doing, FAULT_DAMAGED, f);
	default:
		return S_is(db, sqlite_rc, doing, FAULT_TROUBLE, f);
	}
}
