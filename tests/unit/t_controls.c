/*
 * t_controls.c - the runner of the controls, on controls of this test
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "controls/bed.h"
#include "controls/bed_file.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"
#include "controls/runner.h"
#include "controls/text.h"

#define SECONDS 20u

/* The program's own registry is not linked here. */
const struct control *const registry_groups[] = { NULL };

static void
S_tell_all(struct trial *t, const char *symptom, bool held, bool naive_right,
	   bool right)
{
	trial_examined(t, 3);
	trial_predecessor(t, symptom, "naive");
	trial_product(t, held, "ours");
	trial_inverse_predecessor(t, naive_right, "naive without");
	trial_inverse_product(t, right, "ours without");
}

static void
S_good(struct trial *t)
{
	S_tell_all(t, SYMPTOM_OLD, true, true, true);
}

struct judged {
	struct findings f;
	struct verdict v;
};

static void
S_run(void (*run)(struct trial *t), unsigned seconds, struct judged *j)
{
	static struct runner r;
	struct control c = { .id = "it", .symptom = SYMPTOM_OLD, .run = run };

	if (r.seconds == 0)
		assert_int_equal(runner_init(&r, "/bin/true", SECONDS), 0);
	r.seconds = seconds;
	assert_int_equal(runner_run(&r, &c, &j->f), 0);
	findings_judge(&c, &j->f, &j->v);
}

/* Outcome, and a reason that has the word; NULL: there is no reason. */
static void
S_expect(void (*run)(struct trial *t), enum outcome outcome,
	 const char *word)
{
	struct judged j;
	bool said = word == NULL;

	S_run(run, SECONDS, &j);
	for (size_t i = 0; i < j.v.nreasons; i++) {
		if (word && strstr(j.v.reason[i], word))
			said = true;
		else if (!word)
			print_message("%s\n", j.v.reason[i]);
	}
	assert_string_equal(findings_outcome_name[j.v.outcome],
			    findings_outcome_name[outcome]);
	assert_true(said);
	assert_int_equal(j.v.nreasons > 0, word != NULL);
	findings_release(&j.v);
}

static void
one_that_shows_all_holds(void **state)
{
	(void)state;
	S_expect(S_good, OUTCOME_HELD, NULL);
}

static void
S_not_fooled(struct trial *t)
{
	S_tell_all(t, NULL, true, true, true);
}

static void
a_predecessor_that_is_not_fooled_breaks_it(void **state)
{
	(void)state;
	S_expect(S_not_fooled, OUTCOME_BROKEN, "not fooled: naive");
}

static void
S_otherwise(struct trial *t)
{
	S_tell_all(t, SYMPTOM_TORN, true, true, true);
}

static void
S_twofold(struct trial *t)
{
	S_good(t);
	trial_predecessor(t, SYMPTOM_TORN, "naive");
}

static void
a_predecessor_that_is_fooled_otherwise_breaks_it(void **state)
{
	(void)state;
	S_expect(S_otherwise, OUTCOME_BROKEN, SYMPTOM_TORN);
	S_expect(S_twofold, OUTCOME_BROKEN, "otherwise");
}

static void
S_fooled(struct trial *t)
{
	S_tell_all(t, SYMPTOM_OLD, false, true, true);
	trial_product(t, true, "ours, at last");
}

static void
a_product_that_is_fooled_once_is_fooled(void **state)
{
	(void)state;
	S_expect(S_fooled, OUTCOME_FOOLED, "fooled: ours");
}

static void
S_naive_wrong(struct trial *t)
{
	S_tell_all(t, SYMPTOM_OLD, true, false, true);
}

static void
S_ours_wrong(struct trial *t)
{
	S_tell_all(t, SYMPTOM_OLD, true, true, false);
}

static void
who_is_wrong_without_the_attack_breaks_it(void **state)
{
	(void)state;
	S_expect(S_naive_wrong, OUTCOME_BROKEN, "predecessor is wrong");
	S_expect(S_ours_wrong, OUTCOME_BROKEN, "product is wrong");
}

static void
S_silent(struct trial *t)
{
	trial_examined(t, 1);
	trial_predecessor(t, SYMPTOM_OLD, "naive");
	trial_product(t, true, "ours");
	trial_inverse_predecessor(t, true, "naive without");
}

static void
S_nothing(struct trial *t)
{
	trial_predecessor(t, SYMPTOM_OLD, "naive");
	trial_product(t, true, "ours");
	trial_inverse_predecessor(t, true, "naive without");
	trial_inverse_product(t, true, "ours without");
}

static void
what_was_not_tried_breaks_it(void **state)
{
	(void)state;
	S_expect(S_silent, OUTCOME_BROKEN, "product was not tried without");
	S_expect(S_nothing, OUTCOME_BROKEN, "nothing was examined");
}

static void
S_dies(struct trial *t)
{
	S_good(t);
	trial_die(t, "no %s", "luck");
}

static void
S_killed(struct trial *t)
{
	S_good(t);
	(void)kill(getpid(), SIGKILL);
}

static void
S_hangs(struct trial *t)
{
	S_good(t);
	for (;;)
		(void)pause();
}

static void
one_that_ends_otherwise_is_broken(void **state)
{
	struct judged j;

	(void)state;
	S_expect(S_dies, OUTCOME_BROKEN, "no luck");
	S_expect(S_killed, OUTCOME_BROKEN, "signal 9");
	S_run(S_hangs, 1, &j);
	assert_int_equal(j.v.outcome, OUTCOME_BROKEN);
	assert_non_null(strstr(j.v.reason[0], "no end within 1 s"));
	findings_release(&j.v);
}

static void
S_skips(struct trial *t)
{
	trial_skip(t, "no %s here", "moon");
}

static void
one_that_cannot_run_is_skipped_by_its_reason(void **state)
{
	struct findings f = { .skipped = "no moon here" };
	struct control c = { .id = "it", .needs = CONTROL_SQLITE3 };
	struct runner r = { .product = "/bin/true" };
	char *path = strdup(getenv("PATH"));

	(void)state;
	S_expect(S_skips, OUTCOME_SKIPPED, "no moon here");
	(void)setenv("PATH", "/nonexistent", 1);
	assert_int_equal(runner_run(&r, &c, &f), 0);
	(void)setenv("PATH", path, 1);
	free(path);
	assert_string_equal(f.skipped, "needs sqlite3");
}

/* A process that goes away from its parent, session and process group. */
static pid_t
S_stray(void)
{
	int ends[2];
	pid_t pid = -1, child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		if (setsid() > 0)
			pid = fork();
		if (pid == 0)
			for (;;)
				(void)pause();
		_exit(write(ends[1], &pid, sizeof(pid)) == sizeof(pid) ?
		      0 : 1);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	return pid;
}

static void
S_leaves_a_process(struct trial *t)
{
	S_good(t);
	trial_examined(t, (unsigned long)S_stray());
}

static void
a_process_that_stays_is_named_and_ended(void **state)
{
	struct judged j;
	char what[64];
	pid_t pid;

	(void)state;
	S_run(S_leaves_a_process, SECONDS, &j);
	pid = (pid_t)(j.f.examined - 3);
	assert_int_equal(j.v.outcome, OUTCOME_BROKEN);
	assert_int_equal(j.f.nleft, 1);
	(void)snprintf(what, sizeof(what), "process %d (t_controls)", pid);
	assert_string_equal(j.f.left[0], what);
	assert_int_equal(kill(pid, 0), -1);
	findings_release(&j.v);
}

/* The text of a side is the folder's path. */
static void
S_litters(struct trial *t)
{
	bed_mkdir(t, "sub");
	bed_fifo(t, "sub/fifo");
	bed_symlink(t, "/etc", "sub/link");
	bed_write(t, "sub/file", "x", 1);
	trial_product(t, getenv("HOME") && !getenv("HOLDFAST_T_CONTROLS"),
		      "%s", bed_folder(t));
}

static void
the_folder_is_private_and_gone_afterwards(void **state)
{
	struct judged j;

	(void)state;
	(void)setenv("HOLDFAST_T_CONTROLS", "1", 1);
	S_run(S_litters, SECONDS, &j);
	assert_true(j.f.side[FINDINGS_PRODUCT].good);
	assert_non_null(strstr(j.f.side[FINDINGS_PRODUCT].text,
			       "/holdfast-control-"));
	assert_int_equal(access(j.f.side[FINDINGS_PRODUCT].text, F_OK), -1);
	assert_int_equal(access("/etc/passwd", F_OK), 0);
	assert_int_equal(j.f.nleft, 0);
	findings_release(&j.v);
}

static void
S_works_the_bed(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	unsigned c = bed_bank(t, w, "a b.db", "wal", 3);
	const struct bed_run *r;

	trial_product(t, !strcmp(bed_sql(t, w, c, "select 1, null, 'x';"
					 " select 2"), "1||x\n2"), "rows");
	trial_product(t, !strcmp(bed_sql(t, w, c, BED_BANK_SQL),
				 "3|150|a b.db"), "bank");
	trial_product(t, bed_progress(t, w, c) == 4, "progress");
	bed_kill(t, w);
	trial_product(t, bed_exists("a b.db-wal"), "killed");
	trial_product(t, !strcmp(bed_sql_file(t, "a b.db", BED_BANK_SQL),
				 "4|150|a b.db"), "file");
	trial_product(t, !bed_exists("a b.db-wal"), "closed");
	r = bed_command(t, BED_ARGV("sh", "-c", "echo out; echo err >&2;"
				    " kill -9 $$"));
	trial_product(t, r->status == 137 && !strcmp(r->out, "out\n") &&
		      !strcmp(r->err, "err\n"), "command");
	bed_fifo(t, "fifo");
	r = bed_command_fifo(t, "fifo", BED_ARGV("cat", "fifo"));
	trial_product(t, r->late, "fifo");
	S_good(t);
}

static void
the_bed_does_what_its_header_says(void **state)
{
	(void)state;
	S_expect(S_works_the_bed, OUTCOME_HELD, NULL);
}

static void
text_from_elsewhere_becomes_one_clean_line(void **state)
{
	char out[64];

	(void)state;
	text_clean(out, sizeof(out) - 1, "a\tb\n\n c\x1b[31m");
	assert_string_equal(out, "a b c?[31m");
	text_clean(out, sizeof(out) - 1, "\xc3\xa4\xff\xed\xa0\x80\xc0\x80|");
	assert_string_equal(out, "\xc3\xa4??????|");
	text_clean(out, sizeof(out) - 1, "x\xe2\x80\xaey");
	assert_string_equal(out, "x?y");
	text_clean(out, 16, "0123456789abcdef0123");
	assert_string_equal(out, "0123456789...");
	text_clean(out, 16, "");
	assert_string_equal(out, "");
}

static void
xml_has_no_character_that_ends_a_value(void **state)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	text_xml(out, "a<b>&\"'c");
	(void)fclose(out);
	assert_string_equal(text, "a&lt;b&gt;&amp;&quot;&apos;c");
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_shows_all_holds),
		cmocka_unit_test(a_predecessor_that_is_not_fooled_breaks_it),
		cmocka_unit_test(
			a_predecessor_that_is_fooled_otherwise_breaks_it),
		cmocka_unit_test(a_product_that_is_fooled_once_is_fooled),
		cmocka_unit_test(who_is_wrong_without_the_attack_breaks_it),
		cmocka_unit_test(what_was_not_tried_breaks_it),
		cmocka_unit_test(one_that_ends_otherwise_is_broken),
		cmocka_unit_test(
			one_that_cannot_run_is_skipped_by_its_reason),
		cmocka_unit_test(a_process_that_stays_is_named_and_ended),
		cmocka_unit_test(the_folder_is_private_and_gone_afterwards),
		cmocka_unit_test(the_bed_does_what_its_header_says),
		cmocka_unit_test(text_from_elsewhere_becomes_one_clean_line),
		cmocka_unit_test(xml_has_no_character_that_ends_a_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
