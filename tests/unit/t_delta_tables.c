/*
 * t_delta_tables.c - tests of columns, encodings and what can't be read
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/skipped.h"
#include "tests/unit/verify_log.h"

#define T "CREATE TABLE t(id INTEGER PRIMARY KEY, v);"

static void
an_added_column_at_its_default_changes_no_row(void **state)
{
	static const struct {
		const char *column, *rows;
	} add[] = {
		{ "x", "" },
		{ "x TEXT DEFAULT 5", "" },
		{ "x INT DEFAULT '5'", "" },
		{ "x REAL DEFAULT 5", "" },
		{ "x NUMERIC DEFAULT '5.0'", "" },
		{ "x DEFAULT -3", "" },
		{ "x TEXT NOT NULL DEFAULT ''", "" },
		{ "x BLOB DEFAULT x'0102'", "" },
		{ "x DEFAULT (7)", "" },
		{ "x DEFAULT word", "" },
		{ "x AS (v||'!')", "" },
	};
	const char *b = T "INSERT INTO t VALUES (1,'a'),(2,'b');";
	struct delta_options o = LOG_OPTIONS;
	char a[256];

	(void)state;
	for (size_t i = 0; i < sizeof(add) / sizeof(*add); i++) {
		snprintf(a, sizeof(a), "%sALTER TABLE t ADD COLUMN %s;", b,
			 add[i].column);
		log_expect_with(b, a, &o, true,
				"~table t on t\ndifferent\n");
	}
	snprintf(a, sizeof(a), "%sALTER TABLE t ADD COLUMN x DEFAULT 'q';"
		 "UPDATE t SET x='z' WHERE id=2;", b);
	log_expect(b, a,
		   "~table t on t\n"
		   "table t declared(id)(id v)(id v x)\n"
		   "~ (i2) (i2 \"b\") (i2 \"b\" \"z\")\n"
		   "end t +0 -0 ~1 2 2\n"
		   "different\n");
	/* Dropped columns are told by the schema's object. */
	log_expect(a, b,
		   "~table t on t\n"
		   "table t declared(id)(id v x)(id v)\n"
		   "end t +0 -0 ~0 2 2\n"
		   "different\n");
}

static void
columns_meet_by_name_whatever_their_order(void **state)
{
	(void)state;
	log_expect("CREATE TABLE t(id INTEGER PRIMARY KEY, a, B);"
		   "INSERT INTO t VALUES (1,2,3);",
		   "CREATE TABLE t(b, id INTEGER PRIMARY KEY, a);"
		   "INSERT INTO t VALUES (3,1,2);",
		   "~table t on t\n"
		   "table t declared(id)(B id a)(b id a)\n"
		   "end t +0 -0 ~0 1 1\n"
		   "different\n");
}

static void
a_dropped_table_has_all_its_rows_removed(void **state)
{
	(void)state;
	log_expect("CREATE TABLE t(k TEXT PRIMARY KEY) WITHOUT ROWID;"
		   "INSERT INTO t VALUES ('a'),('b');", "",
		   "-table t on t\n"
		   "table t declared(k)(k)()\n"
		   "- (\"a\") (\"a\")\n- (\"b\") (\"b\")\n"
		   "end t +0 -2 ~0 2 0\n"
		   "different\n");
}

static void
encodings_and_page_sizes_may_differ_in_equal_states(void **state)
{
	const char *sql = "CREATE TABLE t(k TEXT PRIMARY KEY, v);"
		"INSERT INTO t VALUES ('\u00e9\u4e2d',1),('a',"
		"'\U0001F600'||char(0)||'x');"
		"CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID;"
		"INSERT INTO w VALUES ('\uff5e',1),('\U0001F600',2),('b',3);"
		"CREATE INDEX i\u00e9 ON t(v);";
	static const char *const pragma[] = {
		"PRAGMA encoding='UTF-8';", "PRAGMA encoding='UTF-16le';",
		"PRAGMA encoding='UTF-16be'; PRAGMA page_size=512;",
	};
	struct delta_options o = LOG_OPTIONS;
	char b[1024], a[1024];

	(void)state;
	for (int i = 0; i < 9; i++) {
		char *got;

		snprintf(b, sizeof(b), "%s%s", pragma[i / 3], sql);
		snprintf(a, sizeof(a), "%s%s", pragma[i % 3], sql);
		got = log_delta(log_db(b), log_db(a), &o, true);
		assert_true(strstr(got, "equal\n") != NULL);
		assert_null(strstr(got, "\"a\""));
		if (i / 3 != i % 3)
			assert_non_null(strstr(got, "setting encoding"));
		free(got);
	}
	log_expect_rows("PRAGMA encoding='UTF-8';" T,
			"PRAGMA encoding='UTF-16be'; PRAGMA page_size=512;" T,
			"setting encoding (\"UTF-8\") (\"UTF-16be\")\n"
			"setting page_size (i4096) (i512)\nequal\n");
}

static void
lone_surrogates_are_not_taken_for_pairs(void **state)
{
	static const char *const order[] = { "le", "be" };
	static const char *const bytes[][2] = {
		{ "00d84100", "00d837dc" }, { "d8000041", "d800dc37" },
	};
	char b[256], a[256];

	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(b, sizeof(b), "PRAGMA encoding='UTF-16%s';" T
			 "INSERT INTO t VALUES (1,CAST(x'%s' AS TEXT));",
			 order[i], bytes[i][0]);
		snprintf(a, sizeof(a), "PRAGMA encoding='UTF-16%s';" T
			 "INSERT INTO t VALUES (1,CAST(x'%s' AS TEXT));",
			 order[i], bytes[i][1]);
		log_expect_rows(b, a, "~ (i1) (i1 W:00d84100)"
				" (i1 \"\U00010037\")\ndifferent\n");
	}
}

static void
a_generated_column_that_cannot_be_computed_is_skipped(void **state)
{
	static const char sql[] =
		"CREATE TABLE t(id INTEGER PRIMARY KEY, v, g AS (nosuch(v)),"
		" h AS (v+1));";
	struct delta_options o = LOG_OPTIONS;
	sqlite3 *db[2];
	char *got;

	(void)state;
	for (int i = 0; i < 2; i++) {
		db[i] = log_db("PRAGMA writable_schema=ON;");
		assert_int_equal(sqlite3_exec(db[i], T "INSERT INTO t VALUES"
					      " (1,2);", 0, 0, 0), 0);
		if (i == 1)
			sqlite3_exec(db[i], "UPDATE t SET v=3", 0, 0, 0);
		{
			char *u = sqlite3_mprintf("UPDATE sqlite_schema SET"
						  " sql=%Q", sql);

			assert_int_equal(sqlite3_exec(db[i], u, 0, 0, 0), 0);
			sqlite3_free(u);
		}
		assert_int_equal(sqlite3_exec(db[i], "PRAGMA schema_version="
					      "77; PRAGMA writable_schema="
					      "RESET", 0, 0, 0), 0);
	}
	got = log_delta(db[0], db[1], &o, false);
	assert_string_equal(got, "table t declared(id)(id v h)(id v h)\n"
			    "~ (i1) (i1 i2 i3) (i1 i3 i4)\n"
			    "skip table t, column g: unknown function:"
			    " nosuch()\n"
			    "end t +0 -0 ~1 1 1\n"
			    "different\n");
	free(got);
}

/* No order that SQLite has itself. */
static int
S_compare_backwards(void *arg, int na, const void *a, int nb, const void *b)
{
	(void)arg;
	return na != nb ? nb - na : memcmp(b, a, (size_t)na);
}

static void
a_table_of_a_missing_collation_is_read_in_its_own_order(void **state)
{
	static const char *const rows[] = { "('a'),('b'),('d')",
					    "('a'),('c'),('d')" };
	struct delta_options o = LOG_OPTIONS;
	sqlite3 *db[2];
	char *got;

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *insert = sqlite3_mprintf("INSERT INTO t VALUES %s",
					       rows[i]);

		db[i] = log_db("");
		sqlite3_create_collation(db[i], "odd", SQLITE_UTF8, NULL,
					 S_compare_backwards);
		assert_int_equal(sqlite3_exec(db[i],
			"CREATE TABLE t(k TEXT COLLATE odd PRIMARY KEY,"
			" g AS (k < 'c')) WITHOUT ROWID", 0, 0, 0), 0);
		assert_int_equal(sqlite3_exec(db[i], insert, 0, 0, 0), 0);
		sqlite3_free(insert);
		sqlite3_create_collation(db[i], "odd", SQLITE_UTF8, NULL,
					 NULL);
	}
	got = log_delta(db[0], db[1], &o, false);
	assert_string_equal(got,
			    "table t declared(k)(k)(k)\n"
			    "- (\"b\") (\"b\")\n"
			    "+ (\"c\") (\"c\")\n"
			    "skip table t, column g: no such collation"
			    " sequence: odd\n"
			    "end t +1 -1 ~0 3 3\n"
			    "different\n");
	free(got);
}

static void
a_virtual_table_is_compared_by_its_shadow_tables(void **state)
{
	struct delta_options o = LOG_OPTIONS;
	sqlite3 *db[2];
	char *got;

	(void)state;
	if (!sqlite3_compileoption_used("ENABLE_FTS5"))
		SKIP("SQLite has no FTS5 here");
	for (int i = 0; i < 2; i++)
		db[i] = log_db("CREATE VIRTUAL TABLE f USING fts5(x);"
			       "INSERT INTO f VALUES ('one'),('two');");
	assert_int_equal(sqlite3_exec(db[1], "UPDATE f SET x='three'"
				      " WHERE rowid=2", 0, 0, 0), 0);
	got = log_delta(db[0], db[1], &o, false);
	assert_non_null(strstr(got, "table f_content declared(id)(id c0)"
			       "(id c0)\n~ (i2) (i2 \"two\")"
			       " (i2 \"three\")\n"));
	assert_null(strstr(got, "table f "));
	assert_non_null(strstr(got, "\ndifferent\n"));
	free(got);
}

static void
a_schema_row_that_forges_its_type_is_damage(void **state)
{
	struct delta_options o = LOG_OPTIONS;
	struct log l = { .text = BUF_INIT(1u << 20) };
	struct delta_sink sink = log_sink(&l);
	struct fault f = FAULT_INIT;
	sqlite3 *db[2];
	bool equal = true;

	(void)state;
	for (int i = 0; i < 2; i++) {
		db[i] = log_db(T "INSERT INTO t VALUES (1,1);"
			       "PRAGMA writable_schema=ON;"
			       "UPDATE sqlite_schema SET type='view';"
			       "PRAGMA schema_version=9;"
			       "PRAGMA writable_schema=RESET;");
	}
	assert_int_equal(delta_databases(db[0], db[1], &o, &sink, &equal, &f),
			 -FAULT_DAMAGED);
	assert_non_null(strstr(f.text, "malformed database schema"));
	buf_free(&l.text);
	sqlite3_close(db[0]);
	sqlite3_close(db[1]);
}

static void
two_thousand_columns_and_a_rowid(void **state)
{
	struct delta_options o = LOG_OPTIONS;
	struct buf sql = BUF_INIT(1u << 20);
	sqlite3 *db[2];
	struct fault f;
	char *got;

	(void)state;
	assert_int_equal(buf_printf(&sql, &f, "CREATE TABLE t(c0"), 0);
	for (int i = 1; i < 2000; i++)
		assert_int_equal(buf_printf(&sql, &f, ",c%d", i), 0);
	assert_int_equal(buf_printf(&sql, &f, "); INSERT INTO t(c0,c1999)"
				    " VALUES (1,2),(3,4),(5,6)"), 0);
	assert_int_equal(buf_u8(&sql, 0, &f), 0);
	db[0] = log_db((char *)sql.data);
	db[1] = log_db((char *)sql.data);
	assert_int_equal(sqlite3_exec(db[1], "UPDATE t SET c1999=9 WHERE"
				      " rowid=3; DELETE FROM t WHERE rowid=2",
				      0, 0, 0), 0);
	got = log_delta(db[0], db[1], &o, true);
	assert_ptr_equal(strstr(got, "- (i2) (i3 n "), got);
	assert_non_null(strstr(got, "\n~ (i3) (i5 n "));
	assert_non_null(strstr(got, " n i9)\ndifferent\n"));
	free(got);
	buf_free(&sql);
}

static void
stat_tables_are_ordinary(void **state)
{
	(void)state;
	log_expect_rows(T "CREATE INDEX i ON t(v);"
			"INSERT INTO t VALUES (1,1); ANALYZE;",
			T "CREATE INDEX i ON t(v);"
			"INSERT INTO t VALUES (1,1); ANALYZE;"
			"UPDATE sqlite_stat1 SET stat='7 7';",
			"~ (i1) (\"t\" \"i\" \"1 1\") (\"t\" \"i\" \"7 7\")\n"
			"different\n");
}

static void
an_added_column_whose_default_is_computed_changes_each_row(void **state)
{
	(void)state;
	log_expect_rows(T "INSERT INTO t VALUES (1,1);",
			"CREATE TABLE t(id INTEGER PRIMARY KEY, v,"
			" x DEFAULT (1+1)); INSERT INTO t VALUES (1,1,NULL);",
			"~table t on t\n~ (i1) (i1 i1) (i1 i1 n)\n"
			"different\n");
}

int
main(void)
{
	struct fault f;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_added_column_at_its_default_changes_no_row),
		cmocka_unit_test(columns_meet_by_name_whatever_their_order),
		cmocka_unit_test(a_dropped_table_has_all_its_rows_removed),
		cmocka_unit_test(
			encodings_and_page_sizes_may_differ_in_equal_states),
		cmocka_unit_test(lone_surrogates_are_not_taken_for_pairs),
		cmocka_unit_test(
			a_generated_column_that_cannot_be_computed_is_skipped),
		cmocka_unit_test(a_table_of_a_missing_collation_is_read_in_its_own_order),
		cmocka_unit_test(
			a_virtual_table_is_compared_by_its_shadow_tables),
		cmocka_unit_test(a_schema_row_that_forges_its_type_is_damage),
		cmocka_unit_test(two_thousand_columns_and_a_rowid),
		cmocka_unit_test(stat_tables_are_ordinary),
		cmocka_unit_test(
		an_added_column_whose_default_is_computed_changes_each_row),
	};

	if (digest_setup(&f))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
