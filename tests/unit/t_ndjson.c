/*
 * t_ndjson.c - what is written is JSON, exact, and harmless to a terminal
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/ndjson.h"

struct sheet {
	FILE *to;
	char *text;
	size_t len;
	struct ndjson j;
};

static int
S_setup(void **state)
{
	struct sheet *s = calloc(1, sizeof(*s));
	struct fault f = FAULT_INIT;

	if (!s)
		return -1;
	s->to = open_memstream(&s->text, &s->len);
	s->j = (struct ndjson)NDJSON_INIT(s->to);
	*state = s;
	return s->to && !digest_setup(&f) ? 0 : -1;
}

static int
S_teardown(void **state)
{
	struct sheet *s = *state;

	(void)fclose(s->to);
	free(s->text);
	free(s);
	return 0;
}

static void
S_expect(struct sheet *s, const char *want)
{
	assert_int_equal(fflush(s->to), 0);
	assert_int_equal(s->len, strlen(want));
	assert_memory_equal(s->text, want, s->len);
	rewind(s->to);
	s->j.comma = false;
}

#define TEXT(tag_, lit) { .tag = (tag_), \
	.bytes = (const unsigned char *)(lit), .len = sizeof(lit) - 1 }

static void
S_cell(struct sheet *s, struct cell c, const char *want)
{
	ndjson_cell(&s->j, NULL, &c);
	S_expect(s, want);
}

static void
cells_keep_type_and_every_bit(void **state)
{
	struct sheet *s = *state;

	S_cell(s, (struct cell){ .tag = CELL_NULL }, "null");
	S_cell(s, (struct cell){ .tag = CELL_INT, .integer = INT64_MIN },
	       "[\"int\",\"-9223372036854775808\"]");
	S_cell(s, (struct cell){ .tag = CELL_INT, .integer = INT64_MAX },
	       "[\"int\",\"9223372036854775807\"]");
	S_cell(s, (struct cell){ .tag = CELL_REAL, .real = 1.5 },
	       "[\"real\",\"0x1.8p+0\"]");
	S_cell(s, (struct cell){ .tag = CELL_REAL, .real = -0.0 },
	       "[\"real\",\"-0x0p+0\"]");
	S_cell(s, (struct cell){ .tag = CELL_REAL, .real = -INFINITY },
	       "[\"real\",\"-inf\"]");
	S_cell(s, (struct cell)TEXT(CELL_TEXT, "it's"),
	       "[\"text\",\"it's\"]");
}

static void
text_that_json_can_not_carry_is_base64(void **state)
{
	struct sheet *s = *state;

	/* RFC 4648, section 10, and a NUL */
	S_cell(s, (struct cell)TEXT(CELL_TEXT8, ""), "[\"text64\",\"\"]");
	S_cell(s, (struct cell)TEXT(CELL_TEXT8, "f"),
	       "[\"text64\",\"Zg==\"]");
	S_cell(s, (struct cell)TEXT(CELL_TEXT8, "fo"),
	       "[\"text64\",\"Zm8=\"]");
	S_cell(s, (struct cell)TEXT(CELL_TEXT8, "foobar"),
	       "[\"text64\",\"Zm9vYmFy\"]");
	S_cell(s, (struct cell)TEXT(CELL_TEXT8, "\xff\xfe\xfb"),
	       "[\"text64\",\"//77\"]");
	S_cell(s, (struct cell)TEXT(CELL_TEXT, "a\0b"),
	       "[\"text64\",\"YQBi\"]");
	S_cell(s, (struct cell)TEXT(CELL_TEXT16, "\0\xd8"),
	       "[\"text16\",\"ANg=\"]");
}

static void
a_blob_and_its_sum_are_written_alike(void **state)
{
	/* FIPS 180-2, appendix B.1 */
	static const char want[] =
		"[\"blob\",{\"bytes\":3,\"sha256\":\"ba7816bf8f01cfea414140de"
		"5dae2223b00361a396177a9cb410ff61f20015ad\"}]";
	struct sheet *s = *state;
	unsigned char sum[DIGEST_BYTES];

	S_cell(s, (struct cell)TEXT(CELL_BLOB, "abc"), want);
	digest_of("abc", 3, sum);
	S_cell(s, (struct cell){ .tag = CELL_BLOBSUM, .integer = 3,
				 .bytes = sum, .len = sizeof(sum) }, want);
}

/* A parser of another hand reads each character back. */
static void
every_character_survives_a_parser(void **state)
{
	struct sheet *s = *state;
	char all[0x80 + 16];
	size_t n = 0;
	cJSON *read;

	for (int c = 1; c < 0x80; c++)
		all[n++] = (char)c;
	(void)strcpy(all + n, "\xc3\xa4\xe2\x80\xae\xc2\x9b\xf0\x9f\x98\x80");
	ndjson_open(&s->j, NULL, '{');
	ndjson_text(&s->j, all, all);
	ndjson_close(&s->j, '}');
	assert_int_equal(fflush(s->to), 0);
	for (size_t i = 0; i < s->len; i++)
		assert_true((unsigned char)s->text[i] >= 0x20 &&
			    s->text[i] != 0x7f);
	assert_null(strstr(s->text, "\xe2\x80\xae"));
	assert_null(strstr(s->text, "\xc2\x9b"));
	read = cJSON_ParseWithOpts(s->text, NULL, 1);
	assert_non_null(read);
	assert_string_equal(read->child->string, all);
	assert_string_equal(read->child->valuestring, all);
	cJSON_Delete(read);
}

static void
commas_stand_between_values_only(void **state)
{
	struct sheet *s = *state;
	struct cell blob = TEXT(CELL_BLOBSUM, "0123456789012345678901234567"
				"8901");

	ndjson_open(&s->j, NULL, '{');
	ndjson_open(&s->j, "a", '[');
	ndjson_close(&s->j, ']');
	ndjson_u64(&s->j, "b", UINT64_MAX);
	ndjson_open(&s->j, "c", '[');
	ndjson_open(&s->j, NULL, '{');
	ndjson_close(&s->j, '}');
	ndjson_cell(&s->j, NULL, &blob);
	ndjson_bool(&s->j, NULL, true);
	ndjson_close(&s->j, ']');
	ndjson_null(&s->j, "d");
	ndjson_close(&s->j, '}');
	ndjson_line(&s->j);
	ndjson_open(&s->j, NULL, '{');
	ndjson_close(&s->j, '}');
	ndjson_line(&s->j);
	S_expect(s, "{\"a\":[],\"b\":18446744073709551615,\"c\":[{},"
		 "[\"blob\",{\"bytes\":0,\"sha256\":\"3031323334353637383930313"
		 "233343536373839303132333435363738393031\"}],true],"
		 "\"d\":null}\n{}\n");
}

static void
a_name_that_is_no_utf8_is_kept_in_base64(void **state)
{
	struct sheet *s = *state;

	ndjson_open(&s->j, NULL, '{');
	ndjson_name(&s->j, "name", "good");
	ndjson_name(&s->j, "file", "\xff");
	ndjson_text(&s->j, "message", "a\xff");
	ndjson_close(&s->j, '}');
	S_expect(s, "{\"name\":\"good\",\"file64\":\"/w==\","
		 "\"message\":\"a\\\\xff\"}");
}

int
main(void)
{
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, S_setup, S_teardown)
	const struct CMUnitTest tests[] = {
		CASE(cells_keep_type_and_every_bit),
		CASE(text_that_json_can_not_carry_is_base64),
		CASE(a_blob_and_its_sum_are_written_alike),
		CASE(every_character_survives_a_parser),
		CASE(commas_stand_between_values_only),
		CASE(a_name_that_is_no_utf8_is_kept_in_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
