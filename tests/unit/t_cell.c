/*
 * t_cell.c - typed values as bytes, and strict text
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cell.h"

#define CAP (1u << 20)

static void
S_expect(const struct buf *b, const char *want, size_t n)
{
	assert_int_equal(b->len, n);
	assert_memory_equal(b->data, want, n);
}

#define EXPECT(b, literal) S_expect(b, literal, sizeof(literal) - 1)

static void
each_kind_has_its_documented_bytes(void **state)
{
	struct buf b = BUF_INIT(CAP);
	struct fault f = FAULT_INIT;

	(void)state;
	assert_int_equal(cell_put_null(&b, &f), 0);
	EXPECT(&b, "n");
	buf_reset(&b);
	assert_int_equal(cell_put_int(&b, -2, &f), 0);
	EXPECT(&b, "i\xfe\xff\xff\xff\xff\xff\xff\xff");
	buf_reset(&b);
	assert_int_equal(cell_put_real(&b, 1.5, &f), 0);
	EXPECT(&b, "r\0\0\0\0\0\0\xf8\x3f");	/* sign 0, exponent 0, 1.1b */
	buf_reset(&b);
	assert_int_equal(cell_put_text(&b, "hi", &f), 0);
	EXPECT(&b, "t\2\0\0\0\0\0\0\0hi");
	buf_reset(&b);
	assert_int_equal(cell_put_utf8(&b, "a\0b", 3, &f), 0);
	EXPECT(&b, "t\3\0\0\0\0\0\0\0a\0b");
	buf_reset(&b);
	assert_int_equal(cell_put_utf8(&b, "\xff", 1, &f), 0);
	EXPECT(&b, "T\1\0\0\0\0\0\0\0\xff");
	buf_reset(&b);
	assert_int_equal(cell_put_blob(&b, "", 0, &f), 0);
	EXPECT(&b, "b\0\0\0\0\0\0\0\0");
	buf_free(&b);
}

static void
a_blob_sum_holds_size_and_sha256(void **state)
{
	struct buf b = BUF_INIT(CAP);
	struct fault f = FAULT_INIT;

	(void)state;
	assert_int_equal(digest_setup(&f), 0);
	assert_int_equal(cell_put_blobsum(&b, "abc", 3, &f), 0);
	/* FIPS 180-4, example B.1 */
	EXPECT(&b, "B\3\0\0\0\0\0\0\0"
	       "\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae\x22"
	       "\x23\xb0\x03\x61\xa3\x96\x17\x7a\x9c\xb4\x10\xff\x61\xf2\x00"
	       "\x15\xad");
	buf_free(&b);
}

static void
one_and_one_point_zero_and_negative_zero_are_different_values(void **state)
{
	struct buf b = BUF_INIT(CAP);
	struct fault f = FAULT_INIT;

	(void)state;
	assert_int_equal(cell_put_int(&b, 1, &f), 0);
	assert_int_equal(cell_put_real(&b, 1.0, &f), 0);
	assert_memory_not_equal(b.data, b.data + 9, 9);
	buf_reset(&b);
	assert_int_equal(cell_put_real(&b, 0.0, &f), 0);
	assert_int_equal(cell_put_real(&b, -0.0, &f), 0);
	assert_memory_not_equal(b.data, b.data + 9, 9);
	buf_free(&b);
}

static const struct {
	const char *what, *bytes;
	size_t n;
	int rc;
} utf8[] = {
#define ROW(what, s, rc) { what, s, sizeof(s) - 1, rc }
	ROW("nothing", "", 0),
	ROW("ASCII and NUL", "a\0z", 0),
	ROW("two bytes", "\xc3\xa9", 0),
	ROW("the first of three bytes", "\xe0\xa0\x80", 0),
	ROW("below the surrogates", "\xed\x9f\xbf", 0),
	ROW("above the surrogates", "\xee\x80\x80", 0),
	ROW("the first of four bytes", "\xf0\x90\x80\x80", 0),
	ROW("the last code point", "\xf4\x8f\xbf\xbf", 0),
	ROW("behind eight of ASCII", "12345678\xc3\xa9", 0),
	ROW("a tail alone", "\x80", 1),
	ROW("over-long NUL", "\xc0\x80", 1),
	ROW("over-long slash", "\xc1\xaf", 1),
	ROW("over-long in three", "\xe0\x9f\xbf", 1),
	ROW("a surrogate", "\xed\xa0\x80", 1),
	ROW("the last surrogate", "\xed\xbf\xbf", 1),
	ROW("over-long in four", "\xf0\x8f\xbf\xbf", 1),
	ROW("past the last code point", "\xf4\x90\x80\x80", 1),
	ROW("a lead that never leads", "\xf5\x80\x80\x80", 1),
	ROW("cut after one", "\xc3", 1),
	ROW("cut after two", "\xe2\x82", 1),
	ROW("cut after three", "\xf0\x9f\x98", 1),
	ROW("a bad byte behind eight good", "12345678\xff", 1),
	ROW("a bad tail", "\xe2\x28\xa1", 1),
};

static void
text_is_valid_exactly_by_the_table_of_unicode(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(utf8) / sizeof(utf8[0]); i++)
		if (cell_utf8_check(utf8[i].bytes, utf8[i].n) != utf8[i].rc)
			fail_msg("%s: not %d", utf8[i].what, utf8[i].rc);
}

static void
utf16_is_converted_strictly(void **state)
{
	static const uint16_t text[] = { 'a', 0x20ac, 0xd83d, 0xde00, 0 };
	static const uint16_t alone[] = { 0xd800, 0x0041 };
	static const uint16_t swapped[] = { 0xdc00, 0xd800 };
	struct buf b = BUF_INIT(CAP);
	struct fault f = FAULT_INIT;

	(void)state;
	/* U+20AC is e2 82 ac, U+1F600 is f0 9f 98 80 */
	assert_int_equal(cell_put_utf16(&b, text, sizeof(text), &f), 0);
	EXPECT(&b, "t\x9\0\0\0\0\0\0\0a\xe2\x82\xac\xf0\x9f\x98\x80\0");
	buf_reset(&b);
	assert_int_equal(cell_put_utf16(&b, alone, sizeof(alone), &f), 0);
	EXPECT(&b, "W\4\0\0\0\0\0\0\0\0\xd8\x41\0");
	buf_reset(&b);
	assert_int_equal(cell_put_utf16(&b, swapped, sizeof(swapped), &f), 0);
	EXPECT(&b, "W\4\0\0\0\0\0\0\0\0\xdc\0\xd8");
	buf_reset(&b);
	assert_int_equal(cell_put_utf16(&b, text, 0, &f), 0);
	EXPECT(&b, "t\0\0\0\0\0\0\0\0");
	buf_free(&b);
}

static void
every_cell_that_is_put_is_got_back_and_put_again_the_same(void **state)
{
	struct buf b = BUF_INIT(CAP), again = BUF_INIT(CAP);
	struct fault f = FAULT_INIT;
	const unsigned char *at;
	struct cell c;
	unsigned n = 0;

	(void)state;
	assert_int_equal(digest_setup(&f), 0);
	assert_int_equal(cell_put_null(&b, &f), 0);
	assert_int_equal(cell_put_int(&b, INT64_MIN, &f), 0);
	assert_int_equal(cell_put_real(&b, -0.0, &f), 0);
	assert_int_equal(cell_put_real(&b, (double)INFINITY, &f), 0);
	assert_int_equal(cell_put_utf8(&b, "t\0t", 3, &f), 0);
	assert_int_equal(cell_put_utf8(&b, "\xff\xfe", 2, &f), 0);
	assert_int_equal(cell_put_utf16(&b, "\0\xdc", 2, &f), 0);
	assert_int_equal(cell_put_blob(&b, "\0\1\2", 3, &f), 0);
	assert_int_equal(cell_put_blobsum(&b, "\0\1\2", 3, &f), 0);
	for (at = b.data; at < b.data + b.len; n++) {
		assert_int_equal(cell_get(&at, b.data + b.len, &c, &f), 0);
		assert_int_equal(cell_put(&again, &c, &f), 0);
	}
	assert_int_equal(n, 9);
	assert_int_equal(again.len, b.len);
	assert_memory_equal(again.data, b.data, b.len);
	buf_free(&again);
	buf_free(&b);
}

static const struct {
	const char *what, *bytes;
	size_t n;
} malformed[] = {
#define BAD(what, s) { what, s, sizeof(s) - 1 }
	BAD("no byte", ""),
	BAD("an unknown tag", "x\0\0\0\0\0\0\0\0"),
	BAD("a tag of 0", "\0\0\0\0\0\0\0\0\0"),
	BAD("an integer cut short", "i\0\0\0\0\0\0\0"),
	BAD("a length cut short", "t\1\0\0\0\0\0\0"),
	BAD("a length past the end", "b\2\0\0\0\0\0\0\0x"),
	BAD("a length that wraps", "b\xff\xff\xff\xff\xff\xff\xff\xffx"),
	BAD("a sum cut short", "B\1\0\0\0\0\0\0\0\1\2\3"),
	BAD("a t that is not UTF-8", "t\1\0\0\0\0\0\0\0\xff"),
};

static void
bytes_that_are_no_cell_are_a_fault_and_nothing_moves(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		/* On the heap, so that a read past the end shows. */
		unsigned char *heap = malloc(malformed[i].n + 1);
		const unsigned char *at = heap;
		struct fault f = FAULT_INIT;
		struct cell c = { .tag = CELL_NULL };
		int rc;

		assert_non_null(heap);
		memcpy(heap, malformed[i].bytes, malformed[i].n);
		rc = cell_get(&at, heap + malformed[i].n, &c, &f);
		if (rc != -FAULT_DAMAGED || at != heap)
			fail_msg("%s: %d", malformed[i].what, rc);
		free(heap);
	}
}

static void
a_cell_that_does_not_fit_leaves_the_buffer_as_it_was(void **state)
{
	static const uint16_t many[64] = { 'a', 'b' };
	struct buf b = BUF_INIT(40);
	struct fault f = FAULT_INIT;

	(void)state;
	assert_int_equal(cell_put_int(&b, 5, &f), 0);
	assert_int_equal(cell_put_blob(&b, many, 40, &f), -FAULT_CAP);
	assert_int_equal(b.len, 9);
	assert_int_equal(cell_put_utf16(&b, many, sizeof(many), &f),
			 -FAULT_CAP);
	assert_int_equal(b.len, 9);
	buf_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_its_documented_bytes),
		cmocka_unit_test(a_blob_sum_holds_size_and_sha256),
		cmocka_unit_test(
	one_and_one_point_zero_and_negative_zero_are_different_values),
		cmocka_unit_test(text_is_valid_exactly_by_the_table_of_unicode),
		cmocka_unit_test(utf16_is_converted_strictly),
		cmocka_unit_test(
	every_cell_that_is_put_is_got_back_and_put_again_the_same),
		cmocka_unit_test(
	bytes_that_are_no_cell_are_a_fault_and_nothing_moves),
		cmocka_unit_test(
	a_cell_that_does_not_fit_leaves_the_buffer_as_it_was),
	};

	return cmocka_run_group_tests_name("cell", tests, NULL, NULL);
}
