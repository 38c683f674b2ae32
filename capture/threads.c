/*
 * threads.c - stops every thread of one process by ptrace
 *
 * 1. Seize and interrupt every thread of /proc/PID/task that is not known.
 * 2. Wait until each known one is stopped, or gone.
 * 3. Again from 1, until a listing made while all known were stopped shows
 *    no other: a stopped thread starts none.
 *
 * A stop is looked at without taking it (WNOWAIT): the kernel then still
 * has the signal that a thread stopped at, and delivers it even if we die.
 */
#include "capture/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "capture/seize.h"
#include "capture/signals.h"

/*
 * Stops announce themselves by SIGCHLD, but many at once by a single one,
 * and a thread that does not block it may take it: look again at times.
 */
#define THREADS_LOOK_NS 5000000u
#define EVENT(status) ((status) >> 8)
#define SIGNAL_OF(status) ((status) & 0xff)

enum state {
	RUNNING,		/* seized and interrupted */
	STOPPED,
	GONE,
};

struct thread {
	pid_t tid;
	enum state state;
	int signal;		/* STOPPED while this was delivered, or 0 */
	unsigned seen;		/* the last listing that showed it */
};

struct threads {
	struct proc who;
	struct thread *thread;
	size_t count, room;
	size_t hint;		/* listings keep their order */
	unsigned listing;
	bool were_stopped;
	uint64_t deadline_ns, total_ns;
	struct proc_list list;
};

int
threads_new(struct threads **t, const struct proc *who, struct fault *f)
{
	struct threads *made = calloc(1, sizeof(*made));
	int rc;

	if (!made)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	rc = proc_copy(who, &made->who, f);
	if (rc)
		free(made);
	else
		*t = made;
	return rc;
}

void
threads_free(struct threads *t)
{
	proc_close(&t->who);
	free(t->thread);
	free(t);
}

const struct proc *
threads_of(const struct threads *t)
{
	return &t->who;
}

unsigned
threads_stopped(const struct threads *t)
{
	unsigned n = 0;

	for (size_t i = 0; i < t->count; i++)
		n += t->thread[i].state == STOPPED;
	return n;
}

bool
threads_were_stopped(const struct threads *t)
{
	return t->were_stopped;
}

static struct thread *
S_lookup(struct threads *t, pid_t tid)
{
	for (size_t i = 0; i < t->count; i++) {
		size_t at = (t->hint + i) % t->count;

		if (t->thread[at].tid == tid) {
			t->hint = at + 1;
			return &t->thread[at];
		}
	}
	return NULL;
}

static int
S_remember(struct threads *t, pid_t tid, struct thread **th, struct fault *f)
{
	if (t->count == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		struct thread *grown = reallocarray(t->thread, room,
						    sizeof(*grown));

		if (!grown)
			return fault_set(f, FAULT_TROUBLE, "out of memory");
		t->thread = grown;
		t->room = room;
	}
	*th = &t->thread[t->count++];
	**th = (struct thread){ .tid = tid, .state = GONE };
	return 0;
}

static void
S_interrupt(struct thread *th)
{
	/* One that ended meanwhile is found out when it is waited for. */
	(void)ptrace(PTRACE_INTERRUPT, th->tid, NULL, NULL);
	th->state = RUNNING;
	th->signal = 0;
}

static int
S_seize(const struct threads *t, struct thread *th, struct fault *f)
{
	int rc = seize_thread(&t->who, th->tid, f);

	if (rc == 0)
		S_interrupt(th);
	else if (rc == 1)
		th->state = GONE;
	return rc < 0 ? rc : 0;
}

/* Known, and stopped or about to: nothing to do for a listing. */
static bool
S_mark(struct threads *t, struct thread *th)
{
	char state;

	if (!th)
		return false;
	th->seen = t->listing;
	return th->state != GONE || seize_is_dead(&t->who, th->tid, &state);
}

static int
S_meet(struct threads *t, pid_t tid, bool seize, bool *fresh, struct fault *f)
{
	struct thread *th = S_lookup(t, tid);
	int rc;

	if (S_mark(t, th)) {
		/* It may have started others after this listing. */
		if (th->state == RUNNING)
			*fresh = true;
		return 0;
	}
	if (!seize)
		return fault_set(f, FAULT_UNSTABLE,
				 "process %d: thread %d is new while paused",
				 (int)t->who.pid, (int)tid);
	rc = th ? 0 : S_remember(t, tid, &th, f);
	if (rc)
		return rc;
	th->seen = t->listing;
	*fresh = true;
	return S_seize(t, th, f);
}

/* A listing may miss a thread while others end: the kernel's count tells. */
static int
S_count_agrees(const struct threads *t, long listed, bool *agrees,
	       struct fault *f)
{
	struct proc_stat s;
	int rc = proc_stat(&t->who, 0, &s, f);

	if (rc == 1)
		return proc_same(&t->who, f);
	*agrees = !rc && s.threads == listed;
	return rc;
}

/*
 * *fresh: one still ran, or may have been missed: list once more. So too
 * where an execve made the directory end early.
 */
static int
S_list(struct threads *t, bool seize, bool *fresh, struct fault *f)
{
	const char *name;
	long listed = 0;
	bool agrees = false;
	int rc = 0;
	OWN_FD(fd);

	*fresh = true;
	t->listing++;
	fd = openat(t->who.dirfd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ESRCH))
		return proc_same(&t->who, f);
	if (fd < 0)
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "open /proc/%d/task", (int)t->who.pid);
	*fresh = false;
	proc_list_begin(&t->list, fd);
	for (; !rc && (name = proc_list_next(&t->list)); listed++)
		rc = S_meet(t, (pid_t)atoi(name), seize, fresh, f);
	if (rc)
		return rc;
	if (t->list.err && t->list.err != ENOENT && t->list.err != ESRCH)
		return fault_sys(f, FAULT_TROUBLE, t->list.err,
				 "list /proc/%d/task", (int)t->who.pid);
	rc = S_count_agrees(t, listed, &agrees, f);
	if (!agrees || t->list.err)
		*fresh = true;
	return rc;
}

/*
 * Only what has ended. Of a traced thread any wait reports a stop as well,
 * also one that asks for WEXITED alone, and would take it from S_look: so
 * the answer is looked at before it is taken.
 */
static void
S_reap(pid_t tid)
{
	siginfo_t si = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)tid, &si,
		   WEXITED | WNOHANG | WNOWAIT | __WALL) != 0
	    || si.si_pid == 0 || si.si_code == CLD_TRAPPED
	    || si.si_code == CLD_STOPPED)
		return;
	(void)waitid(P_PID, (id_t)tid, &si, WEXITED | WNOHANG | __WALL);
}

/* What the kernel reports of a thread that was RUNNING. */
static void
S_look(struct threads *t, struct thread *th)
{
	siginfo_t si = { .si_pid = 0 };
	char state;

	if (waitid(P_PID, (id_t)th->tid, &si,
		   WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) != 0) {
		th->state = GONE;
		return;
	}
	if (si.si_pid == 0) {
		/*
		 * A leader's end is not reported before its threads' ends,
		 * and after an execve its id may be that of a thread which
		 * we do not trace yet, or that took it between its seize
		 * and its interrupt.
		 */
		if (!seize_is_dead(&t->who, th->tid, &state)
		    && seize_is_ours(&t->who, th->tid))
			S_interrupt(th);
		else
			th->state = GONE;
		return;
	}
	if (si.si_code != CLD_TRAPPED && si.si_code != CLD_STOPPED) {
		/* The leader's status is its parent's to have. */
		if (th->tid != t->who.pid)
			S_reap(th->tid);
		th->state = GONE;
		return;
	}
	th->state = STOPPED;
	if (EVENT(si.si_status) == 0)
		th->signal = SIGNAL_OF(si.si_status);
	else if (SIGNAL_OF(si.si_status) != SIGTRAP)
		t->were_stopped = true;
}

static int
S_too_late(const struct threads *t, pid_t tid, struct fault *f)
{
	char state;

	(void)seize_is_dead(&t->who, tid, &state);
	(void)fault_set(f, FAULT_REFUSED,
			"process %d: thread %d did not stop within %.1f s "
			"(state %c)", (int)t->who.pid, (int)tid,
			(double)t->total_ns / (double)CLOCK_NS_PER_SEC, state);
	return fault_hint(f, state == 'D'
			  ? "it waits inside the kernel, for a disk, a "
			    "network file system or a child of vfork: try "
			    "again, or with a longer --timeout"
			  : "try again, or with a longer --timeout");
}

/* Is there time to look once more, and nobody who asks us to end? */
static int
S_may_go_on(const struct threads *t, pid_t tid, struct fault *f)
{
	int asked = signals_pending();

	if (asked)
		return fault_set(f, FAULT_INTERRUPTED, "interrupted by SIG%s",
				 sigabbrev_np(asked));
	return clock_left_ns(t->deadline_ns) == 0 ? S_too_late(t, tid, f) : 0;
}

static int
S_wait(const struct threads *t, pid_t tid, struct fault *f)
{
	uint64_t left = clock_left_ns(t->deadline_ns);
	struct timespec ts = {
		.tv_nsec = (long)(left < THREADS_LOOK_NS ? left
							 : THREADS_LOOK_NS),
	};
	int rc = S_may_go_on(t, tid, f);
	sigset_t child;

	if (rc)
		return rc;
	MUST(sigemptyset(&child) == 0 && sigaddset(&child, SIGCHLD) == 0);
	(void)sigtimedwait(&child, NULL, &ts);
	return 0;
}

static int
S_await(struct threads *t, struct fault *f)
{
	for (size_t i = 0; i < t->count; i++) {
		struct thread *th = &t->thread[i];

		if (th->state == RUNNING)
			S_look(t, th);
		while (th->state == RUNNING) {
			int rc = S_wait(t, th->tid, f);

			if (rc)
				return rc;
			S_look(t, th);
		}
	}
	return 0;
}

/* Any ptrace request but the seizing ones fails unless it is stopped. */
static bool
S_answers(const struct thread *th)
{
	unsigned long message;

	return ptrace(PTRACE_GETEVENTMSG, th->tid, NULL, &message) == 0;
}

/*
 * After an execve the leader's id is another thread's, and one that was
 * stopped may be gone. *all: every one that should be stopped is.
 */
static void
S_ask_all(struct threads *t, bool *all)
{
	*all = true;
	for (size_t i = 0; i < t->count; i++) {
		struct thread *th = &t->thread[i];

		if (th->state != STOPPED)
			continue;
		if (th->seen == t->listing && S_answers(th))
			continue;
		*all = false;
		S_interrupt(th);
	}
}

int
threads_stop(struct threads *t, uint64_t deadline_ns, struct fault *f)
{
	bool fresh = true, all = false;

	t->deadline_ns = deadline_ns;
	t->total_ns = clock_left_ns(deadline_ns);
	while (fresh || !all) {
		int rc = S_list(t, true, &fresh, f);

		if (!rc)
			rc = S_await(t, f);
		if (rc)
			return rc;
		S_ask_all(t, &all);
		if (threads_stopped(t) == 0) {
			/* Gone all at once: the end, or an execve. */
			rc = proc_same(&t->who, f);
			if (rc)
				return rc;
			all = false;
		}
		rc = fresh || !all ? S_may_go_on(t, t->who.pid, f) : 0;
		if (rc)
			return rc;
	}
	return proc_same(&t->who, f);
}

int
threads_check(struct threads *t, struct fault *f)
{
	bool fresh;
	int rc = proc_same(&t->who, f);

	if (!rc)
		rc = S_list(t, false, &fresh, f);
	if (rc)
		return fault_wrap(f, "while it was paused");
	for (size_t i = 0; i < t->count; i++) {
		const struct thread *th = &t->thread[i];

		if (th->state == STOPPED
		    && (th->seen != t->listing || !S_answers(th)))
			return fault_set(f, FAULT_UNSTABLE,
					 "process %d: thread %d was stopped "
					 "and is not any longer",
					 (int)t->who.pid, (int)th->tid);
	}
	if (fresh)
		return fault_set(f, FAULT_UNSTABLE,
				 "process %d: its threads changed while it was "
				 "paused", (int)t->who.pid);
	return 0;
}

void
threads_resume(struct threads *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct thread *th = &t->thread[i];

		if (th->state != STOPPED)
			continue;
		(void)ptrace(PTRACE_DETACH, th->tid, NULL,
			     (void *)(long)th->signal);
		th->state = GONE;
	}
}

void
threads_reap(const struct proc *who)
{
	const char *name;
	struct proc_list list;
	OWN_FD(fd);

	fd = openat(who->dirfd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	proc_list_begin(&list, fd);
	while ((name = proc_list_next(&list)))
		if (atoi(name) != who->pid)
			S_reap((pid_t)atoi(name));
}
