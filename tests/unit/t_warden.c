/*
 * t_warden.c - the parent's view of helpers (fakes.h), honest and not
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/own.h"
#include "tests/unit/fakes.h"
#include "tests/unit/skipped.h"
#include "warden/warden.h"

struct run {
	int rc;			/* of warden_start, or of the last read */
	struct fault f;
	struct warden_seen seen;
	unsigned frames;	/* besides HELLO and END */
	char told[512];		/* what is in the first evidence file then */
};

static int
S_word(const char *word)
{
	int fd = memfd_create("word", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, word, strlen(word)), strlen(word));
	return fd;
}

static int
S_self(void)
{
	int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int
S_read_all(struct warden *w, struct run *r)
{
	struct wire_frame fr;
	int rc;

	while ((rc = warden_next(w, &fr, &r->f)) == 0)
		r->frames++;
	if (rc == 1) {
		int64_t verdict;

		assert_int_equal(fr.type, WIRE_END);
		assert_int_equal(wire_get_int(&fr, &verdict, &r->f), 0);
		assert_int_equal(verdict, WIRE_YES);
		assert_int_equal(wire_get_done(&fr, &r->f), 0);
	}
	return rc;
}

static void
S_run_asking(struct run *r, const char *mode, const char *text,
	     const struct warden_limits *limits)
{
	struct ask ask;
	OWN_FD(evidence);
	OWN_FD(program);
	OWN_WARDEN(w);

	memset(r, 0, sizeof(*r));
	ask_init(&ask, ASK_QUERY);
	ask.text_bytes = text ? (uint32_t)strlen(text) : 0;
	evidence = S_word(mode);
	program = S_self();
	r->rc = warden_start_program(&w, program, &evidence, 1, &ask, text,
				     limits, &r->f);
	if (r->rc == 0) {
		r->seen = *warden_seen(w);
		r->rc = S_read_all(w, r);
	}
	assert_true(pread(evidence, r->told, sizeof(r->told) - 1, 0) >= 0);
}

static void
S_run(struct run *r, const char *mode)
{
	S_run_asking(r, mode, NULL, NULL);
}

static void
S_expect(const char *mode, enum fault_code code, const char *words)
{
	struct run r;

	S_run(&r, mode);
	if (r.rc != -(int)code || !strstr(r.f.text, words))
		fail_msg("%s: %d \"%s\", not %d \"%s\"", mode, r.rc, r.f.text,
			 -(int)code, words);
}

static void
an_honest_helper_is_seen_shut_in_and_heard(void **state)
{
	bool root = geteuid() == 0;
	struct run r;

	(void)state;
	S_run(&r, "honest");
	if (r.rc != 1)
		fail_msg("%s", r.f.text);
	assert_int_equal(r.frames, 2);
	assert_int_equal(r.seen.uid, root ? 65534 : getuid());
	assert_int_equal(r.seen.gid, root ? 65534 : getgid());
	assert_true(r.seen.no_new_privs);
	assert_int_equal(r.seen.seccomp, 2);
	assert_int_equal(r.seen.held, 0);
	assert_int_equal(r.seen.threads, 2);
	assert_true(r.seen.descriptors == -1 ||
		    r.seen.descriptors == EVIDENCE_FD + 1);
	if (root) {
		assert_int_equal(r.seen.capabilities, 0);
		assert_int_equal(r.seen.groups, 0);
	}
	assert_true(r.seen.ready_ns > 0);
}

static void
a_helper_without_a_jail_is_handed_nothing(void **state)
{
	(void)state;
	S_expect("without jail", FAULT_SANDBOX,
		 geteuid() ? "NoNewPrivs must be 1 and is 0"
			   : "Uid must be 65534 four times and is 0\t0\t0\t0");
}

static void
a_helper_that_kept_roots_ids_is_handed_nothing(void **state)
{
	(void)state;
	if (geteuid())
		SKIP("needs root");
	S_expect("with old ids", FAULT_SANDBOX, "Uid must be 65534");
}

static void
a_helper_without_a_filter_is_handed_nothing(void **state)
{
	(void)state;
	S_expect("without filter", FAULT_SANDBOX, "Seccomp must be 2 and is");
}

static void
a_thread_outside_the_filter_is_noticed(void **state)
{
	(void)state;
	S_expect("free thread", FAULT_SANDBOX, "Seccomp must be 2 and is");
}

static void
a_descriptor_too_many_is_noticed(void **state)
{
	struct run r;

	(void)state;
	S_run(&r, "honest");
	if (r.seen.descriptors < 0)
		SKIP("the helper's descriptors are not shown to us");
	S_expect("one descriptor more", FAULT_SANDBOX,
		 "every descriptor must be below 6 and is 6");
}

static void
a_helper_of_another_build_is_refused(void **state)
{
	(void)state;
	S_expect("another version", FAULT_TROUBLE, "0.0.0-other");
}

static void
a_helper_that_can_not_shut_itself_in_says_so(void **state)
{
	(void)state;
	S_expect("can't stand", FAULT_SANDBOX, "no filter today");
}

static void
the_greeting_comes_first(void **state)
{
	(void)state;
	S_expect("greets with a fact", FAULT_SANDBOX, "greeting");
	S_expect("greets twice", FAULT_SANDBOX, "second greeting");
}

static void
a_silent_exit_is_trouble_with_its_status(void **state)
{
	(void)state;
	S_expect("exits", FAULT_TROUBLE, "exit status 3");
}

static void
a_crash_is_trouble_and_names_the_signal(void **state)
{
	(void)state;
	/* A sanitizer reports a crash itself, and exits. */
	if (!filter_shipped)
		SKIP("needs the shipped filter");
	S_expect("crashes", FAULT_TROUBLE, "signal 11");
}

static void
a_forbidden_call_is_a_broken_sandbox(void **state)
{
	(void)state;
	if (!filter_shipped)
		SKIP("needs the shipped filter");
	S_expect("opens", FAULT_SANDBOX, "forbids");
}

static void
the_processor_limit_is_a_cap_by_name(void **state)
{
	const struct warden_limits one = { .cpu_seconds = 1,
					    .wall_seconds = 60 };
	struct run r;

	(void)state;
	S_run_asking(&r, "computes", NULL, &one);
	assert_int_equal(r.rc, -FAULT_CAP);
	assert_non_null(strstr(r.f.text, "1 s of processor time"));
	assert_non_null(strstr(r.f.hint, "--time-limit"));
}

static void
a_silent_helper_meets_the_wall_limit(void **state)
{
	const struct warden_limits one = { .wall_seconds = 1 };
	struct run r;

	(void)state;
	S_run_asking(&r, "is silent", NULL, &one);
	assert_int_equal(r.rc, -FAULT_CAP);
	assert_non_null(strstr(r.f.text, "more than 1 s"));
}

static void
a_helper_that_does_not_take_its_text_meets_the_limit(void **state)
{
	const struct warden_limits one = { .wall_seconds = 1 };
	struct run r;
	OWN_MEM(char, text);

	(void)state;
	text = malloc(ASK_TEXT_MAX + 1);
	assert_non_null(text);
	memset(text, ' ', ASK_TEXT_MAX);
	text[ASK_TEXT_MAX] = '\0';
	S_run_asking(&r, "is silent", text, &one);
	assert_int_equal(r.rc, -FAULT_CAP);
}

static void
an_answer_past_the_output_limit_is_a_cap(void **state)
{
	const struct warden_limits small = { .output = 1 << 20 };
	struct run r;

	(void)state;
	S_run_asking(&r, "says much", NULL, &small);
	assert_int_equal(r.rc, -FAULT_CAP);
	assert_non_null(strstr(r.f.text, "output limit of 1 MiB"));
	assert_non_null(strstr(r.f.hint, "--output-limit"));
}

static void
an_answer_counts_only_with_its_end(void **state)
{
	(void)state;
	S_expect("leaves early", FAULT_SANDBOX, "malformed");
	S_expect("stops inside", FAULT_SANDBOX, "inside a frame");
	S_expect("unknown frame", FAULT_SANDBOX, "malformed");
	S_expect("loses a frame", FAULT_SANDBOX, "frames are missing");
	S_expect("goes on", FAULT_SANDBOX, "behind its end");
	S_expect("fails late", FAULT_TROUBLE, "exit status 7");
}

static void
a_fault_of_the_helper_becomes_ours(void **state)
{
	struct run r;

	(void)state;
	S_run(&r, "damaged");
	assert_int_equal(r.rc, -FAULT_DAMAGED);
	assert_string_equal(r.f.text, "page 7 is torn");
	assert_string_equal(r.f.hint, "take it again");
}

static void
a_fault_that_evidence_can_not_cause_is_malformed(void **state)
{
	(void)state;
	S_expect("interrupted", FAULT_SANDBOX, "no known kind");
	S_expect("sandbox", FAULT_SANDBOX, "no known kind");
	S_expect("none", FAULT_SANDBOX, "no known kind");
	S_expect("too large", FAULT_SANDBOX, "no known kind");
}

static void
the_helper_sees_none_of_our_environment(void **state)
{
	struct run r;

	(void)state;
	assert_int_equal(setenv("HOLDFAST_HELPER", "/bin/true", 1), 0);
	S_run(&r, "environment");
	if (r.rc != 1)
		fail_msg("%s", r.f.text);
	assert_string_equal(r.told, "TZ=UTC\nLC_ALL=C\n");
}

/* The numbers of the sources are those of the targets, crossed. */
static void
evidence_arrives_in_its_order_whatever_its_numbers(void **state)
{
	static const char *const words[] = { "honest", "second", "third" };
	int fd[3], crossed[3] = { 7, 6, 5 };
	struct wire_frame fr;
	struct fault f = FAULT_INIT;
	struct ask ask;
	OWN_FD(program);
	OWN_WARDEN(w);

	(void)state;
	program = fcntl(S_self(), F_DUPFD_CLOEXEC, 20);
	for (int i = 0; i < 3; i++)
		fd[i] = fcntl(S_word(words[i]), F_DUPFD_CLOEXEC, 30);
	for (int i = 0; i < 3; i++)
		assert_int_equal(dup2(fd[i], crossed[i]), crossed[i]);
	ask_init(&ask, ASK_QUERY);
	assert_int_equal(warden_start_program(&w, program, crossed, 3, &ask,
					      NULL, NULL, &f), 0);
	assert_int_equal(warden_next(w, &fr, &f), 0);	/* text_bytes */
	for (int i = 0; i < 3; i++) {
		int64_t side;
		OWN_MEM(char, key);
		OWN_MEM(char, word);

		assert_int_equal(warden_next(w, &fr, &f), 0);
		assert_int_equal(wire_get_int(&fr, &side, &f), 0);
		assert_int_equal(wire_get_text(&fr, &key, &f), 0);
		assert_int_equal(wire_get_text(&fr, &word, &f), 0);
		assert_int_equal(side, i);
		assert_int_equal(strncmp(word, words[i], strlen(words[i])), 0);
	}
	assert_int_equal(warden_next(w, &fr, &f), 1);
	for (int i = 0; i < 3; i++) {
		assert_true(fcntl(crossed[i], F_GETFD) >= 0);
		(void)close(crossed[i]);
		(void)close(fd[i]);
	}
}

static void
S_start_silent(struct warden **w)
{
	struct fault f = FAULT_INIT;
	struct ask ask;
	OWN_FD(program);
	OWN_FD(evidence);

	ask_init(&ask, ASK_QUERY);
	program = S_self();
	evidence = S_word("is silent");
	if (warden_start_program(w, program, &evidence, 1, &ask, NULL, NULL,
				 &f))
		fail_msg("%s", f.text);
	/* Tests send signals to this number. */
	assert_true(warden_seen(*w)->pid > 1);
}

/* In the front end that will be killed: never returns. */
static void
S_start_and_wait(const char *mode, int told)
{
	int evidence[2] = { S_word(mode), told };
	int program = S_self();
	struct fault f = FAULT_INIT;
	struct warden *w = NULL;
	struct ask ask;

	ask_init(&ask, ASK_QUERY);
	if (warden_start_program(&w, program, evidence, 2, &ask, NULL, NULL,
				 &f))
		_exit(1);
	(void)!write(told, &warden_seen(w)->pid, sizeof(pid_t));
	for (;;)
		(void)pause();
}

static void
S_kill_front_end(const char *mode)
{
	struct pollfd end = { .events = POLLIN };
	int told[2], status;
	pid_t front, helper;
	OWN_FD(pidfd);

	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	front = fork();
	assert_true(front >= 0);
	if (front == 0)
		S_start_and_wait(mode, told[1]);
	(void)close(told[1]);
	assert_int_equal(read(told[0], &helper, sizeof(helper)),
			 sizeof(helper));
	assert_true(helper > 1);
	pidfd = (int)syscall(SYS_pidfd_open, helper, 0);
	assert_true(pidfd >= 0);
	end.fd = pidfd;
	assert_int_equal(poll(&end, 1, 0), 0);
	assert_int_equal(kill(front, SIGKILL), 0);
	assert_int_equal(waitpid(front, &status, 0), front);
	assert_int_equal(poll(&end, 1, 5000), 1);
	(void)close(told[0]);
}

static void
a_killed_front_end_leaves_no_helper(void **state)
{
	(void)state;
	S_kill_front_end("is silent");
}

static void
a_front_end_killed_before_the_jail_stands_leaves_no_helper(void **state)
{
	(void)state;
	S_kill_front_end("never ready");
}

static void
freeing_the_warden_kills_and_reaps_a_running_helper(void **state)
{
	struct warden *w = NULL;
	pid_t helper;

	(void)state;
	S_start_silent(&w);
	helper = warden_seen(w)->pid;
	assert_int_equal(getpgid(helper), helper);
	warden_free(w);
	assert_int_equal(kill(helper, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void
a_helper_killed_from_outside_is_a_cap_that_names_memory(void **state)
{
	struct wire_frame fr;
	struct fault f = FAULT_INIT;
	OWN_WARDEN(w);

	(void)state;
	S_start_silent(&w);
	assert_int_equal(kill(warden_seen(w)->pid, SIGKILL), 0);
	assert_int_equal(warden_next(w, &fr, &f), -FAULT_CAP);
	assert_non_null(strstr(f.text, "memory limit of 1024 MiB"));
}

static void
our_open_descriptors_do_not_grow(void **state)
{
	struct run r;
	int before, after;

	(void)state;
	before = dup(0);
	(void)close(before);
	S_run(&r, "honest");
	S_run(&r, "without filter");
	S_run(&r, "crashes");
	after = dup(0);
	(void)close(after);
	assert_int_equal(before, after);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_honest_helper_is_seen_shut_in_and_heard),
		cmocka_unit_test(a_helper_without_a_jail_is_handed_nothing),
		cmocka_unit_test(
			a_helper_that_kept_roots_ids_is_handed_nothing),
		cmocka_unit_test(a_helper_without_a_filter_is_handed_nothing),
		cmocka_unit_test(a_thread_outside_the_filter_is_noticed),
		cmocka_unit_test(a_descriptor_too_many_is_noticed),
		cmocka_unit_test(a_helper_of_another_build_is_refused),
		cmocka_unit_test(a_helper_that_can_not_shut_itself_in_says_so),
		cmocka_unit_test(the_greeting_comes_first),
		cmocka_unit_test(a_silent_exit_is_trouble_with_its_status),
		cmocka_unit_test(a_crash_is_trouble_and_names_the_signal),
		cmocka_unit_test(a_forbidden_call_is_a_broken_sandbox),
		cmocka_unit_test(the_processor_limit_is_a_cap_by_name),
		cmocka_unit_test(a_silent_helper_meets_the_wall_limit),
		cmocka_unit_test(
			a_helper_that_does_not_take_its_text_meets_the_limit),
		cmocka_unit_test(an_answer_past_the_output_limit_is_a_cap),
		cmocka_unit_test(an_answer_counts_only_with_its_end),
		cmocka_unit_test(a_fault_of_the_helper_becomes_ours),
		cmocka_unit_test(
			a_fault_that_evidence_can_not_cause_is_malformed),
		cmocka_unit_test(the_helper_sees_none_of_our_environment),
		cmocka_unit_test(
			evidence_arrives_in_its_order_whatever_its_numbers),
		cmocka_unit_test(a_killed_front_end_leaves_no_helper),
		cmocka_unit_test(
	a_front_end_killed_before_the_jail_stands_leaves_no_helper),
		cmocka_unit_test(
			freeing_the_warden_kills_and_reaps_a_running_helper),
		cmocka_unit_test(
			a_helper_killed_from_outside_is_a_cap_that_names_memory),
		cmocka_unit_test(our_open_descriptors_do_not_grow),
	};

	if (argc > 0 && strcmp(argv[0], "holdfast-recover") == 0)
		return S_helper_main();
	return cmocka_run_group_tests_name("warden", tests, NULL, NULL);
}
