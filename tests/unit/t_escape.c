/*
 * t_escape.c - nothing from the evidence steers a terminal
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/escape.h"

static void
S_expect(const char *bytes, size_t n, const char *want)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	escape_put(to, bytes, n);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(text, want);
	assert_int_equal(len, strlen(want));
	free(text);
}

#define EXPECT(bytes, want) S_expect(bytes, sizeof(bytes) - 1, want)

static void
plain_text_of_any_script_stays_as_it_is(void **state)
{
	(void)state;
	EXPECT("", "");
	EXPECT("a 'b' \\ c", "a 'b' \\ c");
	EXPECT("n\xc3\xa4 \xe6\xbc\xa2 \xf0\x9f\x98\x80",
	       "n\xc3\xa4 \xe6\xbc\xa2 \xf0\x9f\x98\x80");
}

static void
a_line_stays_one_line(void **state)
{
	(void)state;
	EXPECT("a\nb\rc\td", "a\\nb\\rc\\td");
	EXPECT("a\xe2\x80\xa8" "b\xe2\x80\xa9" "c", "a\\u2028b\\u2029c");
}

static void
control_characters_are_shown_not_sent(void **state)
{
	(void)state;
	EXPECT("\x1b[31m\x7f", "\\x1b[31m\\x7f");
	EXPECT("\0", "\\x00");
	/* U+009B is a CSI of one character. */
	EXPECT("\xc2\x9b" "31m", "\\u009b31m");
	EXPECT("\xc2\xa0", "\xc2\xa0");
}

/* Every bidirectional control, and its neighbours that are none. */
static void
bidirectional_controls_are_shown_not_sent(void **state)
{
	static const unsigned bad[] = {
		0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e,
		0x2066, 0x2067, 0x2068, 0x2069,
	};
	static const unsigned good[] = { 0x61b, 0x200d, 0x2010, 0x2027,
					 0x202f, 0x2065, 0x206a };
	char utf8[8], want[16];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		unsigned c = bad[i];

		if (c < 0x800)
			(void)snprintf(utf8, sizeof(utf8), "%c%c",
				       (int)(0xc0 | c >> 6),
				       (int)(0x80 | (c & 63)));
		else
			(void)snprintf(utf8, sizeof(utf8), "%c%c%c",
				       (int)(0xe0 | c >> 12),
				       (int)(0x80 | (c >> 6 & 63)),
				       (int)(0x80 | (c & 63)));
		(void)snprintf(want, sizeof(want), "\\u%04x", c);
		S_expect(utf8, strlen(utf8), want);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		unsigned code;
		int unsafe = 1;

		(void)snprintf(utf8, sizeof(utf8), "%c%c%c",
			       (int)(0xe0 | good[i] >> 12),
			       (int)(0x80 | (good[i] >> 6 & 63)),
			       (int)(0x80 | (good[i] & 63)));
		if (good[i] < 0x800)
			(void)strcpy(utf8, "\xd8\x9b");
		assert_true(escape_char((unsigned char *)utf8, strlen(utf8),
					&code, &unsafe) > 0);
		assert_int_equal(code, good[i]);
		assert_false(unsafe);
	}
}

static void
bytes_that_are_no_utf8_are_shown_one_by_one(void **state)
{
	(void)state;
	EXPECT("a\xff" "b", "a\\xffb");
	EXPECT("\x80", "\\x80");
	/* cut short, over-long, a surrogate */
	EXPECT("\xe6\xbc", "\\xe6\\xbc");
	EXPECT("\xc0\xaf", "\\xc0\\xaf");
	EXPECT("\xed\xa0\x80", "\\xed\\xa0\\x80");
	EXPECT("\xff\xc3\xa4", "\\xff\xc3\xa4");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_of_any_script_stays_as_it_is),
		cmocka_unit_test(a_line_stays_one_line),
		cmocka_unit_test(control_characters_are_shown_not_sent),
		cmocka_unit_test(bidirectional_controls_are_shown_not_sent),
		cmocka_unit_test(bytes_that_are_no_utf8_are_shown_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
