/*
 * t_ops.c - the real helper, in its real sandbox, asked by hand
 *
 * Skipped where the helper is not built beside this program.
 */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/own.h"
#include "tests/unit/skipped.h"
#include "warden/place.h"
#include "warden/warden.h"

#define TEXT_MAX 4096

/* tests/unit/t_ops is two directories below the build. */
static int
S_helper(void)
{
	char exe[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	size_t len;
	int fd;

	assert_true(n > 0);
	exe[n] = '\0';
	for (int up = 0; up < 3; up++) {
		slash = strrchr(exe, '/');
		assert_non_null(slash);
		*slash = '\0';
	}
	len = strlen(exe);
	(void)snprintf(exe + len, sizeof(exe) - len, "/" PLACE_HELPER);
	fd = open(exe, O_PATH | O_CLOEXEC);
	if (fd < 0)
		SKIP("needs the built helper");
	return fd;
}

static int
S_compare(void *arg, int n, const void *a, int m, const void *b)
{
	(void)arg;
	(void)n;
	(void)m;
	return *(const char *)a - *(const char *)b;
}

/*
 * What sql makes, as a file without a name. It may use a collation "ours",
 * which no helper knows.
 */
static int
S_database(const char *sql)
{
	sqlite3 *db;
	unsigned char *bytes;
	sqlite3_int64 n;
	int fd = memfd_create("db", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(sqlite3_create_collation(db, "ours", SQLITE_UTF8,
						  NULL, S_compare), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	bytes = sqlite3_serialize(db, "main", &n, 0);
	assert_non_null(bytes);
	assert_int_equal(write(fd, bytes, (size_t)n), n);
	sqlite3_free(bytes);
	(void)sqlite3_close(db);
	return fd;
}

struct answer {
	int rc;
	struct fault f;
	char cells[TEXT_MAX];	/* RESULT and FACT cells, "a|b\n" */
	unsigned frames[WIRE_TYPES];
	int64_t verdict;
};

static void
S_add_cell(char *to, const struct cell *c)
{
	size_t at = strlen(to);

	switch (c->tag) {
	case CELL_NULL:
		(void)snprintf(to + at, TEXT_MAX - at, "null|");
		break;
	case CELL_INT:
		(void)snprintf(to + at, TEXT_MAX - at, "%lld|",
			       (long long)c->integer);
		break;
	case CELL_REAL:
		(void)snprintf(to + at, TEXT_MAX - at, "%a|", c->real);
		break;
	case CELL_TEXT:
		(void)snprintf(to + at, TEXT_MAX - at, "%.*s|", (int)c->len,
			       (const char *)c->bytes);
		break;
	case CELL_TEXT8:
	case CELL_TEXT16:
	case CELL_BLOB:
	case CELL_BLOBSUM:
		(void)snprintf(to + at, TEXT_MAX - at, "%c %zu|", c->tag,
			       c->tag == CELL_BLOBSUM ? (size_t)c->integer
						      : c->len);
		break;
	}
}

static void
S_take(struct answer *a, struct wire_frame *fr)
{
	struct cell c;

	a->frames[fr->type]++;
	if (fr->type != WIRE_RESULT && fr->type != WIRE_FACT &&
	    fr->type != WIRE_MATCH)
		return;
	while (fr->at < fr->end) {
		assert_int_equal(wire_get(fr, &c, &a->f), 0);
		S_add_cell(a->cells, &c);
	}
	assert_true(strlen(a->cells) + 2 < TEXT_MAX);
	strcat(a->cells, "\n");
}

static void
S_ask(struct answer *a, const struct ask *ask, const char *text,
      const int *fd, size_t n, const struct warden_limits *limits)
{
	struct wire_frame fr;
	OWN_FD(helper);
	OWN_WARDEN(w);

	memset(a, 0, sizeof(*a));
	helper = S_helper();
	a->rc = warden_start_program(&w, helper, fd, n, ask, text, limits,
				     &a->f);
	while (a->rc == 0) {
		a->rc = warden_next(w, &fr, &a->f);
		if (a->rc == 0)
			S_take(a, &fr);
	}
	if (a->rc == 1)
		assert_int_equal(wire_get_int(&fr, &a->verdict, &a->f), 0);
}

static void
S_side(struct ask_side *side, int slot, off_t size)
{
	side->blocks_fd = -1;
	side->member[ROLE_MAIN] = (struct ask_member){
		.present = 1, .role = ROLE_MAIN, .fd = slot,
		.size = (uint64_t)size,
	};
}

static void
S_query(struct answer *a, const char *schema, const char *sql, uint32_t flags,
	const struct warden_limits *limits)
{
	struct ask ask;
	OWN_FD(db);

	db = S_database(schema);
	ask_init(&ask, ASK_QUERY);
	ask.nsides = 1;
	ask.flags = flags;
	ask.text_bytes = (uint32_t)strlen(sql);
	S_side(&ask.side[0], EVIDENCE_FD, lseek(db, 0, SEEK_END));
	S_ask(a, &ask, sql, &db, 1, limits);
}

static const char one_table[] =
	"PRAGMA user_version = 7;"
	"CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);"
	"INSERT INTO t VALUES (1, 'x', x'00ff'), (-9223372036854775808,"
	" NULL, 1.5), (9223372036854775807, 'a' || char(0) || 'b', -0.0);";

static const struct {
	const char *sql, *cells;
} answered[] = {
	{ "SELECT a FROM t ORDER BY a",
	  "-9223372036854775808|\n1|\n9223372036854775807|\n" },
	{ "SELECT c, 1, 1.0 FROM t WHERE a = 1", "B 2|1|0x1p+0|\n" },
	{ "SELECT c FROM t WHERE a > 1", "-0x0p+0|\n" },
	{ "VALUES (1), (2)", "1|\n2|\n" },
	{ "PRAGMA user_version", "7|\n" },
	{ "PRAGMA integrity_check", "ok|\n" },
	{ "SELECT name FROM pragma_table_info('t')", "a|\nb|\nc|\n" },
	{ "SELECT 1;", "1|\n" },
	{ "SELECT 1; /* no more */ ; -- none", "1|\n" },
	{ "SELECT 1 WHERE 0", "" },
	{ "SELECT datetime(0, 'unixepoch', 'localtime')",
	  "1970-01-01 00:00:00|\n" },
};

static void
a_reading_statement_is_answered_to_the_bit(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(answered) / sizeof(answered[0]); i++) {
		struct answer a;

		S_query(&a, one_table, answered[i].sql, 0, NULL);
		if (a.rc != 1 || strcmp(a.cells, answered[i].cells))
			fail_msg("%s: %d %s, \"%s\"", answered[i].sql, a.rc,
				 a.f.text, a.cells);
	}
}

static const char *const refused[] = {
	"", "   -- nothing", "SELECT 1; SELECT 2", "SELECT 1; nonsense",
	"nonsense", "SELECT nothing FROM t", "SELECT ?", "SELECT :a",
	"DELETE FROM t", "UPDATE t SET b = 1", "INSERT INTO t VALUES (2,3,4)",
	"CREATE TABLE u(x)", "CREATE TEMP TABLE u(x)", "DROP TABLE t",
	"VACUUM", "VACUUM INTO '/tmp/x'", "REINDEX", "ANALYZE",
	"ATTACH '/etc/passwd' AS p", "ATTACH ':memory:' AS p",
	"DETACH main", "BEGIN", "COMMIT", "SAVEPOINT s",
	"PRAGMA user_version = 8", "PRAGMA journal_mode = DELETE",
	"PRAGMA journal_mode", "PRAGMA writable_schema = 1",
	"PRAGMA query_only = 0", "PRAGMA temp_store_directory = '/tmp'",
	"PRAGMA mmap_size = 1000000", "PRAGMA wal_checkpoint",
	"PRAGMA hard_heap_limit = 0", "PRAGMA cache_size = 1",
	"SELECT load_extension('/tmp/x.so')", "SELECT readfile('/etc/passwd')",
	"SELECT abs(-9223372036854775808)",
};

static void
anything_but_one_reading_statement_is_the_callers_mistake(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct answer a;

		S_query(&a, one_table, refused[i], 0, NULL);
		if (a.rc != -FAULT_USAGE)
			fail_msg("%s: %d %s", refused[i], a.rc, a.f.text);
	}
}

static void
a_blob_comes_as_bytes_when_asked_so(void **state)
{
	struct answer a;

	(void)state;
	S_query(&a, one_table, "SELECT c FROM t WHERE a = 1", ASK_RAW_BLOBS,
		NULL);
	assert_int_equal(a.rc, 1);
	assert_string_equal(a.cells, "b 2|\n");
	S_query(&a, one_table, "SELECT zeroblob(70000), CAST(x'61ff' AS TEXT)",
		ASK_RAW_BLOBS, NULL);
	assert_int_equal(a.rc, 1);
	assert_string_equal(a.cells, "b 70000|T 2|\n");
}

static void
virtual_tables_can_be_read(void **state)
{
	struct answer a;

	(void)state;
	S_query(&a, "CREATE VIRTUAL TABLE r USING rtree(i, a, b);"
		"INSERT INTO r VALUES (1, 2, 3);"
		"CREATE VIRTUAL TABLE f USING fts5(x);"
		"INSERT INTO f VALUES ('some words'), ('other things');",
		"SELECT i, (SELECT x FROM f WHERE f MATCH 'words') FROM r", 0,
		NULL);
	if (a.rc != 1)
		fail_msg("%s", a.f.text);
	assert_string_equal(a.cells, "1|some words|\n");
}

static const char endless[] =
	"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
	" SELECT x FROM c WHERE x < 0";

static const char hungry[] =
	"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c"
	" LIMIT 4000) SELECT group_concat(hex(zeroblob(100000))) FROM c";

static void
each_limit_that_is_hit_is_a_cap(void **state)
{
	const struct warden_limits second = { .cpu_seconds = 1,
					       .wall_seconds = 60 };
	const struct warden_limits little = { .memory = 32 << 20 };
	const struct warden_limits terse = { .output = 4096 };
	struct answer a;

	(void)state;
	S_query(&a, one_table, endless, 0, &second);
	assert_int_equal(a.rc, -FAULT_CAP);
	assert_non_null(strstr(a.f.text, "processor time"));
	S_query(&a, one_table, hungry, 0, &little);
	if (a.rc != -FAULT_CAP || !strstr(a.f.text, "memory"))
		fail_msg("%d %s", a.rc, a.f.text);
	S_query(&a, one_table, "SELECT hex(zeroblob(10000))", 0, &terse);
	assert_int_equal(a.rc, -FAULT_CAP);
	assert_non_null(strstr(a.f.text, "output limit"));
}

static void
a_large_sort_stays_in_memory(void **state)
{
	struct answer a;

	(void)state;
	S_query(&a, one_table,
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1"
		" FROM c LIMIT 300000) SELECT x FROM c"
		" ORDER BY (x * 7919) % 300007, hex(zeroblob(50)) LIMIT 1",
		0, NULL);
	if (a.rc != 1)
		fail_msg("%s", a.f.text);
}

static void
recover_gives_account_checks_and_fingerprint(void **state)
{
	static const char *const facts[] = {
		"0|page_size|4096|\n", "0|encoding|UTF-8|\n",
		"0|user_version|7|\n", "0|wal.present|0|\n",
		"0|views.live|null|\n", "0|journal.state|none|\n",
		"0|integrity|ok|\n", "0|foreign_keys|0|\n",
		"0|fingerprint|b 32|\n", "0|fingerprint.stat|b 32|\n",
	};
	struct answer a;
	struct ask ask;
	OWN_FD(db);

	(void)state;
	db = S_database(one_table);
	ask_init(&ask, ASK_RECOVER);
	ask.nsides = 1;
	S_side(&ask.side[0], EVIDENCE_FD, lseek(db, 0, SEEK_END));
	S_ask(&a, &ask, NULL, &db, 1, NULL);
	assert_int_equal(a.rc, 1);
	assert_int_equal(a.verdict, WIRE_YES);
	assert_int_equal(a.frames[WIRE_TABLE_SUM], 1);
	assert_int_equal(a.frames[WIRE_SKIP], 0);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (!strstr(a.cells, facts[i]))
			fail_msg("no %s", facts[i]);
}

static void
S_recover(struct answer *a, const char *schema)
{
	struct ask ask;
	OWN_FD(db);

	db = S_database(schema);
	ask_init(&ask, ASK_RECOVER);
	ask.nsides = 1;
	S_side(&ask.side[0], EVIDENCE_FD, lseek(db, 0, SEEK_END));
	S_ask(a, &ask, NULL, &db, 1, NULL);
	if (a->rc != 1)
		fail_msg("%s", a->f.text);
}

static void
a_foreign_key_without_its_parent_is_a_no(void **state)
{
	struct answer a;

	(void)state;
	S_recover(&a, "CREATE TABLE p(i INTEGER PRIMARY KEY);"
		      "CREATE TABLE c(p REFERENCES p);"
		      "INSERT INTO c VALUES (1), (2), (NULL);");
	assert_int_equal(a.verdict, WIRE_NO);
	assert_non_null(strstr(a.cells, "0|foreign_keys|2|\n"));
}

static void
a_row_that_breaks_its_check_is_a_no_and_the_message_says_so(void **state)
{
	struct answer a;

	(void)state;
	S_recover(&a, "CREATE TABLE t(a CHECK (a > 0));"
		      "PRAGMA ignore_check_constraints = 1;"
		      "INSERT INTO t VALUES (-1);");
	assert_int_equal(a.verdict, WIRE_NO);
	assert_non_null(strstr(a.cells, "CHECK constraint failed in t"));
}

/* The parent has no unique index: SQLite can't check, and says so. */
static void
a_foreign_key_that_can_not_be_checked_is_said_to_be_skipped(void **state)
{
	struct answer a;

	(void)state;
	S_recover(&a, "CREATE TABLE p(i);"
		      "CREATE TABLE c(p REFERENCES p(i));"
		      "INSERT INTO c VALUES (1);");
	assert_int_equal(a.frames[WIRE_SKIP], 1);
	assert_int_equal(a.verdict, WIRE_YES);
}

/* As stock sqlite3: "no such collation sequence: ours". */
static void
integrity_that_can_not_be_checked_is_said_to_be_skipped(void **state)
{
	struct answer a;

	(void)state;
	S_recover(&a, "CREATE TABLE t(a TEXT COLLATE ours);"
		      "CREATE INDEX i ON t(a);"
		      "INSERT INTO t VALUES ('x');");
	assert_non_null(strstr(a.cells, "0|integrity|ok where checked|\n"));
	assert_true(a.frames[WIRE_SKIP] >= 1);
	assert_int_equal(a.verdict, WIRE_YES);
}

/*
 * Rows of x come into a table that forbids them; SQLite, which checks the
 * last table first, then can't evaluate the first one's CHECK.
 */
#define BROKEN_ROWS \
	"CREATE TABLE a(x, CHECK(json_extract(x, '$.b') > 0));" \
	"PRAGMA ignore_check_constraints = 1;" \
	"INSERT INTO a VALUES ('no json');" \
	"CREATE TABLE x(x); INSERT INTO x VALUES (NULL), (NULL), (NULL);" \
	"CREATE TABLE t(x NOT NULL);" \
	"PRAGMA writable_schema = 1;" \
	"UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM" \
	" sqlite_schema WHERE name = 'x') WHERE name = 't';" \
	"DELETE FROM sqlite_schema WHERE name = 'x';"

static void
damage_found_before_a_check_breaks_off_is_a_no(void **state)
{
	struct answer a;

	(void)state;
	S_recover(&a, BROKEN_ROWS);
	assert_int_equal(a.rc, 1);
	assert_non_null(strstr(a.cells, "NULL value in t.x"));
	assert_null(strstr(a.cells, "ok where checked"));
	assert_int_equal(a.frames[WIRE_SKIP], 1);
	assert_int_equal(a.verdict, WIRE_NO);
}

static const struct {
	const char *bytes;
	size_t n;
	const char *fact;
} heads[] = {
	{ "", 0, "0|header|empty|\n" },
	{ "SQLite", 6, "0|header|short|\n" },
	{ "Once upon a time there was a file that no database had ever been,"
	  " and it was long enough to be asked about.", 107,
	  "0|header|not-a-database|\n" },
};

static void
inspect_states_what_a_file_is_and_never_faults_for_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct answer a;
		struct ask ask;
		OWN_FD(fd);

		fd = memfd_create("f", MFD_CLOEXEC);
		assert_int_equal(write(fd, heads[i].bytes, heads[i].n),
				 heads[i].n);
		ask_init(&ask, ASK_INSPECT);
		ask.nsides = 1;
		S_side(&ask.side[0], EVIDENCE_FD, (off_t)heads[i].n);
		S_ask(&a, &ask, NULL, &fd, 1, NULL);
		if (a.rc != 1 || !strstr(a.cells, heads[i].fact))
			fail_msg("%s: %d %s\n%s", heads[i].fact, a.rc,
				 a.f.text, a.cells);
		assert_non_null(strstr(a.cells, "0|shm.state|none|\n"));
	}
}

static void
equal_and_different_databases_get_their_verdicts(void **state)
{
	struct answer a;
	struct ask ask;
	int fd[2];

	(void)state;
	ask_init(&ask, ASK_DIFF);
	ask.nsides = 2;
	fd[0] = S_database(one_table);
	fd[1] = S_database("PRAGMA page_size = 512;"
			   "PRAGMA user_version = 7;"
			   "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);"
			   "INSERT INTO t VALUES (1, 'x', x'00ff'),"
			   " (-9223372036854775808, NULL, 1.5),"
			   " (9223372036854775807, 'a' || char(0) || 'b',"
			   " 0.0);");
	for (uint32_t i = 0; i < 2; i++)
		S_side(&ask.side[i], EVIDENCE_FD + (int)i,
		       lseek(fd[i], 0, SEEK_END));
	S_ask(&a, &ask, NULL, fd, 2, NULL);
	assert_int_equal(a.rc, 1);
	assert_int_equal(a.verdict, WIRE_NO);
	assert_int_equal(a.frames[WIRE_ROW], 1);	/* -0.0 and 0.0 */
	ask.side[1] = ask.side[0];
	S_ask(&a, &ask, NULL, fd, 2, NULL);
	assert_int_equal(a.verdict, WIRE_YES);
	assert_int_equal(a.frames[WIRE_ROW], 0);
	(void)close(fd[0]);
	(void)close(fd[1]);
}

static void
a_question_with_the_wrong_number_of_sides_is_refused(void **state)
{
	static const enum ask_op ops[] = { ASK_RECOVER, ASK_QUERY, ASK_EXPORT,
					   ASK_INSPECT, ASK_DIFF };

	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct answer a;
		struct ask ask;
		OWN_FD(db);

		db = S_database(one_table);
		ask_init(&ask, ops[i]);
		ask.nsides = ops[i] == ASK_DIFF ? 1 : 2;
		S_ask(&a, &ask, NULL, &db, 1, NULL);
		assert_int_equal(a.rc, -FAULT_USAGE);
	}
}

static void
a_file_that_became_shorter_is_unstable(void **state)
{
	struct answer a;
	struct ask ask;
	OWN_FD(db);

	(void)state;
	db = S_database(one_table);
	ask_init(&ask, ASK_RECOVER);
	ask.nsides = 1;
	S_side(&ask.side[0], EVIDENCE_FD, lseek(db, 0, SEEK_END));
	assert_int_equal(ftruncate(db, 4096), 0);
	S_ask(&a, &ask, NULL, &db, 1, NULL);
	assert_int_equal(a.rc, -FAULT_UNSTABLE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reading_statement_is_answered_to_the_bit),
		cmocka_unit_test(
	anything_but_one_reading_statement_is_the_callers_mistake),
		cmocka_unit_test(a_blob_comes_as_bytes_when_asked_so),
		cmocka_unit_test(virtual_tables_can_be_read),
		cmocka_unit_test(each_limit_that_is_hit_is_a_cap),
		cmocka_unit_test(a_large_sort_stays_in_memory),
		cmocka_unit_test(recover_gives_account_checks_and_fingerprint),
		cmocka_unit_test(a_foreign_key_without_its_parent_is_a_no),
		cmocka_unit_test(
	a_row_that_breaks_its_check_is_a_no_and_the_message_says_so),
		cmocka_unit_test(
	a_foreign_key_that_can_not_be_checked_is_said_to_be_skipped),
		cmocka_unit_test(
	integrity_that_can_not_be_checked_is_said_to_be_skipped),
		cmocka_unit_test(
			damage_found_before_a_check_breaks_off_is_a_no),
		cmocka_unit_test(
	inspect_states_what_a_file_is_and_never_faults_for_it),
		cmocka_unit_test(
			equal_and_different_databases_get_their_verdicts),
		cmocka_unit_test(
			a_question_with_the_wrong_number_of_sides_is_refused),
		cmocka_unit_test(a_file_that_became_shorter_is_unstable),
	};

	return cmocka_run_group_tests_name("ops", tests, NULL, NULL);
}
