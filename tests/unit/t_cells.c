/*
 * t_cells.c - values for people, in CSV and in columns
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cells.h"
#include "cli/csv.h"
#include "cli/table.h"

#define TEXT(tag_, lit) { .tag = (tag_), \
	.bytes = (const unsigned char *)(lit), .len = sizeof(lit) - 1 }

static void
S_shown(struct cell c, const char *plain, const char *quoted)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	cells_put(to, &c, CELLS_SHOWN);
	assert_int_equal(fflush(to), 0);
	assert_string_equal(text, plain);
	assert_int_equal(fseeko(to, 0, SEEK_SET), 0);
	cells_put_quoted(to, &c, '\'', CELLS_SHOWN);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(text, quoted);
	free(text);
}

static void
S_csv(const struct cell *cells, size_t n, const char *want, size_t want_len)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	csv_row(to, cells, n, CELLS_EXACT);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(len, want_len);
	assert_memory_equal(text, want, len);
	free(text);
}

static void
text_is_told_from_null_and_numbers_when_quoted(void **state)
{
	(void)state;
	S_shown((struct cell){ .tag = CELL_NULL }, "NULL", "NULL");
	S_shown((struct cell)TEXT(CELL_TEXT, "NULL"), "NULL", "'NULL'");
	S_shown((struct cell){ .tag = CELL_INT, .integer = -7 }, "-7", "-7");
	S_shown((struct cell)TEXT(CELL_TEXT, "it's '"), "it's '",
		"'it''s '''");
	S_shown((struct cell)TEXT(CELL_BLOB, "\0\xff"), "x'00ff'",
		"x'00ff'");
	S_shown((struct cell)TEXT(CELL_TEXT, "a\nb"), "a\\nb", "'a\\nb'");
}

/* U+10000 as a pair, then a lone surrogate: three bytes that are no UTF-8. */
static void
invalid_utf16_loses_nothing(void **state)
{
	(void)state;
	S_shown((struct cell)TEXT(CELL_TEXT16, "\x00\xd8\x00\xdc" "a\0"
				  "\x00\xd8"),
		"\xf0\x90\x80\x80" "a\\xed\\xa0\\x80",
		"'\xf0\x90\x80\x80" "a\\xed\\xa0\\x80'");
	S_shown((struct cell)TEXT(CELL_TEXT16, "\x01\xdc" "b\0"),
		"\\xed\\xb0\\x81" "b", "'\\xed\\xb0\\x81" "b'");
}

static void
a_real_reads_back_to_the_same_bits_and_is_no_integer(void **state)
{
	static const double values[] = {
		0.1, 0.1 + 0.2, 1.0, -1.0, 1e15, 1e16, 1e100, 5e-324,
		1.7976931348623157e308, 123456789.125, 9007199254740993.0,
	};
	char text[CELLS_REAL_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		cells_real(values[i], text);
		assert_true(strtod(text, NULL) == values[i]);
		assert_non_null(strpbrk(text, ".e"));
	}
	cells_real(0.1, text);
	assert_string_equal(text, "0.1");
	cells_real(2.0, text);
	assert_string_equal(text, "2.0");
	cells_real(-0.0, text);
	assert_string_equal(text, "-0.0");
	cells_real(INFINITY, text);
	assert_string_equal(text, "Inf");
	cells_real(-INFINITY, text);
	assert_string_equal(text, "-Inf");
}

static void
csv_tells_null_from_empty_text_and_quotes_what_it_must(void **state)
{
	static const struct cell row[] = {
		{ .tag = CELL_NULL },
		TEXT(CELL_TEXT, ""),
		TEXT(CELL_TEXT, "plain"),
		TEXT(CELL_TEXT, "a,b"),
		TEXT(CELL_TEXT, "say \"hi\""),
		TEXT(CELL_TEXT, "two\nlines"),
		TEXT(CELL_TEXT, "a\rb"),
		{ .tag = CELL_INT, .integer = INT64_MIN },
		TEXT(CELL_BLOB, "\1"),
		TEXT(CELL_TEXT8, "\xff\x1b"),
		TEXT(CELL_TEXT, "n\0l"),
	};
	static const char want[] =
		",\"\",plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\","
		"\"a\rb\",-9223372036854775808,x'01',\xff\x1b,n\0l\r\n";

	(void)state;
	S_csv(row, sizeof(row) / sizeof(row[0]), want, sizeof(want) - 1);
	S_csv(row, 0, "\r\n", 2);
}

static void
columns_are_as_wide_as_their_widest_cell(void **state)
{
	static const struct cell head[] = { TEXT(CELL_TEXT, "k"),
					    TEXT(CELL_TEXT, "value") };
	static const struct cell one[] = { TEXT(CELL_TEXT, "\xc3\xa4\xc3\xb6"),
					   { .tag = CELL_NULL } };
	static const struct cell two[] = { TEXT(CELL_TEXT, "long"),
					   TEXT(CELL_TEXT, "x\ny") };
	struct fault f = FAULT_INIT;
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	OWN_TABLE(t);

	(void)state;
	assert_int_equal(table_open(&t, to, head, 2, &f), 0);
	assert_int_equal(table_row(&t, one, &f), 0);
	assert_int_equal(table_row(&t, two, &f), 0);
	table_close(&t);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(text,
			    "k     value\n"
			    "----  -----\n"
			    "\xc3\xa4\xc3\xb6    NULL\n"
			    "long  x\\ny\n");
	free(text);
}

/* More rows than are held back: none is lost, none comes twice. */
static void
a_long_table_streams_in_order(void **state)
{
	static const struct cell head[] = { TEXT(CELL_TEXT, "n") };
	struct fault f = FAULT_INIT;
	char *text = NULL, *at;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	OWN_TABLE(t);

	(void)state;
	assert_int_equal(table_open(&t, to, head, 1, &f), 0);
	for (int64_t i = 0; i < 5000; i++) {
		struct cell c = { .tag = CELL_INT, .integer = i };

		assert_int_equal(table_row(&t, &c, &f), 0);
	}
	table_close(&t);
	assert_int_equal(fclose(to), 0);
	at = strchr(strchr(text, '\n') + 1, '\n') + 1;
	for (int64_t i = 0; i < 5000; i++)
		assert_int_equal(strtoll(at, &at, 10), i);
	assert_string_equal(at, "\n");
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			text_is_told_from_null_and_numbers_when_quoted),
		cmocka_unit_test(invalid_utf16_loses_nothing),
		cmocka_unit_test(
			a_real_reads_back_to_the_same_bits_and_is_no_integer),
		cmocka_unit_test(
			csv_tells_null_from_empty_text_and_quotes_what_it_must),
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(a_long_table_streams_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
