/*
 * t_fault.c - faults as values
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/fault.h"

static void
a_fault_reads_from_the_outside_in(void **state)
{
	struct fault f = FAULT_INIT;

	(void)state;
	assert_int_equal(fault_set(&f, FAULT_REFUSED, "descriptor %d moved",
				   7), -FAULT_REFUSED);
	assert_int_equal(fault_wrap(&f, "hold %s", "-wal"), -FAULT_REFUSED);
	assert_int_equal(fault_wrap(&f, "capture"), -FAULT_REFUSED);
	assert_string_equal(f.text, "capture: hold -wal: descriptor 7 moved");
	assert_int_equal(f.code, FAULT_REFUSED);
	assert_int_equal(f.err, 0);
}

static void
a_failed_call_says_what_the_system_says(void **state)
{
	struct fault f = FAULT_INIT;

	(void)state;
	assert_int_equal(fault_sys(&f, FAULT_TROUBLE, ENOSPC, "write %s", "a"),
			 -FAULT_TROUBLE);
	assert_string_equal(f.text, "write a: No space left on device");
	assert_int_equal(f.err, ENOSPC);
	(void)fault_sys(&f, FAULT_TROUBLE, 99999, "write a");
	assert_string_equal(f.text, "write a: unknown error");
}

static void
a_new_fault_takes_no_hint_over_and_a_wrap_keeps_it(void **state)
{
	struct fault f = FAULT_INIT;

	(void)state;
	(void)fault_set(&f, FAULT_CAP, "too long");
	assert_int_equal(fault_hint(&f, "--time-limit %d", 9), -FAULT_CAP);
	(void)fault_wrap(&f, "diff");
	assert_string_equal(f.hint, "--time-limit 9");
	(void)fault_set(&f, FAULT_CAP, "too large");
	assert_string_equal(f.hint, "");
}

static void
text_that_is_too_long_is_cut_and_stays_a_string(void **state)
{
	char lots[2 * FAULT_TEXT_MAX];
	struct fault f = FAULT_INIT;

	(void)state;
	memset(lots, 'x', sizeof(lots) - 1);
	lots[sizeof(lots) - 1] = '\0';
	(void)fault_set(&f, FAULT_DAMAGED, "%s", lots);
	assert_int_equal(strlen(f.text), FAULT_TEXT_MAX - 1);
	(void)fault_wrap(&f, "outer");
	assert_int_equal(strlen(f.text), FAULT_TEXT_MAX - 1);
	assert_int_equal(strncmp(f.text, "outer: xxx", 10), 0);
	(void)fault_sys(&f, FAULT_TROUBLE, EIO, "%s", lots);
	assert_int_equal(strlen(f.text), FAULT_TEXT_MAX - 1);
	(void)fault_hint(&f, "%s", lots);
	assert_int_equal(strlen(f.hint), FAULT_HINT_MAX - 1);
}

static void
each_code_has_a_word_of_its_own(void **state)
{
	(void)state;
	for (int a = FAULT_NONE; a <= FAULT_DAMAGED; a++) {
		const char *word = fault_name((enum fault_code)a);

		assert_string_not_equal(word, "unknown");
		for (int b = FAULT_NONE; b < a; b++)
			assert_string_not_equal(
				word, fault_name((enum fault_code)b));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_reads_from_the_outside_in),
		cmocka_unit_test(a_failed_call_says_what_the_system_says),
		cmocka_unit_test(
			a_new_fault_takes_no_hint_over_and_a_wrap_keeps_it),
		cmocka_unit_test(
			text_that_is_too_long_is_cut_and_stays_a_string),
		cmocka_unit_test(each_code_has_a_word_of_its_own),
	};

	return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
