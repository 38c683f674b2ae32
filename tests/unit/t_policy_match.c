/*
 * t_policy_match.c - a cell against a rule, beside SQLite's own functions
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <string.h>

#include "policy/glob.h"
#include "policy/match.h"

/* What SQLite answers to one expression over the arguments. */
static sqlite3_int64
S_sqlite(const char *sql, const char *a, int n, const char *b)
{
	sqlite3 *db;
	sqlite3_stmt *s;
	sqlite3_int64 v;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	(void)sqlite3_bind_text(s, 1, a, n, SQLITE_STATIC);
	if (b)
		(void)sqlite3_bind_text(s, 2, b, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	v = sqlite3_column_int64(s, 0);
	(void)sqlite3_finalize(s);
	(void)sqlite3_close(db);
	return v;
}

static void
glob_answers_as_sqlite_does(void **state)
{
	static const char *const pattern[] = {
		"", "*", "?", "a", "a*", "*a", "*a*", "a*b*c", "**", "?*?",
		"[a-c]", "[^a-c]", "[]]", "[^]]", "[]-c]", "[a-]", "[-a]",
		"[a", "[", "[a-c", "[^", "*[b]", "[a-c]*[x-z]", "a?c", "A*",
		"\xc3\xa9*", "[\xc3\xa0-\xc3\xbf]", "?\xc3\xa9", "*a*a*a*b",
		"[[]", "[*]", "[?]", "a[b]c", "[c-a]", "[a-c-e]",
	};
	static const char *const text[] = {
		"", "a", "b", "c", "]", "-", "[", "*", "?", "abc", "aXbYc",
		"aaaaaaaab", "aaaaaaaac", "\xc3\xa9", "x\xc3\xa9",
		"\xc3\xa9tude", "b-z", "^", "A", "ax", "[a", "az", "e",
		"\xf0\x9f\x98\x80",
	};

	(void)state;
	for (size_t p = 0; p < sizeof(pattern) / sizeof(*pattern); p++) {
		for (size_t t = 0; t < sizeof(text) / sizeof(*text); t++) {
			bool want = S_sqlite("SELECT ?1 GLOB ?2", text[t], -1,
					     pattern[p]);
			bool got = glob_match(pattern[p],
					      (const unsigned char *)text[t],
					      strlen(text[t]));

			if (got != want)
				fail_msg("'%s' GLOB '%s'", text[t],
					 pattern[p]);
		}
	}
}

static void
glob_looks_behind_a_nul(void **state)
{
	(void)state;
	assert_false(glob_match("pay", (const unsigned char *)"pay\0x", 5));
	assert_true(glob_match("pay*", (const unsigned char *)"pay\0x", 5));
}

static void
a_length_is_that_of_sql(void **state)
{
	static const struct {
		const char *text;
		int n;
	} some[] = {
		{ "", 0 }, { "abc", 3 }, { "a\0bc", 4 }, { "\xc3\xa9", 2 },
		{ "\xf0\x9f\x98\x80x", 5 }, { "\xff", 1 }, { "\x80\x80", 2 },
		{ "\xc3", 1 }, { "\xe2\x82", 2 }, { "a\xc3\x28", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		struct cell c = {
			.tag = CELL_TEXT8,
			.bytes = (const unsigned char *)some[i].text,
			.len = (size_t)some[i].n,
		};

		assert_int_equal(match_length(&c),
				 S_sqlite("SELECT length(?1)", some[i].text,
					  some[i].n, NULL));
	}
}

static void
add_takes_no_sum_that_overflows(void **state)
{
	static const struct {
		int64_t before, add, after;
		bool good;
	} some[] = {
		{ 1, 2, 3, true }, { 1, 2, 4, false }, { 5, -5, 0, true },
		{ INT64_MAX, 1, INT64_MIN, false },
		{ INT64_MIN, -1, INT64_MAX, false },
		{ INT64_MIN, INT64_MAX, -1, true },
	};
	struct policy p = { .nbind = 0 };
	struct match_trial t;
	struct fault f = FAULT_INIT;

	(void)state;
	assert_int_equal(match_trial_init(&t, &p, &f), 0);
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		struct policy_rule r = { .kind = POLICY_ADD,
					 .add = some[i].add };
		struct changes_cell b = { .cell = { .tag = CELL_INT,
					  .integer = some[i].before } };
		struct changes_cell a = { .cell = { .tag = CELL_INT,
					  .integer = some[i].after } };

		assert_int_equal(match_cell(&r, &b, &a, &t), some[i].good);
		assert_false(match_cell(&r, NULL, &a, &t));
	}
	match_trial_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(glob_answers_as_sqlite_does),
		cmocka_unit_test(glob_looks_behind_a_nul),
		cmocka_unit_test(a_length_is_that_of_sql),
		cmocka_unit_test(add_takes_no_sum_that_overflows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
