/*
 * t_report.c - exit statuses, their order, and faults in words and in JSON
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/report.h"
#include "cli/summary.h"
#include "tests/unit/skipped.h"

static void
each_fault_has_its_documented_status(void **state)
{
	(void)state;
	assert_int_equal(report_status(FAULT_NONE), 0);
	assert_int_equal(report_status(FAULT_USAGE), 2);
	assert_int_equal(report_status(FAULT_TROUBLE), 5);
	assert_int_equal(report_status(FAULT_CAP), 5);
	assert_int_equal(report_status(FAULT_SANDBOX), 5);
	assert_int_equal(report_status(FAULT_REFUSED), 3);
	assert_int_equal(report_status(FAULT_AMBIGUOUS), 3);
	assert_int_equal(report_status(FAULT_UNSTABLE), 3);
	assert_int_equal(report_status(FAULT_DAMAGED), 4);
}

static void
the_earlier_status_in_the_documented_order_counts(void **state)
{
	static const int order[] = { 2, 5, 3, 4, 1, 6, 0 };

	(void)state;
	for (size_t i = 0; i < 7; i++)
		for (size_t k = 0; k < 7; k++)
			assert_int_equal(
				report_worst((enum cli_status)order[i],
					     (enum cli_status)order[k]),
				order[i < k ? i : k]);
}

static void
a_fault_is_two_lines_whatever_names_it_holds(void **state)
{
	struct fault f = FAULT_INIT;
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	(void)state;
	assert_non_null(to);
	(void)fault_set(&f, FAULT_REFUSED, "a\nb\x1b[2J: moved");
	(void)fault_hint(&f, "try %s", "again");
	report_fault(to, &f);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(text, "holdfast: a\\nb\\x1b[2J: moved\n"
				  "  try again\n");
	free(text);
}

static void
a_fault_in_json_carries_status_and_reason(void **state)
{
	struct fault f = FAULT_INIT;
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	(void)state;
	assert_non_null(to);
	(void)fault_set(&f, FAULT_AMBIGUOUS, "two \"mains\"\n");
	report_fault_json(to, &f);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(text,
			    "{\"kind\":\"error\",\"exit\":3,"
			    "\"reason\":\"ambiguous\","
			    "\"message\":\"two \\\"mains\\\"\\n\","
			    "\"hint\":\"\"}\n");
	free(text);
}

static void
what_was_not_checked_is_never_a_plain_yes(void **state)
{
	struct note note = { .what = (char *)"x", .why = (char *)"y\nz" };
	const struct notes none = NOTES_INIT;
	const struct notes one = { .note = &note, .count = 1 };
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	(void)state;
	assert_non_null(to);
	assert_int_equal(summary_status(&none), 0);
	assert_int_equal(summary_status(&one), 6);
	summary_notes(to, &one);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(text, "not checked: x: y\\nz\n");
	free(text);
}

static void
a_write_to_a_full_disk_is_trouble(void **state)
{
	struct fault f = FAULT_INIT;
	FILE *to = fopen("/dev/full", "w");

	(void)state;
	if (!to)
		SKIP("needs /dev/full");
	assert_int_equal(report_written(to, &f), 0);
	(void)fputc('x', to);
	(void)fflush(to);
	assert_int_equal(report_written(to, &f), -FAULT_TROUBLE);
	assert_non_null(strstr(f.text, "No space left"));
	(void)fclose(to);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fault_has_its_documented_status),
		cmocka_unit_test(
			the_earlier_status_in_the_documented_order_counts),
		cmocka_unit_test(a_fault_is_two_lines_whatever_names_it_holds),
		cmocka_unit_test(a_fault_in_json_carries_status_and_reason),
		cmocka_unit_test(what_was_not_checked_is_never_a_plain_yes),
		cmocka_unit_test(a_write_to_a_full_disk_is_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
