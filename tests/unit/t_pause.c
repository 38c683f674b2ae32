/*
 * t_pause.c - a paused process rests, and runs on whatever happens
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>

#include "capture/pause.h"
#include "capture/rights.h"
#include "capture/signals.h"
#include "tests/unit/skipped.h"
#include "tests/unit/targets.h"

#define MANY_THREADS 200
#define EXECS 400
#define NOBODY 65534

static uint64_t
S_soon(void)
{
	return clock_mono_ns() + 10 * CLOCK_NS_PER_SEC;
}

static int
S_pause(struct pause *p, pid_t pid, uint64_t deadline, struct fault *f)
{
	OWN_PROC(who);
	int rc = proc_open(pid, &who, f);

	return rc ? rc : pause_add(p, &who, deadline, f);
}

/* Paused, or the test ends here with the reason. */
static struct pause *
S_paused(pid_t pid)
{
	struct fault f = FAULT_INIT;
	struct pause *p = NULL;

	assert_int_equal(pause_new(&p, &f), 0);
	if (S_pause(p, pid, S_soon(), &f))
		fail_msg("%s", f.text);
	return p;
}

static char
S_state(pid_t pid)
{
	struct fault f = FAULT_INIT;
	struct proc_stat st = { .state = '?' };
	OWN_PROC(who);

	if (!proc_open(pid, &who, &f))
		(void)proc_stat(&who, 0, &st, &f);
	return st.state;
}

/* The state that every test starts from: one that counts. */
struct fixture {
	struct shared *s;
	pid_t pid;
};

static void
S_begin(struct fixture *x, void (*body)(struct shared *, void *), void *arg)
{
	x->s = target_shared();
	assert_non_null(x->s);
	x->pid = target_fork(body, x->s, arg);
	assert_true(x->pid > 0);
}

static void
S_finish(struct fixture *x)
{
	target_kill(x->pid);
	(void)munmap(x->s, sizeof(*x->s));
}

static void
a_paused_process_rests_and_runs_on(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;
	struct pause *p;

	(void)state;
	S_begin(&x, target_count, NULL);
	assert_true(target_advances(x.s));
	p = S_paused(x.pid);
	assert_int_equal(pause_threads(p, x.pid), 1);
	assert_false(pause_was_stopped(p, x.pid));
	assert_int_equal(pause_check(p, &f), 0);
	assert_true(target_rests(x.s));
	assert_int_equal(pause_check(p, &f), 0);
	pause_free(p);
	assert_true(target_advances(x.s));
	S_finish(&x);
}

static void
resumed_it_runs_before_the_pause_is_freed(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x[2];
	OWN_PAUSE(p);

	(void)state;
	assert_int_equal(pause_new(&p, &f), 0);
	for (int i = 0; i < 2; i++) {
		S_begin(&x[i], target_count, NULL);
		assert_int_equal(S_pause(p, x[i].pid, S_soon(), &f), 0);
	}
	pause_resume(p);
	for (int i = 0; i < 2; i++)
		assert_true(target_advances(x[i].s));
	pause_free(p);
	p = NULL;
	for (int i = 0; i < 2; i++)
		S_finish(&x[i]);
}

static void
several_processes_rest_together(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x[4];
	OWN_PAUSE(p);

	(void)state;
	assert_int_equal(pause_new(&p, &f), 0);
	for (int i = 0; i < 4; i++) {
		S_begin(&x[i], target_count, NULL);
		assert_int_equal(S_pause(p, x[i].pid, S_soon(), &f), 0);
	}
	/* Once more is no harm. */
	assert_int_equal(S_pause(p, x[0].pid, S_soon(), &f), 0);
	for (int i = 0; i < 4; i++)
		assert_true(target_rests(x[i].s));
	assert_int_equal(pause_check(p, &f), 0);
	pause_free(p);
	p = NULL;
	for (int i = 0; i < 4; i++) {
		assert_true(target_advances(x[i].s));
		S_finish(&x[i]);
	}
}

static void *
S_count_thread(void *arg)
{
	struct shared *s = arg;

	atomic_fetch_add(&s->ready, 1);
	target_count(s, NULL);
	return NULL;
}

static void *
S_idle_thread(void *arg)
{
	struct shared *s = arg;

	atomic_fetch_add(&s->ready, 1);
	for (;;)
		(void)pause();
	return NULL;
}

static void
S_many_threads(struct shared *s, void *arg)
{
	pthread_t t;

	(void)arg;
	for (int i = 0; i < MANY_THREADS; i++)
		if (pthread_create(&t, NULL,
				   i % 20 ? S_idle_thread : S_count_thread, s))
			_exit(1);
	target_count(s, NULL);
}

static void
two_hundred_threads_stop(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;
	struct pause *p;

	(void)state;
	S_begin(&x, S_many_threads, NULL);
	assert_true(BECOMES(atomic_load(&x.s->ready) == MANY_THREADS));
	p = S_paused(x.pid);
	assert_int_equal(pause_threads(p, x.pid), MANY_THREADS + 1);
	assert_true(target_rests(x.s));
	assert_int_equal(pause_check(p, &f), 0);
	pause_free(p);
	assert_true(target_advances(x.s));
	S_finish(&x);
}

static void *
S_short_thread(void *arg)
{
	struct shared *s = arg;

	atomic_fetch_add(&s->steps, 1);
	return NULL;
}

/* Threads that come and go all the time, from two threads. */
static void *
S_churn(void *arg)
{
	for (;;) {
		pthread_t t[3];

		for (int i = 0; i < 3; i++)
			if (pthread_create(&t[i], NULL, S_short_thread, arg))
				_exit(1);
		for (int i = 0; i < 3; i++)
			(void)pthread_join(t[i], NULL);
	}
	return NULL;
}

static void
S_churning(struct shared *s, void *arg)
{
	pthread_t t;

	(void)arg;
	if (pthread_create(&t, NULL, S_churn, s))
		_exit(1);
	(void)S_churn(s);
}

static void
threads_that_come_and_go_are_all_stopped(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;

	(void)state;
	S_begin(&x, S_churning, NULL);
	for (int i = 0; i < 100; i++) {
		uint64_t steps;
		struct pause *p;

		assert_true(target_advances(x.s));
		p = S_paused(x.pid);
		steps = atomic_load(&x.s->steps);
		if (i % 25 == 0)
			assert_true(target_rests(x.s));
		if (pause_check(p, &f))
			fail_msg("%s", f.text);
		assert_int_equal(atomic_load(&x.s->steps), steps);
		pause_free(p);
	}
	assert_true(target_advances(x.s));
	S_finish(&x);
}

static void
S_without_leader(struct shared *s, void *arg)
{
	pthread_t t;

	(void)arg;
	if (pthread_create(&t, NULL, S_count_thread, s))
		_exit(1);
	pthread_exit(NULL);
}

static void
a_process_whose_leader_ended_stops_too(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;
	struct pause *p;

	(void)state;
	S_begin(&x, S_without_leader, NULL);
	assert_true(BECOMES(S_state(x.pid) == 'Z'));
	p = S_paused(x.pid);
	assert_int_equal(pause_threads(p, x.pid), 1);
	assert_true(target_rests(x.s));
	assert_int_equal(pause_check(p, &f), 0);
	pause_free(p);
	assert_true(target_advances(x.s));
	S_finish(&x);
}

static void
sigcont_of_others_does_not_end_the_pause(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;
	struct pause *p;

	(void)state;
	S_begin(&x, target_count, NULL);
	p = S_paused(x.pid);
	assert_int_equal(kill(x.pid, SIGCONT), 0);
	assert_true(target_rests(x.s));
	assert_int_equal(pause_check(p, &f), 0);
	pause_free(p);
	assert_true(target_advances(x.s));
	S_finish(&x);
}

static void
S_pause_and_wait(struct shared *s, void *arg)
{
	struct fault f = FAULT_INIT;
	struct pause *p = NULL;

	if (!pause_new(&p, &f)
	    && !S_pause(p, *(pid_t *)arg, S_soon(), &f))
		atomic_store(&s->ready, 1);
	for (;;)
		(void)pause();
}

static void
the_kernel_resumes_it_when_we_are_killed(void **state)
{
	struct fixture x, pauser;

	(void)state;
	S_begin(&x, target_count, NULL);
	S_begin(&pauser, S_pause_and_wait, &x.pid);
	assert_true(BECOMES(atomic_load(&pauser.s->ready) == 1));
	assert_true(target_rests(x.s));
	S_finish(&pauser);
	assert_true(target_advances(x.s));
	S_finish(&x);
}

static void
a_process_stopped_before_stays_stopped(void **state)
{
	struct fixture x;
	struct pause *p;
	int status;

	(void)state;
	S_begin(&x, S_many_threads, NULL);
	assert_true(BECOMES(atomic_load(&x.s->ready) == MANY_THREADS));
	assert_int_equal(kill(x.pid, SIGSTOP), 0);
	assert_int_equal(waitpid(x.pid, &status, WUNTRACED), x.pid);
	assert_int_equal(S_state(x.pid), 'T');
	p = S_paused(x.pid);
	assert_true(pause_was_stopped(p, x.pid));
	assert_int_equal(S_state(x.pid), 't');
	pause_free(p);
	assert_true(BECOMES(S_state(x.pid) == 'T'));
	assert_true(target_rests(x.s));
	assert_int_equal(kill(x.pid, SIGCONT), 0);
	assert_true(target_advances(x.s));
	S_finish(&x);
}

static void
a_sigstop_that_comes_meanwhile_takes_effect_afterwards(void **state)
{
	struct fixture x;
	struct pause *p;

	(void)state;
	S_begin(&x, target_count, NULL);
	p = S_paused(x.pid);
	assert_int_equal(kill(x.pid, SIGSTOP), 0);
	assert_int_equal(S_state(x.pid), 't');
	pause_free(p);
	assert_true(BECOMES(S_state(x.pid) == 'T'));
	assert_true(target_rests(x.s));
	assert_int_equal(kill(x.pid, SIGCONT), 0);
	assert_true(target_advances(x.s));
	S_finish(&x);
}

static struct shared *handler_shared;

static void
S_on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&handler_shared->signals, 1);
}

static void
S_handling(struct shared *s, void *arg)
{
	struct sigaction act = { .sa_handler = S_on_signal };

	(void)arg;
	handler_shared = s;
	(void)sigaction(SIGUSR1, &act, NULL);
	(void)sigaction(SIGRTMIN, &act, NULL);
	atomic_store(&s->ready, 1);
	target_count(s, NULL);
}

static void
a_signal_that_comes_meanwhile_is_delivered_afterwards(void **state)
{
	struct fixture x;
	struct pause *p;

	(void)state;
	S_begin(&x, S_handling, NULL);
	assert_true(BECOMES(atomic_load(&x.s->ready) == 1));
	p = S_paused(x.pid);
	assert_int_equal(kill(x.pid, SIGUSR1), 0);
	assert_true(target_rests(x.s));
	assert_int_equal(atomic_load(&x.s->signals), 0);
	pause_free(p);
	assert_true(BECOMES(atomic_load(&x.s->signals) == 1));
	S_finish(&x);
}

#define STORM 200000

/* Queued signals: each one counts. */
static void
S_storm(struct shared *s, void *arg)
{
	pid_t pid = *(pid_t *)arg;

	while (atomic_load(&s->sent) < STORM) {
		union sigval v = { .sival_int = 0 };

		if (sigqueue(pid, SIGRTMIN, v) == 0)
			atomic_fetch_add(&s->sent, 1);
	}
	for (;;)
		(void)pause();
}

/*
 * Where a pause meets a signal on its way the thread stops at its delivery.
 * Some pausers are killed there, so that only the kernel resumes.
 */
static void
no_signal_is_lost_to_pauses_or_killed_pausers(void **state)
{
	struct fixture x, storm;

	(void)state;
	S_begin(&x, S_handling, NULL);
	assert_true(BECOMES(atomic_load(&x.s->ready) == 1));
	S_begin(&storm, S_storm, &x.pid);
	while (atomic_load(&storm.s->sent) < STORM) {
		struct fixture pauser;

		for (int i = 0; i < 20; i++)
			pause_free(S_paused(x.pid));
		S_begin(&pauser, S_pause_and_wait, &x.pid);
		assert_true(BECOMES(atomic_load(&pauser.s->ready) == 1));
		S_finish(&pauser);
	}
	assert_true(BECOMES(atomic_load(&x.s->signals) == STORM));
	S_finish(&storm);
	S_finish(&x);
}

static void
S_seize_and_wait(struct shared *s, void *arg)
{
	if (ptrace(PTRACE_SEIZE, *(pid_t *)arg, NULL, NULL) == 0)
		atomic_store(&s->ready, 1);
	for (;;)
		(void)pause();
}

static void
a_traced_process_is_refused_and_its_tracer_named(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x, tracer;
	char named[64];
	OWN_PAUSE(p);

	(void)state;
	S_begin(&x, target_count, NULL);
	S_begin(&tracer, S_seize_and_wait, &x.pid);
	assert_true(BECOMES(atomic_load(&tracer.s->ready) == 1));
	assert_int_equal(pause_new(&p, &f), 0);
	assert_int_equal(S_pause(p, x.pid, S_soon(), &f), -FAULT_REFUSED);
	(void)snprintf(named, sizeof(named), "process %d is traced already by "
		       "process %d", (int)x.pid, (int)tracer.pid);
	assert_string_equal(f.text, named);
	assert_true(strlen(f.hint) > 0);
	assert_int_equal(pause_threads(p, x.pid), 0);
	assert_true(target_advances(x.s));
	S_finish(&tracer);
	S_finish(&x);
}

/* A second pause is told the process that paused, not its thread. */
static void
two_pauses_exclude_each_other(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x, pauser;
	char named[64];
	OWN_PAUSE(p);

	(void)state;
	S_begin(&x, target_count, NULL);
	S_begin(&pauser, S_pause_and_wait, &x.pid);
	assert_true(BECOMES(atomic_load(&pauser.s->ready) == 1));
	assert_int_equal(pause_new(&p, &f), 0);
	assert_int_equal(S_pause(p, x.pid, S_soon(), &f), -FAULT_REFUSED);
	(void)snprintf(named, sizeof(named), "by process %d",
		       (int)pauser.pid);
	assert_non_null(strstr(f.text, named));
	assert_true(target_rests(x.s));
	S_finish(&pauser);
	S_finish(&x);
}

static void
S_vfork_parent(struct shared *s, void *arg)
{
	const int *pipe_fd = arg;

	(void)close(pipe_fd[1]);
	atomic_store(&s->ready, 1);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	if (vfork() == 0) {
		char c;

		(void)!read(pipe_fd[0], &c, 1);
		_exit(0);
	}
#pragma GCC diagnostic pop
	target_count(s, NULL);
}

static void
a_vfork_parent_hits_the_deadline_and_runs_on(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;
	int fd[2];
	OWN_PAUSE(p);

	(void)state;
	assert_int_equal(pipe(fd), 0);
	S_begin(&x, S_vfork_parent, fd);
	(void)close(fd[0]);
	assert_true(BECOMES(S_state(x.pid) == 'D'));
	assert_int_equal(pause_new(&p, &f), 0);
	assert_int_equal(S_pause(p, x.pid, clock_mono_ns() + 100000000, &f),
			 -FAULT_REFUSED);
	assert_non_null(strstr(f.text, "did not stop within 0.1 s (state D)"));
	assert_non_null(strstr(f.hint, "vfork"));
	/* The pause is still there; the process is free all the same. */
	(void)close(fd[1]);
	assert_true(target_advances(x.s));
	S_finish(&x);
}

static void
a_death_under_the_pause_is_noticed(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;
	OWN_PAUSE(p);

	(void)state;
	S_begin(&x, S_many_threads, NULL);
	assert_true(BECOMES(atomic_load(&x.s->ready) == MANY_THREADS));
	p = S_paused(x.pid);
	assert_int_equal(pause_check(p, &f), 0);
	assert_int_equal(kill(x.pid, SIGKILL), 0);
	assert_int_equal(pause_check(p, &f), -FAULT_UNSTABLE);
	pause_free(p);
	p = NULL;
	/* Its parent, which we are, gets the status. */
	assert_int_equal(waitpid(x.pid, NULL, 0), x.pid);
	(void)munmap(x.s, sizeof(*x.s));
}

static void
S_nothing(struct shared *s, void *arg)
{
	(void)s;
	(void)arg;
}

static void
a_process_that_ended_is_not_paused(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;
	OWN_PAUSE(p);

	(void)state;
	S_begin(&x, S_nothing, NULL);
	assert_true(BECOMES(S_state(x.pid) == 'Z'));
	assert_int_equal(pause_new(&p, &f), 0);
	assert_int_equal(S_pause(p, x.pid, S_soon(), &f), -FAULT_UNSTABLE);
	S_finish(&x);
}

static void
S_exec_again(const char *fd)
{
	(void)execl("/proc/self/exe", "t_pause", "execs", fd, (char *)NULL);
	_exit(1);
}

static const char *execs_fd;

static void *
S_exec_thread(void *arg)
{
	struct shared *s = arg;

	atomic_fetch_add(&s->steps, 1);
	for (int i = 0; i < 20; i++)
		(void)sched_yield();
	S_exec_again(execs_fd);
	return NULL;
}

/* Never the leader that calls execve: its id is taken over each time. */
static int
S_main_execs(const char *fd)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED, atoi(fd), 0);
	pthread_t t;

	if (s == MAP_FAILED)
		return 1;
	/* The thread that became the leader did not have it. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	execs_fd = fd;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&t, NULL, S_idle_thread, s))
			return 1;
	if (pthread_create(&t, NULL, S_exec_thread, s))
		return 1;
	(void)S_idle_thread(s);
	return 0;
}

static void
S_start_execs(struct shared *s, void *arg)
{
	(void)s;
	S_exec_again(arg);
}

/* A thread that calls execve waits for the others; a seize waits for it. */
static void
execve_in_a_thread_neither_hangs_us_nor_the_process(void **state)
{
	struct fault f = FAULT_INIT;
	int fd = memfd_create("steps", 0);
	struct shared *s;
	char number[16];
	pid_t pid;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, sizeof(*s)), 0);
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(s, MAP_FAILED);
	(void)snprintf(number, sizeof(number), "%d", fd);
	pid = target_fork(S_start_execs, s, number);
	for (int i = 0; i < EXECS; i++) {
		OWN_PAUSE(p);

		assert_true(BECOMES(atomic_load(&s->steps) >= (uint64_t)i / 10));
		assert_int_equal(pause_new(&p, &f), 0);
		if (S_pause(p, pid, S_soon(), &f) || pause_check(p, &f))
			fail_msg("%s", f.text);
	}
	assert_true(target_advances(s));
	target_kill(pid);
	(void)munmap(s, sizeof(*s));
	(void)close(fd);
}

static void
a_held_back_sigint_ends_the_wait_and_is_not_consumed(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;
	sigset_t one;
	int fd[2], number;
	OWN_SIGNALS(held);
	OWN_PAUSE(p);

	(void)state;
	signals_block(&held);
	assert_int_equal(pipe(fd), 0);
	S_begin(&x, S_vfork_parent, fd);
	(void)close(fd[0]);
	assert_true(BECOMES(S_state(x.pid) == 'D'));
	assert_int_equal(signals_pending(), 0);
	assert_int_equal(kill(getpid(), SIGINT), 0);
	assert_int_equal(pause_new(&p, &f), 0);
	assert_int_equal(S_pause(p, x.pid, S_soon(), &f), -FAULT_INTERRUPTED);
	assert_non_null(strstr(f.text, "SIGINT"));
	assert_int_equal(signals_pending(), SIGINT);
	(void)sigemptyset(&one);
	(void)sigaddset(&one, SIGINT);
	assert_int_equal(sigwait(&one, &number), 0);
	(void)close(fd[1]);
	assert_true(target_advances(x.s));
	S_finish(&x);
}

static void
an_ignored_sighup_stays_ignored(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	OWN_SIGNALS(held);

	(void)state;
	assert_int_equal(sigaction(SIGHUP, &ignore, &before), 0);
	signals_block(&held);
	assert_int_equal(kill(getpid(), SIGHUP), 0);
	assert_int_equal(signals_pending(), 0);
	signals_restore(&held);
	assert_int_equal(sigaction(SIGHUP, &before, NULL), 0);
}

/* Status: 0 as it should be, else where it was not. */
static void
S_try_as_nobody(struct shared *s, void *arg)
{
	struct fault f = FAULT_INIT;
	struct pause *p = NULL;

	(void)s;
	if (setresgid(NOBODY, NOBODY, NOBODY)
	    || setresuid(NOBODY, NOBODY, NOBODY))
		_exit(1);
	if (pause_new(&p, &f)
	    || S_pause(p, *(pid_t *)arg, S_soon(), &f) != -FAULT_TROUBLE)
		_exit(2);
	_exit(strstr(f.hint, "root") && strstr(f.hint, "CAP_SYS_PTRACE")
	      ? 0 : 3);
}

static void
without_the_right_the_hint_says_what_would_help(void **state)
{
	struct fixture x, nobody;
	int status;

	(void)state;
	if (geteuid() != 0)
		SKIP("needs root");
	S_begin(&x, target_count, NULL);
	S_begin(&nobody, S_try_as_nobody, &x.pid);
	assert_int_equal(waitpid(nobody.pid, &status, 0), nobody.pid);
	assert_int_equal(status, 0);
	assert_true(target_advances(x.s));
	S_finish(&x);
}

static void
the_hint_follows_from_the_circumstances(void **state)
{
	static const struct {
		struct rights rights;
		const char *word, *never;
	} table[] = {
		{ { .root = true, .may_trace = true, .in_reach = true,
		    .yama = 3 }, "next boot", "sudo" },
		{ { .in_reach = true, .user = 1234, .yama = 3 }, "next boot",
		  "sudo" },
		{ { .root = true, .may_trace = true, .in_reach = true,
		    .yama = -1 }, "security module", "sudo" },
		{ { .root = true, .user = 1234, .yama = -1 },
		  "--cap-add SYS_PTRACE", "sudo" },
		{ { .root = true, .user = 1234, .yama = -1 },
		  "uid 1234", "given up" },
		{ { .root = true, .in_reach = true, .user = 1234, .yama = -1 },
		  "this root has given up", "container" },
		{ { .same_user = true, .in_reach = true, .yama = 1 },
		  "(sudo), or give it CAP_SYS_PTRACE, or set the scope to 0",
		  "container" },
		{ { .same_user = true, .yama = 1 },
		  "--cap-add SYS_PTRACE", "sudo" },
		{ { .same_user = true, .in_reach = true, .yama = 2 },
		  "scope is 2: only who has CAP_SYS_PTRACE", "set the scope" },
		{ { .same_user = true, .yama = 2 },
		  "--cap-add SYS_PTRACE", "sudo" },
		{ { .same_user = true, .in_reach = true, .yama = 0 },
		  "not dumpable", "container" },
		{ { .same_user = true, .yama = RIGHTS_NO_YAMA },
		  "--cap-add SYS_PTRACE", "sudo" },
		{ { .in_reach = true, .user = 1234, .yama = 0 },
		  "(uid 1234): run holdfast as root (sudo), or give it "
		  "CAP_SYS_PTRACE, or run it as that user", "container" },
		{ { .in_reach = true, .user = 1234, .yama = 1 },
		  "(uid 1234): run holdfast as root (sudo)", "as that user" },
		{ { .user = 1234, .yama = RIGHTS_NO_YAMA },
		  "--cap-add SYS_PTRACE", "sudo" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct fault f = FAULT_INIT;

		(void)fault_set(&f, FAULT_TROUBLE, "no");
		assert_int_equal(rights_hint(&table[i].rights, &f),
				 -FAULT_TROUBLE);
		if (!strstr(f.hint, table[i].word) ||
		    strstr(f.hint, table[i].never))
			fail_msg("row %zu, with '%s', without '%s': %s", i,
				 table[i].word, table[i].never, f.hint);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_paused_process_rests_and_runs_on),
		cmocka_unit_test(resumed_it_runs_before_the_pause_is_freed),
		cmocka_unit_test(several_processes_rest_together),
		cmocka_unit_test(two_hundred_threads_stop),
		cmocka_unit_test(threads_that_come_and_go_are_all_stopped),
		cmocka_unit_test(a_process_whose_leader_ended_stops_too),
		cmocka_unit_test(sigcont_of_others_does_not_end_the_pause),
		cmocka_unit_test(the_kernel_resumes_it_when_we_are_killed),
		cmocka_unit_test(a_process_stopped_before_stays_stopped),
		cmocka_unit_test(
			a_sigstop_that_comes_meanwhile_takes_effect_afterwards),
		cmocka_unit_test(
			a_signal_that_comes_meanwhile_is_delivered_afterwards),
		cmocka_unit_test(no_signal_is_lost_to_pauses_or_killed_pausers),
		cmocka_unit_test(
			a_traced_process_is_refused_and_its_tracer_named),
		cmocka_unit_test(two_pauses_exclude_each_other),
		cmocka_unit_test(a_vfork_parent_hits_the_deadline_and_runs_on),
		cmocka_unit_test(a_death_under_the_pause_is_noticed),
		cmocka_unit_test(a_process_that_ended_is_not_paused),
		cmocka_unit_test(
			execve_in_a_thread_neither_hangs_us_nor_the_process),
		cmocka_unit_test(
			a_held_back_sigint_ends_the_wait_and_is_not_consumed),
		cmocka_unit_test(an_ignored_sighup_stays_ignored),
		cmocka_unit_test(
			without_the_right_the_hint_says_what_would_help),
		cmocka_unit_test(the_hint_follows_from_the_circumstances),
	};

	if (argc == 3 && !strcmp(argv[1], "execs"))
		return S_main_execs(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
