/*
 * t_catalog.c - tests of what the schema is taken for
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/unit/verify_log.h"
#include "verify/catalog.h"
#include "verify/dflt.h"
#include "verify/sql.h"
#include "base/token.h"

/* The table called t. */
static void
S_load(const char *sql, struct catalog *c, struct catalog_table *t)
{
	struct fault f = FAULT_INIT;

	if (catalog_load(c, log_db(sql), &f))
		fail_msg("%s", f.text);
	for (size_t i = 0; i < c->nobject; i++) {
		if (strcmp(c->object[i].name, "t") == 0) {
			assert_true(c->object[i].is_table);
			assert_int_equal(catalog_table_load(t, c,
							    &c->object[i],
							    &f), 0);
			return;
		}
	}
	fail_msg("no table t");
}

static void
S_unload(struct catalog *c, struct catalog_table *t)
{
	sqlite3 *db = c->db;

	catalog_table_free(t);
	catalog_free(c);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void
the_rowid_is_the_key_only_where_sqlite_says_so(void **state)
{
	static const struct {
		const char *sql;
		bool integer_key, without_rowid, binary;
		uint32_t nkey;
		const char *rowid;
	} table[] = {
		{ "t(id INTEGER PRIMARY KEY)", true, false, true, 1, "rowid" },
		{ "t(id integer, PRIMARY KEY(id))", true, false, true, 1,
		  "rowid" },
		{ "t(id INT PRIMARY KEY)", false, false, true, 1, "rowid" },
		{ "t(id INTEGER PRIMARY KEY DESC)", false, false, true, 1,
		  "rowid" },
		{ "t(id INTEGER PRIMARY KEY) WITHOUT ROWID", false, true,
		  true, 1, NULL },
		{ "t(a TEXT COLLATE NOCASE PRIMARY KEY) -- )\n WITHOUT /*(*/"
		  " rowid, STRICT", false, true, false, 1, NULL },
		{ "t(a, b, PRIMARY KEY(b, a))", false, false, true, 2,
		  "rowid" },
		{ "t(a, b, PRIMARY KEY(a, a, b))", false, false, true, 2,
		  "rowid" },
		{ "t(ROWID, b)", false, false, true, 0, "_rowid_" },
		{ "t(ROWID, _rowid_)", false, false, true, 0, "oid" },
		{ "t(oid, rowid, _rowid_)", false, false, true, 0, NULL },
		{ "t(a DEFAULT 'WITHOUT ROWID')", false, false, true, 0,
		  "rowid" },
	};
	char sql[256];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct catalog c;
		struct catalog_table t;

		snprintf(sql, sizeof(sql), "CREATE TABLE %s;", table[i].sql);
		S_load(sql, &c, &t);
		assert_int_equal(t.integer_key, table[i].integer_key);
		assert_int_equal(t.without_rowid, table[i].without_rowid);
		assert_int_equal(t.nkey, table[i].nkey);
		if (t.without_rowid)
			assert_int_equal(t.binary_key, table[i].binary);
		if (table[i].rowid)
			assert_string_equal(t.rowid, table[i].rowid);
		else
			assert_null(t.rowid);
		S_unload(&c, &t);
	}
}

static void
table_options_are_read_behind_the_columns_only(void **state)
{
	static const struct {
		const char *sql;
		bool without, strict;
	} text[] = {
		{ "CREATE TABLE t(a)", false, false },
		{ "CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID", true, false },
		{ "CREATE TABLE t(a)STRICT", false, true },
		{ "CREATE TABLE t(a /* ) */ PRIMARY KEY) -- x\n without\n"
		  "rowid,strict", true, true },
		{ "CREATE TABLE t(a CHECK(a != ') WITHOUT ROWID'))", false,
		  false },
		{ "CREATE TABLE \"x(y)WITHOUT ROWID\"(a)", false, false },
		{ "CREATE TABLE t(strict)", false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
		bool without, strict;

		token_table_options(text[i].sql, &without, &strict);
		assert_int_equal(without, text[i].without);
		assert_int_equal(strict, text[i].strict);
	}
}

static void
objects_are_told_by_their_first_words(void **state)
{
	(void)state;
	assert_int_equal(token_object("CREATE TABLE t(a)"),
			 TOKEN_OBJECT_TABLE);
	assert_int_equal(token_object("/* x */ create -- y\n table t(a)"),
			 TOKEN_OBJECT_TABLE);
	assert_int_equal(token_object("CREATE VIRTUAL TABLE t USING fts5(a)"),
			 TOKEN_OBJECT_VIRTUAL);
	assert_int_equal(token_object("CREATE VIEW t AS SELECT 1"),
			 TOKEN_OBJECT_OTHER);
	assert_int_equal(token_object(""), TOKEN_OBJECT_OTHER);
	assert_int_equal(token_object("/*"), TOKEN_OBJECT_OTHER);
}

static void
texts_are_the_same_but_for_blanks_comments_and_case(void **state)
{
	(void)state;
	assert_true(token_same("create table T(a)", "CREATE  TABLE t ( A )"));
	assert_true(token_same("a--x\nb", "a/* y */b"));
	assert_true(token_same("a b", "a\n\tb"));
	assert_false(token_same("ab", "a b"));
	assert_false(token_same("'a'", "'A'"));
	assert_false(token_same("\"a\"", "\"A\""));
	assert_false(token_same("'a''b'", "'a' 'b'"));
	assert_false(token_same("1.5e+3", "1.5e +3"));
	assert_false(token_same("a", "a b"));
}

static void
literals_are_known_from_expressions(void **state)
{
	static const char *const yes[] = {
		"1", "-1.5e3", "+7", "'x'", "''", "x'00'", "NULL", "true",
		"(5)", "((-5))", "\"x\"", "0x1F", "a",
	};
	static const char *const no[] = {
		"", "(", "(a)", "CURRENT_TIMESTAMP", "random()", "1+2",
		"(1", "1)", "(SELECT 1)", "'a'||'b'", "-x", "1; SELECT 2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!token_literal(yes[i]))
			fail_msg("%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (token_literal(no[i]))
			fail_msg("%s", no[i]);
}

/* What ADD COLUMN shows for a row that was there before. */
static void
defaults_are_what_sqlite_gives_old_rows(void **state)
{
	static const char *const column[][2] = {
		{ "TEXT", "5" }, { "INT", "'5'" }, { "INT", "'5x'" },
		{ "REAL", "5" }, { "DOUBLE", "'1e3'" }, { "BLOB", "'5'" },
		{ "", "-0.0" }, { "NUMERIC", "'5.0'" }, { "DATE", "'7'" },
		{ "VARCHAR(3)", "1.5" }, { "INT", "true" },
		{ "TEXT", "x'41'" }, { "", "(-9223372036854775808)" },
		{ "CHARINT", "'8'" }, { "FLOATING POINT", "'8'" },
		{ "TEXT", "abc" }, { "", "\"abc\"" }, { "INT", "[7]" },
	};
	char sql[256];

	(void)state;
	for (size_t i = 0; i < sizeof(column) / sizeof(*column); i++) {
		struct buf got = BUF_INIT(1024), expected = BUF_INIT(1024);
		struct value_reader v;
		sqlite3_stmt *s = NULL;
		struct fault f;
		int type;
		sqlite3 *db;

		snprintf(sql, sizeof(sql), "CREATE TABLE t(a);"
			 "INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN"
			 " x %s DEFAULT %s;", column[i][0], column[i][1]);
		db = log_db(sql);
		assert_int_equal(value_reader_init(&v, db, &f), 0);
		assert_int_equal(sqlite3_prepare_v2(db, "SELECT x FROM t", -1,
						    &s, NULL), SQLITE_OK);
		assert_int_equal(sqlite3_step(s), SQLITE_ROW);
		assert_int_equal(value_put(&v, &expected, s, 0, VALUE_COMPARE,
					   &type, &f), 0);
		assert_int_equal(dflt_put(&got, column[i][0], column[i][1],
					  &f), 0);
		assert_int_equal(got.len, expected.len);
		assert_memory_equal(got.data, expected.data, got.len);
		sqlite3_finalize(s);
		sqlite3_close(db);
		value_reader_free(&v);
		buf_free(&got);
		buf_free(&expected);
	}
}

static void
names_that_are_not_utf8_are_shown_as_such(void **state)
{
	static const char *const name[][2] = {
		{ "plain", "plain" }, { "\xc3\xa9", "\xc3\xa9" },
		{ "a\xff\xfe" "b", "a??b" }, { "\xed\xa0\x80", "???" },
		{ "\xf0\x9f\x98\x80\xc3", "\xf0\x9f\x98\x80?" }, { "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
		struct fault f;
		char *shown = NULL;

		assert_int_equal(sql_shown(name[i][0], &shown, &f), 0);
		assert_string_equal(shown, name[i][1]);
		free(shown);
	}
}

static void
derived_indexes_are_no_objects(void **state)
{
	struct catalog_table t;
	struct catalog c;

	(void)state;
	S_load("CREATE TABLE t(a UNIQUE, b PRIMARY KEY);"
	       "CREATE INDEX i ON t(a);", &c, &t);
	assert_int_equal(c.nobject, 2);
	assert_string_equal(c.object[0].name, "i");
	assert_string_equal(c.object[1].name, "t");
	S_unload(&c, &t);
}

int
main(void)
{
	struct fault f;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_rowid_is_the_key_only_where_sqlite_says_so),
		cmocka_unit_test(
			table_options_are_read_behind_the_columns_only),
		cmocka_unit_test(objects_are_told_by_their_first_words),
		cmocka_unit_test(
			texts_are_the_same_but_for_blanks_comments_and_case),
		cmocka_unit_test(literals_are_known_from_expressions),
		cmocka_unit_test(defaults_are_what_sqlite_gives_old_rows),
		cmocka_unit_test(names_that_are_not_utf8_are_shown_as_such),
		cmocka_unit_test(derived_indexes_are_no_objects),
	};

	if (digest_setup(&f))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
