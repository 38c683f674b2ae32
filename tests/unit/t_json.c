/*
 * t_json.c - json/: what the strict reader takes and what it refuses
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "json/base64.h"
#include "json/json.h"
#include "json/write.h"

static const struct json_rules rules = {
	.bytes = 4096, .depth = 4, .values = 64, .code = FAULT_DAMAGED,
};

/* The fault's text, or "" where the text is taken. */
static const char *
S_try_bytes(const char *text, size_t n)
{
	static struct fault f;
	struct json j = JSON_INIT;
	char *exact = malloc(n + 1);
	int rc;

	/* Exactly n bytes, so that a read behind them is seen by the tools. */
	assert_non_null(exact);
	exact = realloc(exact, n ? n : 1);
	memcpy(exact, text, n);
	f = (struct fault)FAULT_INIT;
	rc = json_parse(&j, exact, n, &rules, &f);
	free(exact);
	if (rc == 0) {
		json_free(&j);
		return "";
	}
	assert_int_equal(rc, -FAULT_DAMAGED);
	assert_int_equal(f.code, FAULT_DAMAGED);
	assert_null(j.root);
	return f.text;
}

static const char *
S_try(const char *text)
{
	return S_try_bytes(text, strlen(text));
}

static void
json_is_taken(void **state)
{
	static const char *const good[] = {
		"{}", "[]", " \t\r\n0 ", "-0", "1.5e+3", "1E-2", "true",
		"false", "null", "\"\"", "\"\\u00e9\\ud83d\\ude00\\n\\/\"",
		"\"\xc3\xa9\xf0\x9f\x98\x80\"", "[1,2,[3,[4]]]",
		"{\"a\":{\"a\":1},\"A\":2}",
		"123456789012345678901234567890123456789012345678901234567890",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_string_equal(S_try(good[i]), "");
}

static void
what_is_no_json_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *fault;
	} bad[] = {
		{ "", "line 1, column 1: the text ends early" },
		{ "\xef\xbb\xbf{}",
		  "line 1, column 1: no JSON value starts like this" },
		{ "{} {}", "line 1, column 4: text behind the end" },
		{ "{}\n\n,", "line 3, column 1: text behind the end" },
		{ "[1,]", "line 1, column 4: no JSON value starts like this" },
		{ "[1\n\n2]", "line 3, column 1: no ',' or ']' here" },
		{ "{\"a\":1,}", "line 1, column 8: a key must be a string" },
		{ "{\"a\" 1}", "line 1, column 6: no ':' behind a key" },
		{ "{\"a\":1", "line 1, column 7: no ',' or '}' here" },
		{ "{1:1}", "line 1, column 2: a key must be a string" },
		{ "01", "line 1, column 2: text behind the end" },
		{ "-", "line 1, column 2: a number without digits" },
		{ "+1", "line 1, column 1: no JSON value starts like this" },
		{ ".5", "line 1, column 1: no JSON value starts like this" },
		{ "1.", "line 1, column 3: a number ends with its point" },
		{ "1e", "line 1, column 3: a number with an empty exponent" },
		{ "0x10", "line 1, column 2: text behind the end" },
		{ "NaN", "line 1, column 1: no JSON value starts like this" },
		{ "tru", "line 1, column 1: no JSON value starts like this" },
		{ "\"a", "line 1, column 3: the text ends inside a string" },
		{ "\"a\nb\"",
		  "line 1, column 3: a control character in a string" },
		{ "\"\\x41\"", "line 1, column 3: JSON has no such escape" },
		{ "\"\\u12g4\"",
		  "line 1, column 7: \\u without four hexadecimal digits" },
		{ "\"\\u12",
		  "line 1, column 4: \\u without four hexadecimal digits" },
		{ "\"\\ud800\"", "line 1, column 8: half of a surrogate pair" },
		{ "\"\\ud800\\u0041\"",
		  "line 1, column 14: half of a surrogate pair" },
		{ "\"\\udc00\"", "line 1, column 8: half of a surrogate pair" },
		{ "\"\xc0\x80\"",
		  "line 1, column 4: a string is not valid UTF-8" },
		{ "\"\xed\xa0\x80\"",
		  "line 1, column 5: a string is not valid UTF-8" },
		{ "\"\xff\"", "line 1, column 3: a string is not valid UTF-8" },
		{ "[[[[[1]]]]]", "line 1, column 5: nested too deep" },
		{ "1234567890123456789012345678901234567890123456789012345"
		  "678901", "line 1, column 62: a number of too many digits" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_string_equal(S_try(bad[i].text), bad[i].fault);
}

static void
a_nul_is_refused_in_every_spelling(void **state)
{
	(void)state;
	assert_string_equal(S_try("{\"a\\u0000b\":1}"),
			    "line 1, column 10: \\u0000 is not allowed");
	assert_string_equal(S_try("\"a\\u0000\""),
			    "line 1, column 9: \\u0000 is not allowed");
	assert_string_equal(S_try_bytes("\"a\0b\"", 5),
			    "line 1, column 3: a control character in a"
			    " string");
	assert_string_equal(S_try_bytes("{}\0", 3),
			    "line 1, column 3: text behind the end");
}

static void
a_doubled_key_is_refused_at_any_level(void **state)
{
	(void)state;
	assert_string_equal(S_try("{\"a\":1,\"b\":2,\"a\":3}"),
			    "/a: the key is there twice");
	/* the same key, spelled otherwise */
	assert_string_equal(S_try("[0,{\"x\":{\"\\u0061\":1,\"a\":3}}]"),
			    "/1/x/a: the key is there twice");
	assert_string_equal(S_try("{\"a\":1,\"A\":2}"), "");
}

static void
every_cap_holds(void **state)
{
	char text[8192];
	size_t n = 0;

	(void)state;
	memset(text, ' ', sizeof(text));
	text[0] = '1';
	assert_string_equal(S_try_bytes(text, rules.bytes), "");
	assert_string_equal(S_try_bytes(text, rules.bytes + 1),
			    "4097 bytes of JSON: the cap is 4096");
	text[n++] = '[';
	for (size_t i = 1; i < rules.values; i++) {
		text[n++] = '1';
		text[n++] = ',';
	}
	text[n - 1] = ']';
	assert_string_equal(S_try_bytes(text, n), "");
	text[n - 1] = ',';
	text[n++] = '1';
	text[n++] = ']';
	assert_string_equal(S_try_bytes(text, n),
			    "line 1, column 128: too many values");
}

static void
S_parse(struct json *j, const char *text)
{
	struct fault f = FAULT_INIT;

	assert_int_equal(json_parse(j, text, strlen(text), &rules, &f), 0);
}

static void
integers_are_exact_or_refused(void **state)
{
	struct fault f = FAULT_INIT;
	int64_t v = 0;
	OWN_JSON(j);

	(void)state;
	S_parse(&j, "{\"max\":9007199254740991,\"over\":9007199254740993,"
		"\"half\":1.5,\"huge\":1e999,\"low\":-3,\"t\":\"1\"}");
	assert_int_equal(json_get_int(&j, j.root, "max", 0, INT64_MAX, &v, &f),
			 0);
	assert_int_equal(v, 9007199254740991ll);
	assert_int_equal(json_get_int(&j, j.root, "low", -3, 3, &v, &f), 0);
	assert_int_equal(v, -3);
	assert_int_equal(json_get_int(&j, j.root, "over", 0, INT64_MAX, &v,
				      &f), -FAULT_DAMAGED);
	assert_string_equal(f.text, "/over: must be an integer");
	assert_true(json_get_int(&j, j.root, "half", 0, 9, &v, &f) < 0);
	assert_true(json_get_int(&j, j.root, "huge", 0, 9, &v, &f) < 0);
	assert_true(json_get_int(&j, j.root, "t", 0, 9, &v, &f) < 0);
	assert_string_equal(f.text, "/t: must be a number");
	assert_true(json_get_int(&j, j.root, "low", 0, 9, &v, &f) < 0);
	assert_string_equal(f.text, "/low: must be from 0 to 9");
	assert_true(json_get_int(&j, j.root, "LOW", -9, 9, &v, &f) < 0);
	assert_string_equal(f.text, "/LOW: is missing");
}

static void
whole_numbers_in_strings_have_one_spelling(void **state)
{
	static const char *const bad[] = {
		"\"\"", "\"01\"", "\"-1\"", "\"+1\"", "\" 1\"", "\"1 \"",
		"\"0x1\"", "\"18446744073709551616\"", "\"99999999999999999999\"",
		"1",
	};
	struct fault f = FAULT_INIT;
	char text[64];
	uint64_t v = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		OWN_JSON(j);

		(void)snprintf(text, sizeof(text), "{\"n\":%s}", bad[i]);
		S_parse(&j, text);
		assert_int_equal(json_get_u64_text(&j, j.root, "n", &v, &f),
				 -FAULT_DAMAGED);
	}
	{
		OWN_JSON(j);

		S_parse(&j, "{\"n\":\"18446744073709551615\",\"z\":\"0\"}");
		assert_int_equal(json_get_u64_text(&j, j.root, "n", &v, &f),
				 0);
		assert_true(v == UINT64_MAX);
		assert_int_equal(json_get_u64_text(&j, j.root, "z", &v, &f),
				 0);
		assert_true(v == 0);
	}
}

static void
unknown_keys_are_named_by_pointer(void **state)
{
	static const char *const keys[] = { "a", "b", NULL };
	struct fault f = FAULT_INIT;
	const cJSON *o = NULL;
	OWN_JSON(j);

	(void)state;
	S_parse(&j, "{\"l~/\":{\"a\":1,\"B\\n\":2}}");
	assert_int_equal(json_get_object(&j, j.root, "l~/", &o, &f), 0);
	assert_int_equal(json_only(&j, o, keys, &f), -FAULT_DAMAGED);
	assert_string_equal(f.text,
			    "/l~0~1/B\\u000a: no such key is known here,"
			    " only a, b");
}

/* What json_add_name wrote, read back: the same bytes under that key. */
static void
S_name_round(const char *bytes, size_t n, const char *key)
{
	struct fault f = FAULT_INIT;
	struct buf text = BUF_INIT(4096);
	char *back = NULL;
	size_t got = 0;
	OWN_CJSON(root);
	OWN_JSON(j);

	assert_int_equal(json_new_object(&root, &f), 0);
	assert_int_equal(json_add_name(root, "name", bytes, n, &f), 0);
	assert_int_equal(json_print(root, false, &text, &f), 0);
	assert_int_equal(json_parse(&j, text.data, text.len, &rules, &f), 0);
	assert_non_null(json_find(j.root, key));
	assert_int_equal(json_get_name(&j, j.root, "name", &back, &got, &f),
			 0);
	assert_int_equal(got, n);
	assert_memory_equal(back, bytes, n);
	free(back);
	buf_free(&text);
}

static void
names_of_any_bytes_come_back(void **state)
{
	(void)state;
	S_name_round("app.db", 6, "name");
	S_name_round("", 0, "name");
	S_name_round("a\n\"\\\x01\x7f b", 8, "name");
	S_name_round("\xc3\xa9", 2, "name");
	S_name_round("\xff", 1, "name64");
	S_name_round("\xff\xfe", 2, "name64");
	S_name_round("\xff\xfe\xfd", 3, "name64");
	S_name_round("a\0b", 3, "name64");
	S_name_round("\0", 1, "name64");
}

static void
a_name_in_two_spellings_is_refused(void **state)
{
	struct fault f = FAULT_INIT;
	char *back = NULL;
	size_t n = 0;
	OWN_JSON(j);

	(void)state;
	S_parse(&j, "{\"name\":\"a\",\"name64\":\"YQ==\"}");
	assert_int_equal(json_get_name(&j, j.root, "name", &back, &n, &f),
			 -FAULT_DAMAGED);
	assert_string_equal(f.text,
			    "/name64: stands beside name: one of the two");
}

static void
base64_has_one_spelling(void **state)
{
	static const char *const bad[] = {
		"YQ=", "YQ", "YQ==\n", " YQ=", "YR==", "Y===", "====", "YQ-_",
		"YQ==YQ==", "=Q==",
	};
	struct fault f = FAULT_INIT;
	unsigned char *raw = NULL;
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(base64_decode(bad[i], &raw, &n, &f), 1);
	assert_int_equal(base64_decode("YWI=", &raw, &n, &f), 0);
	assert_int_equal(n, 2);
	assert_memory_equal(raw, "ab", 3);
	free(raw);
}

static void
large_integers_are_printed_exactly(void **state)
{
	struct fault f = FAULT_INIT;
	struct buf text = BUF_INIT(4096);
	OWN_CJSON(root);

	(void)state;
	assert_int_equal(json_new_object(&root, &f), 0);
	assert_int_equal(json_add_int(root, "a", JSON_INT_MAX, &f), 0);
	assert_int_equal(json_add_int(root, "b", -1, &f), 0);
	assert_int_equal(json_add_u64(root, "c", UINT64_MAX, &f), 0);
	assert_int_equal(json_add_i64(root, "d", INT64_MIN, &f), 0);
	assert_int_equal(json_print(root, false, &text, &f), 0);
	assert_int_equal(buf_u8(&text, 0, &f), 0);
	assert_string_equal((char *)text.data,
			    "{\"a\":9007199254740991,\"b\":-1,"
			    "\"c\":\"18446744073709551615\","
			    "\"d\":\"-9223372036854775808\"}");
	buf_free(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_taken),
		cmocka_unit_test(what_is_no_json_is_refused_with_its_line),
		cmocka_unit_test(a_nul_is_refused_in_every_spelling),
		cmocka_unit_test(a_doubled_key_is_refused_at_any_level),
		cmocka_unit_test(every_cap_holds),
		cmocka_unit_test(integers_are_exact_or_refused),
		cmocka_unit_test(whole_numbers_in_strings_have_one_spelling),
		cmocka_unit_test(unknown_keys_are_named_by_pointer),
		cmocka_unit_test(names_of_any_bytes_come_back),
		cmocka_unit_test(a_name_in_two_spellings_is_refused),
		cmocka_unit_test(base64_has_one_spelling),
		cmocka_unit_test(large_integers_are_printed_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
