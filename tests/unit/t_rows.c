/*
 * t_rows.c - tests of reading, ordering and pairing rows within bounds
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"
#include "base/worker.h"
#include "tests/unit/skipped.h"
#include "tests/unit/verify_log.h"
#include "verify/catalog.h"
#include "verify/order.h"
#include "verify/rows.h"
#include "verify/sort.h"
#include "verify/unknown.h"

#define PATH_BYTES 64

static void
S_temp(char path[PATH_BYTES])
{
	OWN_FD(fd);

	snprintf(path, PATH_BYTES, "/tmp/holdfast-t-rows-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
}

/* Peak memory in KiB. */
static long
S_peak(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_maxrss;
}

struct big {
	const char *table, *fill, *change;
	uint64_t memory, rows;
	long kib;
};

/* In a child, so that the peak is this comparison's own. */
static int
S_compare_big(const struct big *big, const char *b, const char *a)
{
	struct delta_options o = { .memory = big->memory };
	struct log l = { .text = BUF_INIT(0), .rows_only = true };
	struct delta_sink sink = log_sink(&l);
	struct fault f = FAULT_INIT;
	sqlite3 *before = NULL, *after = NULL;
	bool equal = true;
	long peak;

	sqlite3_open(b, &before);
	sqlite3_open(a, &after);
	peak = S_peak();
	if (worker_start(&o.worker, &f) ||
	    delta_databases(before, after, &o, &sink, &equal, &f)) {
		fprintf(stderr, "%s\n", f.text);
		return 1;
	}
	worker_free(o.worker);
	sqlite3_close(before);
	sqlite3_close(after);
	if (equal || l.rows != big->rows) {
		fprintf(stderr, "%llu rows\n", (unsigned long long)l.rows);
		return 2;
	}
	fprintf(stderr, "peak grew by %ld KiB\n", S_peak() - peak);
	return S_peak() - peak > big->kib ? 3 : 0;
}

static void
S_check_big(const struct big *big)
{
	char path[2][PATH_BYTES];
	int status;
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		sqlite3 *db;

		S_temp(path[i]);
		db = log_db_at(path[i], "PRAGMA journal_mode=OFF;"
			       "PRAGMA synchronous=OFF; BEGIN;");
		assert_int_equal(sqlite3_exec(db, big->table, 0, 0, 0), 0);
		assert_int_equal(sqlite3_exec(db, big->fill, 0, 0, 0), 0);
		if (i)
			assert_int_equal(sqlite3_exec(db, big->change, 0, 0,
						      0), 0);
		assert_int_equal(sqlite3_exec(db, "COMMIT", 0, 0, 0), 0);
		sqlite3_close(db);
	}
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(S_compare_big(big, path[0], path[1]));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(path[0]);
	unlink(path[1]);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define COUNT(n) "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL" \
	" SELECT i+1 FROM c WHERE i<" #n ") "

static void
a_million_changed_rows_stream_through_little_memory(void **state)
{
	const struct big big = {
		.table = "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w)",
		.fill = COUNT(1000000) "INSERT INTO t SELECT i, i*3,"
			" 'some text that takes room in each row' FROM c",
		.change = "UPDATE t SET v=v+1",
		.memory = 1u << 20, .rows = 1000000, .kib = 24 << 10,
	};

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("no measure of memory under a sanitizer");
#endif
	S_check_big(&big);
}

static void
changed_rows_beyond_the_budget_are_paired_in_slices(void **state)
{
	const struct big big = {
		.table = "CREATE TABLE t(k TEXT PRIMARY KEY, v)",
		.fill = COUNT(60000) "INSERT INTO t SELECT 'key '||i, i"
			" FROM c",
		.change = "UPDATE t SET v=-v WHERE k <> 'key 7'",
		.memory = 4u << 20, .rows = 59999, .kib = 24 << 10,
	};

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("no measure of memory under a sanitizer");
#endif
	S_check_big(&big);
}

static void
slices_give_the_same_rows_as_one_pool(void **state)
{
	struct delta_options small = { .memory = 1 << 14 };
	struct delta_options large = { .memory = 1 << 24 };
	const char *b = "CREATE TABLE t(k TEXT PRIMARY KEY, v);"
		COUNT(3000) "INSERT INTO t SELECT i, i FROM c;";
	const char *a = "CREATE TABLE t(k TEXT PRIMARY KEY, v);"
		COUNT(3100) "INSERT INTO t SELECT i, -i FROM c WHERE i%7;";
	char *one, *many, *end;

	(void)state;
	one = log_delta(log_db(b), log_db(a), &large, false);
	many = log_delta(log_db(b), log_db(a), &small, false);
	/* 3000 rows before, 3100 - 442 after; 428 of the first 3000 gone. */
	end = strstr(one, "end t +86 -428 ~2572 3000 2658\n");
	assert_non_null(end);
	assert_non_null(strstr(many, end));
	assert_int_equal(strlen(one), strlen(many));
	free(one);
	free(many);
}

static void
equal_keyless_rows_need_no_room_of_their_own(void **state)
{
	struct delta_options o = { .ignore_rowid = true, .memory = 1 << 14 };
	char *got;

	(void)state;
	got = log_delta(log_db("CREATE TABLE t(v); INSERT INTO t VALUES"
			       " ('q');"),
			log_db("CREATE TABLE t(v);" COUNT(50000)
			       "INSERT INTO t SELECT 'x' FROM c;"),
			&o, false);
	assert_non_null(strstr(got, "end t +50000 -1 ~0 1 50000\n"));
	free(got);
}

static void
a_zeroed_leaf_page_is_never_no_difference(void **state)
{
	char path[PATH_BYTES];
	unsigned char zero[4096] = { 0 };
	struct log l = { .text = BUF_INIT(1u << 20) };
	struct delta_options o = LOG_OPTIONS;
	struct delta_sink sink = log_sink(&l);
	struct fault f = FAULT_INIT;
	bool equal = true;
	sqlite3 *db;
	int fd;

	(void)state;
	S_temp(path);
	db = log_db_at(path, "PRAGMA page_size=4096;"
		       "CREATE TABLE t(id INTEGER PRIMARY KEY, v);"
		       COUNT(2000) "INSERT INTO t SELECT i, 'row '||i"
		       " FROM c;");
	sqlite3_close(db);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, zero, 4096, 4096 * 5), 4096);
	close(fd);
	db = log_db_at(path, "");
	for (int i = 0; i < 2; i++) {
		struct delta_options with = o;

		if (i)
			assert_int_equal(worker_start(&with.worker, &f), 0);
		assert_int_equal(delta_databases(db, db, &with, &sink, &equal,
						 &f), -FAULT_DAMAGED);
		worker_free(with.worker);
	}
	assert_non_null(strstr(f.text, "table t"));
	sqlite3_close(db);
	buf_free(&l.text);
	unlink(path);
}

static void
a_row_that_its_index_lost_is_still_read(void **state)
{
	const char *sql = "CREATE TABLE t(k TEXT PRIMARY KEY, v);"
		"INSERT INTO t VALUES ('a',1),('b',2),('c',3);";
	struct delta_options o = LOG_OPTIONS;
	sqlite3 *db[2] = { log_db(sql), log_db(sql) };
	char *got;

	(void)state;
	/* The index of t becomes the empty one of another table. */
	assert_int_equal(sqlite3_exec(db[1],
		"CREATE TABLE e(k TEXT PRIMARY KEY); UPDATE t SET v=9 WHERE"
		" k='b'; PRAGMA writable_schema=ON; UPDATE sqlite_schema SET"
		" rootpage=(SELECT rootpage FROM sqlite_schema WHERE"
		" name='sqlite_autoindex_e_1') WHERE"
		" name='sqlite_autoindex_t_1'; DELETE FROM sqlite_schema"
		" WHERE tbl_name='e'; PRAGMA schema_version=99;"
		"PRAGMA writable_schema=RESET", 0, 0, 0), 0);
	got = log_delta(db[0], db[1], &o, true);
	assert_string_equal(got, "~ (\"b\") (\"b\" i2) (\"b\" i9)\n"
			    "different\n");
	free(got);
}

static void
a_range_reads_its_rowids_only(void **state)
{
	const struct rows_column column = { .name = "v" };
	const struct rows_spec spec = {
		.table = "t", .rowid = "rowid", .lead = true,
		.use = VALUE_FINAL, .column = &column, .ncolumn = 1,
		.ncommon = 1, .order = "x.rowid",
	};
	const struct key_range range = {
		.has_low = true, .has_high = true, .low = -1, .high = 7,
	};
	sqlite3 *db = log_db("CREATE TABLE t(v); INSERT INTO t(rowid, v)"
			     " VALUES (-2,0),(-1,1),(7,2),(8,3);");
	const unsigned char expected[] = {
		'i', 255, 255, 255, 255, 255, 255, 255, 255,
		'i', 1, 0, 0, 0, 0, 0, 0, 0,
		'i', 7, 0, 0, 0, 0, 0, 0, 0,
		'i', 2, 0, 0, 0, 0, 0, 0, 0,
	};
	struct value_reader v;
	struct rows_batch b;
	struct rows *r = NULL;
	struct fault f;
	char *why = NULL;

	(void)state;
	rows_batch_init(&b);
	assert_int_equal(value_reader_init(&v, db, &f), 0);
	assert_int_equal(rows_open(&r, db, &v, &spec, &range, &why, &f), 0);
	assert_int_equal(rows_next_batch(r, &b, &f), 0);
	assert_int_equal(b.nrow, 2);
	assert_int_equal(b.bytes.len, sizeof(expected));
	assert_memory_equal(b.bytes.data, expected, sizeof(expected));
	assert_int_equal(rows_next_batch(r, &b, &f), 1);
	rows_free(r);
	rows_batch_free(&b);
	value_reader_free(&v);
	sqlite3_close(db);
}

static int
S_compare(void *arg, int na, const void *a, int nb, const void *b)
{
	(void)arg;
	return na != nb ? nb - na : memcmp(b, a, (size_t)na);
}

static void
a_row_that_hangs_on_an_unknown_order_never_goes_out(void **state)
{
	const struct rows_column column = { .name = "g" };
	const struct rows_spec spec = {
		.table = "t", .use = VALUE_FINAL, .column = &column,
		.ncolumn = 1, .ncommon = 1,
	};
	const struct key_range whole = KEY_RANGE_WHOLE;
	sqlite3 *db = log_db("");
	struct unknown *u = NULL;
	struct value_reader v;
	struct rows_batch b;
	struct rows *r = NULL;
	struct fault f;
	char *why = NULL;

	(void)state;
	sqlite3_create_collation(db, "odd", SQLITE_UTF8, NULL, S_compare);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE t(a COLLATE odd, b,"
				      " g AS (a < b)); INSERT INTO t VALUES"
				      " (1, NULL), ('x', 'y')", 0, 0, 0), 0);
	sqlite3_create_collation(db, "odd", SQLITE_UTF8, NULL, NULL);
	rows_batch_init(&b);
	assert_int_equal(value_reader_init(&v, db, &f), 0);
	assert_int_equal(unknown_watch(&u, db, &f), 0);
	v.unknown = u;
	assert_int_equal(rows_open(&r, db, &v, &spec, &whole, &why, &f), 0);
	assert_int_equal(rows_next_batch(r, &b, &f), 2);
	assert_int_equal(b.nrow, 0);
	assert_string_equal(rows_why(r), "no such collation sequence: odd");
	rows_free(r);
	rows_batch_free(&b);
	value_reader_free(&v);
	unknown_free(u);
	sqlite3_close(db);
}

static void
tables_are_scanned_in_key_order_without_a_sorter(void **state)
{
	static const char *const order[][2] = {
		{ "t", "x.\"id\"" }, { "w", "x.\"a\",x.\"b\" DESC" },
		{ "k", "x.rowid" },
	};
	sqlite3 *db = log_db("CREATE TABLE t(id INTEGER PRIMARY KEY, v);"
			     "CREATE TABLE w(a, b, v, PRIMARY KEY(a, b DESC))"
			     " WITHOUT ROWID; CREATE INDEX i ON t(v);"
			     "CREATE TABLE k(a TEXT PRIMARY KEY);");

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		sqlite3_stmt *s = NULL;
		char sql[256];

		snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN SELECT 1 FROM"
			 " main.\"%s\" AS x NOT INDEXED ORDER BY %s",
			 order[i][0], order[i][1]);
		assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL),
				 SQLITE_OK);
		assert_int_equal(sqlite3_step(s), SQLITE_ROW);
		assert_string_equal(sqlite3_column_text(s, 3), "SCAN x");
		assert_int_equal(sqlite3_step(s), SQLITE_DONE);
		sqlite3_finalize(s);
	}
	sqlite3_close(db);
}

/* Every pair of these in SQLite's own opinion. */
static void
cells_sort_as_sqlite_sorts_values(void **state)
{
	sqlite3 *db = log_db("CREATE TABLE t(v); INSERT INTO t VALUES (NULL),"
		"(0),(0.0),(-0.0),(1),(1.5),(-1.5),(9007199254740993),"
		"(9007199254740992.0),(9223372036854775807),(9.3e18),"
		"(-9223372036854775808),(-9.3e18),(9e999),(-9e999),(1e-300),"
		"('') ,('a'),('a'||char(0)),('a'||char(0)||'a'),"
		"('a'||char(0)||'b'),('ab'),('B'),('\u00e9'),"
		"(CAST(x'ff' AS TEXT)),(x''),(x'00'),(x'ff'),(x'ff00');");
	struct value_reader v;
	sqlite3_stmt *s = NULL;
	struct fault f;
	int pairs = 0;

	(void)state;
	assert_int_equal(value_reader_init(&v, db, &f), 0);
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT a.v, b.v, CASE"
		" WHEN a.v IS b.v THEN 0 WHEN a.v IS NULL THEN -1"
		" WHEN b.v IS NULL THEN 1 WHEN a.v < b.v THEN -1 ELSE 1 END"
		" FROM t AS a, t AS b", -1, &s, NULL), SQLITE_OK);
	while (sqlite3_step(s) == SQLITE_ROW) {
		struct buf b = BUF_INIT(1u << 16);
		struct cell c[2];
		const unsigned char *at;
		int type, d;

		for (int i = 0; i < 2; i++)
			assert_int_equal(value_put(&v, &b, s, i, VALUE_SORT,
						   &type, &f), 0);
		at = b.data;
		order_next(&at, &c[0]);
		order_next(&at, &c[1]);
		d = order_cells(&c[0], &c[1]);
		assert_int_equal((d > 0) - (d < 0), sqlite3_column_int(s, 2));
		buf_free(&b);
		pairs++;
	}
	assert_int_equal(pairs, 29 * 29);
	sqlite3_finalize(s);
	sqlite3_close(db);
	value_reader_free(&v);
}

static int
S_order_ints(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
sorting_orders_every_kind_of_input(void **state)
{
	enum { N = 3000 };
	static int a[N], sum;
	uint32_t r = 1;

	(void)state;
	for (int kind = 0; kind < 5; kind++) {
		for (int n = 0; n <= N; n = n < 40 ? n + 1 : n + 987) {
			sum = 0;
			for (int i = 0; i < n; i++) {
				r = r * 1664525u + 1013904223u;
				a[i] = kind == 0 ? i : kind == 1 ? -i
				     : kind == 2 ? 7 : kind == 3 ? i % 3
				     : (int)(r >> 8);
				sum ^= a[i] * 31;
			}
			sort_items(a, (size_t)n, sizeof(*a), S_order_ints);
			for (int i = 0; i < n; i++) {
				sum ^= a[i] * 31;
				if (i)
					assert_true(a[i - 1] <= a[i]);
			}
			assert_int_equal(sum, 0);
		}
	}
}

int
main(void)
{
	struct fault f;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_million_changed_rows_stream_through_little_memory),
		cmocka_unit_test(
			changed_rows_beyond_the_budget_are_paired_in_slices),
		cmocka_unit_test(slices_give_the_same_rows_as_one_pool),
		cmocka_unit_test(equal_keyless_rows_need_no_room_of_their_own),
		cmocka_unit_test(a_zeroed_leaf_page_is_never_no_difference),
		cmocka_unit_test(a_row_that_its_index_lost_is_still_read),
		cmocka_unit_test(a_range_reads_its_rowids_only),
		cmocka_unit_test(
			a_row_that_hangs_on_an_unknown_order_never_goes_out),
		cmocka_unit_test(
			tables_are_scanned_in_key_order_without_a_sorter),
		cmocka_unit_test(cells_sort_as_sqlite_sorts_values),
		cmocka_unit_test(sorting_orders_every_kind_of_input),
	};

	if (digest_setup(&f))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
