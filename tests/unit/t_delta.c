/*
 * t_delta.c - tests of what differs and by which key
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/verify_log.h"

#define T "CREATE TABLE t(id INTEGER PRIMARY KEY, v);"

static void
rows_are_added_removed_and_changed_by_their_key(void **state)
{
	(void)state;
	log_expect(T "INSERT INTO t VALUES (1,'a'),(2,'b'),(3,'c');",
		   T "INSERT INTO t VALUES (1,'a'),(3,'C'),(4,'d');",
		   "table t declared(id)(id v)(id v)\n"
		   "- (i2) (i2 \"b\")\n"
		   "~ (i3) (i3 \"c\") (i3 \"C\")\n"
		   "+ (i4) (i4 \"d\")\n"
		   "end t +1 -1 ~1 3 3\n"
		   "different\n");
}

static void
the_same_content_is_equal(void **state)
{
	(void)state;
	log_expect(T "INSERT INTO t VALUES (1,'a'),(2,NULL);",
		   T "INSERT INTO t VALUES (2,NULL),(1,'a');",
		   "table t declared(id)(id v)(id v)\n"
		   "end t +0 -0 ~0 2 2\n"
		   "equal\n");
}

static void
values_differ_by_type_and_bits(void **state)
{
	static const struct {
		const char *before, *after, *row;
	} pair[] = {
		{ "1", "1.0", "(i1 i1) (i1 r3ff0000000000000)" },
		{ "0.0", "-0.0",
		  "(i1 r0000000000000000) (i1 r8000000000000000)" },
		{ "0.1+0.2", "0.3",
		  "(i1 r3fd3333333333334) (i1 r3fd3333333333333)" },
		{ "9e999", "-9e999",
		  "(i1 r7ff0000000000000) (i1 rfff0000000000000)" },
		{ "9e999-9e999", "9e999", "(i1 n) (i1 r7ff0000000000000)" },
		{ "NULL", "''", "(i1 n) (i1 \"\")" },
		{ "''", "x''", "(i1 \"\") (i1 B0:e3b0c442)" },
		{ "'1'", "1", "(i1 \"1\") (i1 i1)" },
		{ "'a'", "'A'", "(i1 \"a\") (i1 \"A\")" },
		{ "'a'", "'a'||char(0)||'b'", "(i1 \"a\") (i1 \"a0b\")" },
		{ "'a'||char(0)||'b'", "'a'||char(0)||'c'",
		  "(i1 \"a0b\") (i1 \"a0c\")" },
		{ "CAST(x'ff' AS TEXT)", "CAST(x'fe' AS TEXT)",
		  "(i1 T:ff) (i1 T:fe)" },
		{ "x'61'", "'a'", "(i1 B1:ca978112) (i1 \"a\")" },
		{ "9007199254740993", "9007199254740992",
		  "(i1 i9007199254740993) (i1 i9007199254740992)" },
	};
	char b[256], a[256], row[256];

	(void)state;
	for (size_t i = 0; i < sizeof(pair) / sizeof(*pair); i++) {
		snprintf(b, sizeof(b), T "INSERT INTO t VALUES (1,%s);",
			 pair[i].before);
		snprintf(a, sizeof(a), T "INSERT INTO t VALUES (1,%s);",
			 pair[i].after);
		snprintf(row, sizeof(row), "~ (i1) %s\ndifferent\n",
			 pair[i].row);
		log_expect_rows(b, a, row);
		log_expect_rows(b, b, "equal\n");
	}
}

static void
text_moved_between_columns_differs(void **state)
{
	(void)state;
	log_expect_rows("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);"
			"INSERT INTO t VALUES (1,'a3','b');",
			"CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);"
			"INSERT INTO t VALUES (1,'a','3b');",
			"~ (i1) (i1 \"a3\" \"b\") (i1 \"a\" \"3b\")\n"
			"different\n");
}

static void
a_row_moved_to_another_table_is_a_difference_in_both(void **state)
{
	(void)state;
	log_expect(T "CREATE TABLE u(id INTEGER PRIMARY KEY, v);"
		   "INSERT INTO t VALUES (1,'a');",
		   T "CREATE TABLE u(id INTEGER PRIMARY KEY, v);"
		   "INSERT INTO u VALUES (1,'a');",
		   "table t declared(id)(id v)(id v)\n"
		   "- (i1) (i1 \"a\")\n"
		   "end t +0 -1 ~0 1 0\n"
		   "table u declared(id)(id v)(id v)\n"
		   "+ (i1) (i1 \"a\")\n"
		   "end u +1 -0 ~0 0 1\n"
		   "different\n");
}

static void
schema_that_no_row_shows_differs(void **state)
{
	(void)state;
	log_expect(T, T "PRAGMA user_version=2;",
		   "setting user_version (i0) (i2)\n"
		   "table t declared(id)(id v)(id v)\nend t +0 -0 ~0 0 0\n"
		   "different\n");
	log_expect(T "CREATE VIEW w AS SELECT v FROM t;",
		   T "CREATE VIEW w AS SELECT id FROM t;",
		   "~view w on w\n"
		   "table t declared(id)(id v)(id v)\nend t +0 -0 ~0 0 0\n"
		   "different\n");
	log_expect(T, T "CREATE TRIGGER g AFTER INSERT ON t BEGIN"
		   " SELECT 1; END;",
		   "+trigger g on t\n"
		   "table t declared(id)(id v)(id v)\nend t +0 -0 ~0 0 0\n"
		   "different\n");
	log_expect(T "CREATE INDEX i ON t(v);",
		   T "CREATE INDEX i ON t(v DESC);",
		   "~index i on t\n"
		   "table t declared(id)(id v)(id v)\nend t +0 -0 ~0 0 0\n"
		   "different\n");
	log_expect("CREATE TABLE t(a CHECK(a > 1));",
		   "CREATE TABLE t(a CHECK(a > 2));",
		   "~table t on t\n"
		   "table t rowid(rowid)(a)(a)\nend t +0 -0 ~0 0 0\n"
		   "different\n");
}

static void
only_the_text_of_an_object_differs(void **state)
{
	static const char *const same[][2] = {
		{ "CREATE TABLE t(a,b)", "CREATE TABLE t(a, b)" },
		{ "CREATE TABLE t(a,b)", "CREATE TABLE t(a /* x */,b)" },
		{ "CREATE TABLE t(a PRIMARY KEY)",
		  "CREATE TABLE t(a, PRIMARY KEY(a))" },
		{ "CREATE TABLE t(a UNIQUE)", "CREATE TABLE t(\"a\" UNIQUE)" },
	};
	static const char *const other[][2] = {
		{ "CREATE TABLE t(a)", "CREATE TABLE t(a TEXT)" },
		{ "CREATE TABLE t(a)", "CREATE TABLE t(a COLLATE NOCASE)" },
		{ "CREATE TABLE t(a)", "CREATE TABLE t(a UNIQUE)" },
		{ "CREATE TABLE t(a)", "CREATE TABLE t(a REFERENCES t(a))" },
		{ "CREATE TABLE t(a INT)", "CREATE TABLE t(a INT) STRICT" },
		{ "CREATE TABLE t(a)", "CREATE TABLE t(a DEFAULT 5)" },
		{ "CREATE TABLE t(a NOT NULL)", "CREATE TABLE t(a)" },
	};
	struct delta_options o = LOG_OPTIONS;

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		char *got = log_delta(log_db(same[i][0]), log_db(same[i][1]),
				      &o, false);

		assert_ptr_equal(strstr(got, "~table t on t text only\n"),
				 got);
		assert_non_null(strstr(got, "\ndifferent\n"));
		free(got);
	}
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
		char *got = log_delta(log_db(other[i][0]),
				      log_db(other[i][1]), &o, false);

		assert_ptr_equal(strstr(got, "~table t on t\n"), got);
		assert_non_null(strstr(got, "\ndifferent\n"));
		free(got);
	}
}

static void
a_case_only_key_is_removed_and_added(void **state)
{
	const char *table[] = {
		"CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY, v);",
		"CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY, v)"
		" WITHOUT ROWID;",
	};
	char b[256], a[256];

	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(b, sizeof(b), "%sINSERT INTO t VALUES ('abc',1);",
			 table[i]);
		snprintf(a, sizeof(a), "%sINSERT INTO t VALUES ('ABC',1);",
			 table[i]);
		log_expect(b, a,
			   "table t declared(k)(k v)(k v)\n"
			   "+ (\"ABC\") (\"ABC\" i1)\n"
			   "- (\"abc\") (\"abc\" i1)\n"
			   "end t +1 -1 ~0 1 1\n"
			   "different\n");
	}
}

static void
a_key_that_changes_type_only_is_removed_and_added(void **state)
{
	(void)state;
	log_expect_rows("CREATE TABLE t(k PRIMARY KEY) WITHOUT ROWID;"
			"INSERT INTO t VALUES (1),(2);",
			"CREATE TABLE t(k PRIMARY KEY) WITHOUT ROWID;"
			"INSERT INTO t VALUES (1.0),(2);",
			"- (i1) (i1)\n+ (r3ff0000000000000)"
			" (r3ff0000000000000)\ndifferent\n");
}

static void
without_rowid_keys_of_every_type_stay_in_order(void **state)
{
#define W "CREATE TABLE t(a, b, v, PRIMARY KEY(a, b DESC)) WITHOUT ROWID;"
	(void)state;
	log_expect_rows(W "INSERT INTO t VALUES (1,1,1),(1,2,1),(1.5,0,1),"
			"(9007199254740993,0,1),(9007199254740992.0,0,1),"
			"('a',0,1),('ab',0,1),(x'00',0,1),(x'ff',0,1);",
			W "INSERT INTO t VALUES (1,1,1),(1,2,2),(1.5,0,1),"
			"(9007199254740993,0,2),(9007199254740992.0,0,1),"
			"('a',0,1),('ab',0,2),(x'00',0,1),(x'ff',0,2);",
			"~ (i1 i2) (i1 i2 i1) (i1 i2 i2)\n"
			"~ (i9007199254740993 i0) (i9007199254740993 i0 i1)"
			" (i9007199254740993 i0 i2)\n"
			"~ (\"ab\" i0) (\"ab\" i0 i1) (\"ab\" i0 i2)\n"
			"~ (B1:a8100ae6 i0) (B1:a8100ae6 i0 i1)"
			" (B1:a8100ae6 i0 i2)\n"
			"different\n");
#undef W
}

static void
keyless_rows_that_repeat_are_counted(void **state)
{
	struct delta_options o = LOG_OPTIONS;
	const char *b = "CREATE TABLE t(v);"
		"INSERT INTO t VALUES ('x'),('x'),('y');";
	const char *a = "CREATE TABLE t(v);"
		"INSERT INTO t VALUES ('y'),('x'),('x'),('x'),('x');";

	(void)state;
	o.ignore_rowid = true;
	log_expect_with(b, a, &o, false,
			"table t none()(v)(v)\n"
			"+ () (\"x\")\n+ () (\"x\")\n"
			"end t +2 -0 ~0 3 5\n"
			"different\n");
	log_expect_with(a, b, &o, true,
			"- () (\"x\")\n- () (\"x\")\ndifferent\n");
	log_expect_with(a, a, &o, true, "equal\n");
}

static void
renumbered_rowids_differ_unless_ignored(void **state)
{
	struct delta_options o = LOG_OPTIONS;
	const char *b = "CREATE TABLE t(v); CREATE TABLE p(k TEXT PRIMARY KEY);"
		"INSERT INTO t(rowid, v) VALUES (1,'a'),(5,'b');"
		"INSERT INTO p(rowid, k) VALUES (1,'a'),(5,'b');";
	const char *a = "CREATE TABLE t(v); CREATE TABLE p(k TEXT PRIMARY KEY);"
		"INSERT INTO t(rowid, v) VALUES (1,'a'),(2,'b');"
		"INSERT INTO p(rowid, k) VALUES (1,'a'),(2,'b');";

	(void)state;
	log_expect(b, a,
		   "table p declared(k)(k)(k)\nend p +0 -0 ~0 2 2\n"
		   "table t rowid(rowid)(v)(v)\n"
		   "+ (i2) (\"b\")\n- (i5) (\"b\")\nend t +1 -1 ~0 2 2\n"
		   "different\n");
	o.ignore_rowid = true;
	log_expect_with(b, a, &o, true, "equal\n");
}

static void
a_null_in_a_declared_key_falls_back_to_the_rowid(void **state)
{
	const char *b = "CREATE TABLE t(k TEXT PRIMARY KEY, v);"
		"INSERT INTO t VALUES (NULL,1),(NULL,2),('a',3);";
	const char *a = "CREATE TABLE t(k TEXT PRIMARY KEY, v);"
		"INSERT INTO t VALUES (NULL,1),(NULL,7),('a',3);";

	(void)state;
	log_expect(b, a,
		   "table t rowid(rowid)(k v)(k v)\n"
		   "~ (i2) (n i2) (n i7)\n"
		   "end t +0 -0 ~1 3 3\n"
		   "different\n");
	log_expect("", b,
		   "+table t on t\n"
		   "table t rowid(rowid)()(k v)\n"
		   "+ (i1) (n i1)\n+ (i2) (n i2)\n+ (i3) (\"a\" i3)\n"
		   "end t +3 -0 ~0 0 3\n"
		   "different\n");
}

static void
a_table_whose_rowid_has_no_name_is_a_multiset(void **state)
{
#define R "CREATE TABLE t(rowid TEXT, _ROWID_ TEXT, oid TEXT);"
	(void)state;
	log_expect(R "INSERT INTO t VALUES ('a','b','c'),('d','e','f');",
		   R "INSERT INTO t VALUES ('d','e','f'),('a','b','x');",
		   "table t none()(rowid _ROWID_ oid)(rowid _ROWID_ oid)\n"
		   "- () (\"a\" \"b\" \"c\")\n+ () (\"a\" \"b\" \"x\")\n"
		   "end t +1 -1 ~0 2 2\n"
		   "different\n");
	log_expect("CREATE TABLE t(rowid TEXT, v); INSERT INTO t VALUES"
		   " ('a',1);",
		   "CREATE TABLE t(rowid TEXT, v); INSERT INTO t VALUES"
		   " ('a',2);",
		   "table t rowid(rowid)(rowid v)(rowid v)\n"
		   "~ (i1) (\"a\" i1) (\"a\" i2)\n"
		   "end t +0 -0 ~1 1 1\n"
		   "different\n");
#undef R
}

static void
a_table_that_changes_from_rowid_to_without_rowid_keeps_its_key(void **state)
{
	(void)state;
	log_expect("CREATE TABLE t(k TEXT PRIMARY KEY, v);"
		   "INSERT INTO t VALUES ('b',1),('a',2),('c',3);",
		   "CREATE TABLE t(k TEXT PRIMARY KEY, v) WITHOUT ROWID;"
		   "INSERT INTO t VALUES ('a',2),('b',1),('c',4);",
		   "~table t on t\n"
		   "table t declared(k)(k v)(k v)\n"
		   "~ (\"c\") (\"c\" i3) (\"c\" i4)\n"
		   "end t +0 -0 ~1 3 3\n"
		   "different\n");
}

static void
a_key_of_other_columns_is_no_common_key(void **state)
{
	(void)state;
	log_expect("CREATE TABLE t(a TEXT PRIMARY KEY, b TEXT);"
		   "INSERT INTO t VALUES ('x','y');",
		   "CREATE TABLE t(a TEXT, b TEXT PRIMARY KEY);"
		   "INSERT INTO t VALUES ('x','y');",
		   "~table t on t\n"
		   "table t rowid(rowid)(a b)(a b)\n"
		   "end t +0 -0 ~0 1 1\n"
		   "different\n");
}

static void
keys_stored_in_descending_order_meet(void **state)
{
#define D(dir) "CREATE TABLE t(a, PRIMARY KEY(a " dir ")) WITHOUT ROWID;"
	(void)state;
	log_expect_rows(D("DESC") "INSERT INTO t VALUES (1),(2),(3);",
			D("DESC") "INSERT INTO t VALUES (1),(3);",
			"- (i2) (i2)\ndifferent\n");
	log_expect_rows(D("DESC") "INSERT INTO t VALUES (1),(2),(3);",
			D("ASC") "INSERT INTO t VALUES (1),(2),(3);",
			"~table t on t\ndifferent\n");
#undef D
}

static void
keys_stored_in_another_collation_meet(void **state)
{
#define N "CREATE TABLE t(a TEXT COLLATE NOCASE PRIMARY KEY) WITHOUT ROWID;"
	(void)state;
	log_expect_rows(N "INSERT INTO t VALUES ('a'),('B');",
			N "INSERT INTO t VALUES ('B');",
			"- (\"a\") (\"a\")\ndifferent\n");
#undef N
}

static void
rows_that_share_a_key_against_the_rules_are_all_told(void **state)
{
	const char *sql = "CREATE TABLE t(k TEXT PRIMARY KEY, v);"
		"INSERT INTO t VALUES ('a',1);";
	struct delta_options o = LOG_OPTIONS;
	sqlite3 *db[2] = { log_db(sql), log_db(sql) };
	char *got;

	(void)state;
	/* The key's index becomes an empty one, which objects to nothing. */
	assert_int_equal(sqlite3_exec(db[1],
		"CREATE TABLE e(k TEXT PRIMARY KEY); PRAGMA writable_schema"
		"=ON; UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM"
		" sqlite_schema WHERE name='sqlite_autoindex_e_1') WHERE"
		" name='sqlite_autoindex_t_1'; DELETE FROM sqlite_schema"
		" WHERE tbl_name='e'; PRAGMA schema_version=99;"
		"PRAGMA writable_schema=RESET; UPDATE t SET v=5;"
		"INSERT INTO t VALUES ('a',6);", 0, 0, 0), 0);
	got = log_delta(db[0], db[1], &o, true);
	assert_non_null(strstr(got, "~ (\"a\") (\"a\" i1) (\"a\" i5)\n"));
	assert_non_null(strstr(got, "+ (\"a\") (\"a\" i6)\n"));
	free(got);
}

int
main(void)
{
	struct fault f;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			rows_are_added_removed_and_changed_by_their_key),
		cmocka_unit_test(the_same_content_is_equal),
		cmocka_unit_test(values_differ_by_type_and_bits),
		cmocka_unit_test(text_moved_between_columns_differs),
		cmocka_unit_test(
			a_row_moved_to_another_table_is_a_difference_in_both),
		cmocka_unit_test(schema_that_no_row_shows_differs),
		cmocka_unit_test(only_the_text_of_an_object_differs),
		cmocka_unit_test(a_case_only_key_is_removed_and_added),
		cmocka_unit_test(
			a_key_that_changes_type_only_is_removed_and_added),
		cmocka_unit_test(
			without_rowid_keys_of_every_type_stay_in_order),
		cmocka_unit_test(keyless_rows_that_repeat_are_counted),
		cmocka_unit_test(renumbered_rowids_differ_unless_ignored),
		cmocka_unit_test(
			a_null_in_a_declared_key_falls_back_to_the_rowid),
		cmocka_unit_test(a_table_whose_rowid_has_no_name_is_a_multiset),
		cmocka_unit_test(
		a_table_that_changes_from_rowid_to_without_rowid_keeps_its_key),
		cmocka_unit_test(a_key_of_other_columns_is_no_common_key),
		cmocka_unit_test(keys_stored_in_descending_order_meet),
		cmocka_unit_test(keys_stored_in_another_collation_meet),
		cmocka_unit_test(
			rows_that_share_a_key_against_the_rules_are_all_told),
	};

	if (digest_setup(&f))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
