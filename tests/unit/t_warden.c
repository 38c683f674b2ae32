/*
 * t_warden.c - the parent's view of helpers, honest and not
 *
 * The helpers are this program itself, started under the helper's name: the
 * first evidence file holds the word that says how it is to behave.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "base/worker.h"
#include "recover/filter.h"
#include "recover/jail.h"
#include "warden/place.h"
#include "warden/seen.h"
#include "warden/warden.h"

#define MODE_MAX 64

/* ---- the helpers ---- */

struct fake {
	struct wire wire;
	struct fault f;
	struct ask ask;
	struct worker *worker;
	struct jail_report jail;
};

static void
S_fake_must(int failed)
{
	if (failed)
		_exit(99);
}

static void
S_say_hello(struct fake *k, int protocol, const char *version)
{
	S_fake_must(wire_begin(&k->wire, WIRE_HELLO, &k->f));
	S_fake_must(cell_put_int(&k->wire.buf, protocol, &k->f));
	S_fake_must(cell_put_text(&k->wire.buf, version, &k->f));
	S_fake_must(cell_put_int(&k->wire.buf, k->jail.landlock, &k->f));
	S_fake_must(wire_end(&k->wire, &k->f));
	S_fake_must(wire_flush(&k->wire, &k->f));
}

static void
S_hello(struct fake *k)
{
	S_say_hello(k, WIRE_PROTOCOL, HOLDFAST_VERSION);
}

static void
S_take_ask(struct fake *k)
{
	size_t got;

	S_fake_must(io_read(ASK_FD, &k->ask, sizeof(k->ask), &got, &k->f));
	S_fake_must(got != sizeof(k->ask));
}

/* Jail, greeting, ask: what an honest helper does before it works. */
static void
S_stand(struct fake *k)
{
	S_fake_must(jail_drop(&k->jail, &k->f));
	S_fake_must(worker_start(&k->worker, &k->f));
	S_fake_must(jail_shut(&k->f));
	S_hello(k);
	S_take_ask(k);
}

static void
S_finish(struct fake *k)
{
	S_fake_must(wire_finish(&k->wire, WIRE_YES, &k->f));
	_exit(0);
}

static void
S_raw(const void *bytes, size_t n)
{
	struct fault f = FAULT_INIT;

	S_fake_must(io_write_all(REPLY_FD, bytes, n, &f));
}

static void
S_be_honest(struct fake *k)
{
	char word[MODE_MAX] = { 0 };

	S_stand(k);
	S_fake_must(wire_fact_int(&k->wire, 0, "text_bytes",
				  k->ask.text_bytes, &k->f));
	for (int fd = EVIDENCE_FD; pread(fd, word, MODE_MAX - 1, 0) >= 0; fd++)
		S_fake_must(wire_fact_text(&k->wire, fd - EVIDENCE_FD, "word",
					   word, &k->f));
	S_finish(k);
}

static void
S_be_without_jail(struct fake *k)
{
	S_hello(k);
	S_take_ask(k);
	S_finish(k);
}

static void
S_be_with_old_ids(struct fake *k)
{
	S_fake_must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	S_fake_must(filter_load(&k->f));
	S_be_without_jail(k);
}

static void
S_be_without_filter(struct fake *k)
{
	S_fake_must(jail_drop(&k->jail, &k->f));
	S_be_without_jail(k);
}

/* A filter that allows all, in the first thread only. */
static void
S_be_with_a_free_thread(struct fake *k)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K,
					    SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = 1, .filter = &allow };

	S_fake_must(jail_drop(&k->jail, &k->f));
	S_fake_must(worker_start(&k->worker, &k->f));
	S_fake_must((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
				 &program));
	S_be_without_jail(k);
}

static void
S_be_with_one_descriptor_more(struct fake *k)
{
	S_fake_must(dup(EVIDENCE_FD) != EVIDENCE_FD + 1);
	S_stand(k);
	S_finish(k);
}

static void
S_be_of_another_version(struct fake *k)
{
	S_say_hello(k, WIRE_PROTOCOL, "0.0.0-other");
	S_take_ask(k);
}

static void
S_fail_to_stand(struct fake *k)
{
	struct fault why = FAULT_INIT;

	(void)fault_set(&why, FAULT_SANDBOX, "no filter today");
	S_fake_must(wire_fault(&k->wire, &why, &k->f));
	S_fake_must(wire_flush(&k->wire, &k->f));
	_exit(1);
}

static void
S_greet_with_a_fact(struct fake *k)
{
	S_fake_must(wire_fact_int(&k->wire, 0, "a", 1, &k->f));
	S_finish(k);
}

static void
S_exit_at_once(struct fake *k)
{
	(void)k;
	_exit(3);
}

static void
S_crash(struct fake *k)
{
	volatile int *nowhere = NULL;

	S_stand(k);
	S_raw("\x10", 1);	/* inside a frame */
	*nowhere = 1;
}

static void
S_open_a_file(struct fake *k)
{
	S_stand(k);
	(void)open("/dev/null", O_RDONLY);
	S_finish(k);
}

static void
S_compute_for_ever(struct fake *k)
{
	volatile unsigned long n = 0;

	S_stand(k);
	for (;;)
		n++;
}

static void
S_say_nothing(struct fake *k)
{
	S_stand(k);
	for (;;)
		(void)!pread(EVIDENCE_FD, k, 0, 0);
}

static void
S_leave_before_the_end(struct fake *k)
{
	S_stand(k);
	S_fake_must(wire_fact_int(&k->wire, 0, "a", 1, &k->f));
	S_fake_must(wire_flush(&k->wire, &k->f));
	_exit(0);
}

static void
S_stop_inside_a_frame(struct fake *k)
{
	S_stand(k);
	S_raw("\x09\0\0\0\x0f\0\0\0n", 9);
	_exit(0);
}

static void
S_send_an_unknown_frame(struct fake *k)
{
	S_stand(k);
	S_raw("\0\0\0\0\x7f\0\0\0", 8);
	_exit(0);
}

static void
S_lose_a_frame(struct fake *k)
{
	S_stand(k);
	k->wire.frames++;
	S_finish(k);
}

static void
S_go_on_behind_the_end(struct fake *k)
{
	S_stand(k);
	S_fake_must(wire_finish(&k->wire, WIRE_YES, &k->f));
	S_fake_must(wire_fact_int(&k->wire, 0, "a", 1, &k->f));
	S_finish(k);
}

static void
S_fail_behind_the_end(struct fake *k)
{
	S_stand(k);
	S_fake_must(wire_finish(&k->wire, WIRE_YES, &k->f));
	_exit(7);
}

static void
S_greet_twice(struct fake *k)
{
	S_stand(k);
	S_hello(k);
	S_finish(k);
}

static void
S_say_fault(struct fake *k, int code)
{
	S_stand(k);
	S_fake_must(wire_begin(&k->wire, WIRE_FAULT, &k->f));
	S_fake_must(cell_put_int(&k->wire.buf, code, &k->f));
	S_fake_must(cell_put_text(&k->wire.buf, "page 7 is torn", &k->f));
	S_fake_must(cell_put_text(&k->wire.buf, "take it again", &k->f));
	S_fake_must(wire_end(&k->wire, &k->f));
	S_fake_must(wire_flush(&k->wire, &k->f));
	_exit(1);
}

static void
S_say_damaged(struct fake *k)
{
	S_say_fault(k, FAULT_DAMAGED);
}

static void
S_say_interrupted(struct fake *k)
{
	S_say_fault(k, FAULT_INTERRUPTED);
}

static void
S_say_sandbox(struct fake *k)
{
	S_say_fault(k, FAULT_SANDBOX);
}

static void
S_say_none(struct fake *k)
{
	S_say_fault(k, FAULT_NONE);
}

static void
S_say_too_large(struct fake *k)
{
	S_say_fault(k, FAULT_DAMAGED + 1);
}

static void
S_say_much(struct fake *k)
{
	static const char lots[8192] = { 0 };

	S_stand(k);
	for (;;) {
		S_fake_must(wire_begin(&k->wire, WIRE_PAGES, &k->f));
		S_fake_must(cell_put_int(&k->wire.buf, 0, &k->f));
		S_fake_must(cell_put_blob(&k->wire.buf, lots, sizeof(lots),
					  &k->f));
		S_fake_must(wire_end(&k->wire, &k->f));
	}
}

static void
S_tell_the_environment(struct fake *k)
{
	S_fake_must(ftruncate(EVIDENCE_FD, 0));
	S_fake_must(lseek(EVIDENCE_FD, 0, SEEK_SET) != 0);
	for (char **e = environ; *e; e++)
		S_fake_must(write(EVIDENCE_FD, *e, strlen(*e)) < 0 ||
			    write(EVIDENCE_FD, "\n", 1) < 0);
	S_stand(k);
	S_finish(k);
}

/* The second file of evidence is a pipe here. */
static void
S_never_get_ready(struct fake *k)
{
	pid_t self = getpid();

	(void)k;
	S_fake_must(write(EVIDENCE_FD + 1, &self, sizeof(self)) < 0);
	for (;;)
		(void)pause();
}

static const struct {
	const char *mode;
	void (*be)(struct fake *k);
} fakes[] = {
	{ "never ready", S_never_get_ready },
	{ "honest", S_be_honest },
	{ "without jail", S_be_without_jail },
	{ "with old ids", S_be_with_old_ids },
	{ "without filter", S_be_without_filter },
	{ "free thread", S_be_with_a_free_thread },
	{ "one descriptor more", S_be_with_one_descriptor_more },
	{ "another version", S_be_of_another_version },
	{ "can't stand", S_fail_to_stand },
	{ "greets with a fact", S_greet_with_a_fact },
	{ "exits", S_exit_at_once },
	{ "crashes", S_crash },
	{ "opens", S_open_a_file },
	{ "computes", S_compute_for_ever },
	{ "is silent", S_say_nothing },
	{ "leaves early", S_leave_before_the_end },
	{ "stops inside", S_stop_inside_a_frame },
	{ "unknown frame", S_send_an_unknown_frame },
	{ "loses a frame", S_lose_a_frame },
	{ "goes on", S_go_on_behind_the_end },
	{ "fails late", S_fail_behind_the_end },
	{ "greets twice", S_greet_twice },
	{ "damaged", S_say_damaged },
	{ "interrupted", S_say_interrupted },
	{ "sandbox", S_say_sandbox },
	{ "none", S_say_none },
	{ "too large", S_say_too_large },
	{ "says much", S_say_much },
	{ "environment", S_tell_the_environment },
};

static int
S_helper_main(void)
{
	static struct fake k;
	char mode[MODE_MAX] = { 0 };

	if (pread(EVIDENCE_FD, mode, MODE_MAX - 1, 0) < 0)
		return 98;
	wire_init(&k.wire, REPLY_FD, ASK_OUTPUT_DEFAULT);
	for (size_t i = 0; i < sizeof(fakes) / sizeof(fakes[0]); i++)
		if (strcmp(mode, fakes[i].mode) == 0)
			fakes[i].be(&k);
	return 97;
}

/* ---- the parent ---- */

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
		skip();
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
		skip();
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
	S_expect("crashes", FAULT_TROUBLE, "signal 11");
}

static void
a_forbidden_call_is_a_broken_sandbox(void **state)
{
	(void)state;
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
	if (!warden_start_program(&w, program, evidence, 2, &ask, NULL, NULL,
				  &f))
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
	(void)close(told[1]);
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

/* ---- fields of /proc/PID/status, by hand ---- */

static const struct seen_want nobody = {
	.uid = 65534, .gid = 65534, .root = true, .filters = 1,
	.descriptors = 6
};

#define STATUS(uid, gid, groups, inh, prm, eff, bnd, amb, nnp, mode, n) \
	"Name:\tholdfast-recove\nUid:\t" uid "\nGid:\t" gid "\n" \
	"FDSize:\t64\nGroups:\t" groups "\nCapInh:\t" inh "\nCapPrm:\t" prm \
	"\nCapEff:\t" eff "\nCapBnd:\t" bnd "\nCapAmb:\t" amb "\n" \
	"NoNewPrivs:\t" nnp "\nSeccomp:\t" mode "\nSeccomp_filters:\t" n "\n"
#define IDS "65534\t65534\t65534\t65534"
#define NO "0000000000000000"
#define SETUID "0000000000000080"

static const struct {
	const char *text;
	const char *says;	/* NULL: it stands */
} statuses[] = {
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, NO, "1", "2", "2"), NULL },
	{ STATUS("65534\t65534\t0\t65534", IDS, "", NO, NO, NO, NO, NO, "1",
		 "2", "2"), "Uid" },
	{ STATUS("65534\t65534\t65534\t0", IDS, "", NO, NO, NO, NO, NO, "1",
		 "2", "2"), "Uid" },
	{ STATUS("65534\t65534\t65534", IDS, "", NO, NO, NO, NO, NO, "1", "2",
		 "2"), "Uid" },
	{ STATUS(IDS, "65534\t0\t65534\t65534", "", NO, NO, NO, NO, NO, "1",
		 "2", "2"), "Gid" },
	{ STATUS(IDS, IDS, "0 ", NO, NO, NO, NO, NO, "1", "2", "2"),
	  "Groups" },
	{ STATUS(IDS, IDS, "", SETUID, NO, NO, NO, NO, "1", "2", "2"),
	  "CapInh" },
	{ STATUS(IDS, IDS, "", NO, SETUID, NO, NO, NO, "1", "2", "2"),
	  "CapPrm" },
	{ STATUS(IDS, IDS, "", NO, NO, SETUID, NO, NO, "1", "2", "2"),
	  "CapEff" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, SETUID, NO, "1", "2", "2"),
	  "CapBnd" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, SETUID, "1", "2", "2"),
	  "CapAmb" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, NO, "0", "2", "2"),
	  "NoNewPrivs" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, NO, "1", "0", "0"),
	  "Seccomp must be 2" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, NO, "1", "1", "1"),
	  "Seccomp must be 2" },
	{ STATUS(IDS, IDS, "", NO, NO, NO, NO, NO, "1", "2", "1"),
	  "more than our own 1" },
	{ "", "Uid must be 65534 four times and is not shown" },
};

static void
each_field_that_is_off_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct fault f = FAULT_INIT;
		struct warden_seen s = { 0 };
		int rc = seen_status(statuses[i].text, &nobody, &s, &f);

		if (!statuses[i].says) {
			assert_int_equal(rc, 0);
			assert_int_equal(s.threads, 1);
			assert_int_equal(s.filters, 2);
			continue;
		}
		assert_int_equal(rc, -FAULT_SANDBOX);
		if (!strstr(f.text, statuses[i].says))
			fail_msg("\"%s\" does not name %s", f.text,
				 statuses[i].says);
	}
}

static void
an_ordinary_caller_may_keep_groups_and_bounding_set(void **state)
{
	const struct seen_want us = { .uid = 1000, .gid = 1000, .filters = -1 };
	struct fault f = FAULT_INIT;
	struct warden_seen s = { 0 };
	const char *text =
		STATUS("1000\t1000\t1000\t1000", "1000\t1000\t1000\t1000",
		       "4 20 1000 ", NO, NO, NO, "000001ffffffffff", NO, "1",
		       "2", "1");

	(void)state;
	assert_int_equal(seen_status(text, &us, &s, &f), 0);
	assert_int_equal(s.groups, 3);
	assert_int_equal(s.held, 0);
	assert_true(s.capabilities == 0x1ffffffffffull);
}

static void
the_helper_is_found_beside_our_own_binary(void **state)
{
	struct fault f = FAULT_INIT;
	char path[64];

	(void)state;
	assert_int_equal(place_beside("/usr/bin/holdfast", path, sizeof(path),
				      &f), 0);
	assert_string_equal(path, "/usr/" PLACE_HELPER);
	assert_int_equal(place_beside("/bin/holdfast", path, sizeof(path), &f),
			 0);
	assert_string_equal(path, "/" PLACE_HELPER);
	assert_int_equal(place_beside("/holdfast", path, sizeof(path), &f),
			 -FAULT_TROUBLE);
	assert_int_equal(place_beside("holdfast", path, sizeof(path), &f),
			 -FAULT_TROUBLE);
	assert_int_equal(place_beside("/usr/bin/holdfast", path, 20, &f),
			 -FAULT_TROUBLE);
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
		cmocka_unit_test(each_field_that_is_off_is_named),
		cmocka_unit_test(
			an_ordinary_caller_may_keep_groups_and_bounding_set),
		cmocka_unit_test(the_helper_is_found_beside_our_own_binary),
	};

	if (argc > 0 && strcmp(argv[0], "holdfast-recover") == 0)
		return S_helper_main();
	return cmocka_run_group_tests_name("warden", tests, NULL, NULL);
}
