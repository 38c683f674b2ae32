/*
 * t_args.c - options: what is taken, what is refused, what help says
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define WORDS_MAX 16

/* Splits line (of words and single blanks) and parses it. */
static int
S_parse(const struct args_usage *u, const char *line, struct args *a,
	char *copy, struct fault *f)
{
	static char *argv[WORDS_MAX + 1];
	int argc = 0;

	(void)strcpy(copy, line);
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " ")) {
		assert_true(argc < WORDS_MAX);
		argv[argc++] = w;
	}
	argv[argc] = NULL;
	args_init(a);
	return args_parse(u, argc, argv, a, f);
}

static void
S_refuse(const struct args_usage *u, const char *line, const char *word)
{
	struct fault f = FAULT_INIT;
	char copy[512];
	OWN_ARGS(a);

	assert_int_equal(S_parse(u, line, &a, copy, &f), -FAULT_USAGE);
	assert_non_null(strstr(f.text, word));
	assert_non_null(strstr(f.hint, "--help'"));
}

static void
options_may_stand_before_and_behind_operands(void **state)
{
	struct fault f = FAULT_INIT;
	char copy[512];
	OWN_ARGS(a);

	(void)state;
	assert_int_equal(S_parse(&capture_usage,
				 "capture --pid 7 app.db -o out --pid=9"
				 " --journal refuse --timeout 0.5 --force",
				 &a, copy, &f), 0);
	assert_int_equal(a.npids, 2);
	assert_int_equal(a.pids[0], 7);
	assert_int_equal(a.pids[1], 9);
	assert_string_equal(a.output, "out");
	assert_int_equal(a.noperands, 1);
	assert_string_equal(a.operand[0], "app.db");
	assert_true(a.refuse_journal);
	assert_true(a.force);
	assert_false(a.json);
	assert_true(a.timeout_s == 0.5);
	assert_true(a.max_pause_s == 30.0);
}

static void
two_dashes_end_the_options(void **state)
{
	struct fault f = FAULT_INIT;
	char copy[512];
	OWN_ARGS(a);

	(void)state;
	assert_int_equal(S_parse(&query_usage, "query p -- --x", &a, copy,
				 &f), 0);
	assert_string_equal(a.operand[1], "--x");
}

static void
limits_are_in_bytes_and_seconds(void **state)
{
	struct fault f = FAULT_INIT;
	char copy[512];
	OWN_ARGS(a);

	(void)state;
	assert_int_equal(S_parse(&recover_usage,
				 "recover --memory-limit 64 --time-limit 3"
				 " --output-limit 2 --view live p",
				 &a, copy, &f), 0);
	assert_int_equal(a.memory_limit, 64ull * 1024 * 1024);
	assert_int_equal(a.output_limit, 2ull * 1024 * 1024);
	assert_int_equal(a.cpu_seconds, 3);
	assert_true(a.live);
}

static void
wrong_words_are_named(void **state)
{
	(void)state;
	S_refuse(&capture_usage, "capture", "DB");
	S_refuse(&capture_usage, "capture a b", "b");
	S_refuse(&capture_usage, "capture --nonsense a", "--nonsense");
	S_refuse(&capture_usage, "capture -x a", "-x");
	S_refuse(&capture_usage, "capture a --pid", "--pid");
	S_refuse(&capture_usage, "capture --csv a", "--csv");
	S_refuse(&capture_usage, "capture --check=1 a", "--check");
	S_refuse(&export_usage, "export p", "-o FILE");
	S_refuse(&verify_usage, "verify a b", "--unchanged");
	S_refuse(&query_usage, "query --json --csv a b", "exclude");
	S_refuse(&diff_usage, "diff a", "BEFORE AFTER");
}

static void
values_out_of_range_are_refused(void **state)
{
	(void)state;
	S_refuse(&capture_usage, "capture --pid 0 a", "--pid 0");
	S_refuse(&capture_usage, "capture --pid -1 a", "--pid -1");
	S_refuse(&capture_usage, "capture --pid 1x a", "--pid 1x");
	S_refuse(&capture_usage, "capture --pid +7 a", "--pid +7");
	S_refuse(&capture_usage, "capture --pid 2147483648 a", "--pid");
	S_refuse(&capture_usage, "capture --timeout x a", "--timeout x");
	S_refuse(&capture_usage, "capture --timeout 0 a", "--timeout 0");
	S_refuse(&capture_usage, "capture --timeout nan a", "--timeout nan");
	S_refuse(&capture_usage, "capture --timeout 1e999 a", "1e999");
	S_refuse(&capture_usage, "capture --timeout 1s a", "1s");
	S_refuse(&capture_usage, "capture --timeout inf a", "--timeout inf");
	S_refuse(&capture_usage, "capture --max-pause -1 a", "--max-pause");
	S_refuse(&capture_usage, "capture --journal x a", "--journal x");
	S_refuse(&recover_usage, "recover --view x a", "--view x");
	S_refuse(&recover_usage, "recover --memory-limit 0 a", "limit 0");
	S_refuse(&recover_usage, "recover --time-limit 99999999999 a",
		 "--time-limit");
}

static void
an_id_of_another_shape_is_wrong_usage(void **state)
{
	struct fault f = FAULT_INIT;
	char copy[512];
	OWN_ARGS(a);

	(void)state;
	S_refuse(&recover_usage, "recover --expect-id zz p", "zz");
	S_refuse(&recover_usage, "recover --expect-id A" ID " p", "A");
	assert_int_equal(S_parse(&diff_usage,
				 "diff --expect-id " ID " --expect-id " ID
				 " a b", &a, copy, &f), 0);
	assert_int_equal(a.nexpected, 2);
	S_refuse(&diff_usage, "diff --expect-id " ID " --expect-id " ID
		 " --expect-id " ID " a b", "--expect-id");
}

static void
verify_takes_one_policy_or_none(void **state)
{
	(void)state;
	S_refuse(&verify_usage, "verify a b", "--policy or --unchanged");
	S_refuse(&verify_usage, "verify --policy p --unchanged a b",
		 "exclude each other");
	S_refuse(&verify_usage, "verify --unchanged --bind x=1 a b",
		 "--bind is for a --policy");
	S_refuse(&verify_usage, "verify --policy p --policy q a b", "once");
	S_refuse(&diff_usage, "diff --policy p a b", "no such option");
}

static void
help_wins_over_what_comes_behind_it(void **state)
{
	struct fault f = FAULT_INIT;
	char copy[512];
	OWN_ARGS(a);

	(void)state;
	assert_int_equal(S_parse(&capture_usage, "capture --help", &a, copy,
				 &f), 1);
	assert_int_equal(S_parse(&capture_usage, "capture -h --nonsense", &a,
				 copy, &f), 1);
}

static void
json_is_wanted_only_by_an_option(void **state)
{
	char *yes[] = { "holdfast", "query", "--json", "--nonsense" };
	char *no[] = { "holdfast", "query", "--", "--json" };

	(void)state;
	assert_true(args_want_json(4, yes));
	assert_false(args_want_json(4, no));
}

static void
help_is_at_most_eighty_columns_wide(void **state)
{
	static const struct args_usage *const all[] = {
		&capture_usage, &recover_usage, &query_usage, &export_usage,
		&diff_usage, &verify_usage, &version_usage,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char *text = NULL, *save = NULL;
		size_t len;
		FILE *to = open_memstream(&text, &len);

		assert_non_null(to);
		args_print_help(all[i], to);
		assert_int_equal(fclose(to), 0);
		for (char *l = strtok_r(text, "\n", &save); l;
		     l = strtok_r(NULL, "\n", &save))
			assert_true(strlen(l) <= 80);
		free(text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_may_stand_before_and_behind_operands),
		cmocka_unit_test(two_dashes_end_the_options),
		cmocka_unit_test(limits_are_in_bytes_and_seconds),
		cmocka_unit_test(wrong_words_are_named),
		cmocka_unit_test(values_out_of_range_are_refused),
		cmocka_unit_test(an_id_of_another_shape_is_wrong_usage),
		cmocka_unit_test(verify_takes_one_policy_or_none),
		cmocka_unit_test(help_wins_over_what_comes_behind_it),
		cmocka_unit_test(json_is_wanted_only_by_an_option),
		cmocka_unit_test(help_is_at_most_eighty_columns_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
