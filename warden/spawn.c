/*
 * spawn.c - the helper's process: its descriptors, limits, and its end
 */
#include "warden/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "reply/ask.h"

#define SPAWN_STANDARD 3	/* 0, 1, 2 */

/* Shared with the child, which runs in our memory until it has exec'ed. */
struct launch {
	int source[EVIDENCE_FD + SPAWN_EVIDENCE_MAX];	/* of each number */
	int count;
	int helper;
	pid_t parent;
	struct rlimit cpu;
	const char *step;	/* the one that failed */
	int err;
};

static int
S_step(struct launch *l, const char *step, bool ok)
{
	if (ok)
		return 0;
	l->err = errno;
	l->step = step;
	return -1;
}

/*
 * Numbers may overlap with those they go to, so all are first moved above
 * the range. What the parent has open besides is closed by the exec.
 */
static int
S_place_descriptors(struct launch *l)
{
	for (int i = 0; i < l->count; i++) {
		l->source[i] = fcntl(l->source[i], F_DUPFD_CLOEXEC, l->count);
		if (l->source[i] < 0)
			return -1;
	}
	l->helper = fcntl(l->helper, F_DUPFD_CLOEXEC, l->count);
	if (l->helper < 0)
		return -1;
	for (int i = 0; i < l->count; i++)
		if (dup2(l->source[i], i) < 0)
			return -1;
	return close_range((unsigned)l->count, ~0u, CLOSE_RANGE_CLOEXEC);
}

/* A signal that the caller ignores would be ignored after the exec too. */
static void
S_default_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * In the child, on the parent's memory: system calls and no allocation.
 *
 * The signal at the parent's death comes first; a parent that died before
 * it was asked for sends none, so who the parent is gets looked at
 * afterwards. A process group of its own keeps the terminal's Ctrl-C for
 * the front end, which then ends the helper in order.
 */
static void
S_child(struct launch *l)
{
	static char name[] = "holdfast-recover";
	static char tz[] = "TZ=UTC", locale[] = "LC_ALL=C";
	char *const argv[] = { name, NULL };
	char *const envp[] = { tz, locale, NULL };

	if (S_step(l, "die with the parent",
		   !prctl(PR_SET_PDEATHSIG, SIGKILL)))
		return;
	if (getppid() != l->parent)
		return;
	if (S_step(l, "leave the terminal's group", !setpgid(0, 0)) ||
	    S_step(l, "limit the processor time",
		   !setrlimit(RLIMIT_CPU, &l->cpu)) ||
	    S_step(l, "arrange the descriptors", !S_place_descriptors(l)))
		return;
	S_default_signals();
	(void)S_step(l, "run the program",
		     !execveat(l->helper, "", argv, envp, AT_EMPTY_PATH));
}

/* vfork: a front end with much memory would pay for each page of a fork. */
static pid_t
S_launch(struct launch *l)
{
	pid_t pid = vfork();

	if (pid == 0) {
		S_child(l);
		_exit(127);
	}
	return pid;
}

static int
S_started(pid_t pid, const struct launch *l, struct fault *f)
{
	int status;

	if (pid < 0)
		return fault_sys(f, FAULT_TROUBLE, l->err,
				 "start a process for the helper");
	if (!l->step)
		return 0;
	(void)waitpid(pid, &status, 0);
	return fault_sys(f, FAULT_TROUBLE, l->err, "start the helper: %s",
			 l->step);
}

int
spawn_run(const struct spawn *s, pid_t *pid, int *pidfd, struct fault *f)
{
	struct launch l = {
		.count = EVIDENCE_FD + (int)s->n, .helper = s->helper,
		.parent = getpid(),
		.cpu = { s->cpu_seconds, (rlim_t)s->cpu_seconds + 1 },
	};
	sigset_t all, before;
	pid_t child;
	int rc;
	OWN_FD(null);

	MUST(s->n <= SPAWN_EVIDENCE_MAX);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "open /dev/null");
	for (int i = 0; i < SPAWN_STANDARD; i++)
		l.source[i] = null;
	l.source[ASK_FD] = s->ask;
	l.source[REPLY_FD] = s->reply;
	for (size_t i = 0; i < s->n; i++)
		l.source[(size_t)EVIDENCE_FD + i] = s->evidence[i];

	/* No handler of ours may run in the child, on our memory. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	child = S_launch(&l);
	if (child < 0)
		l.err = errno;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	rc = S_started(child, &l, f);
	if (rc)
		return rc;

	/* Not reaped yet, so the number is still its own. */
	*pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	if (*pidfd < 0) {
		rc = fault_sys(f, FAULT_TROUBLE, errno, "hold the helper");
		spawn_kill(child, -1);
		return rc;
	}
	*pid = child;
	return 0;
}

static int
S_reap(pid_t pid, struct spawn_end *e, struct fault *f)
{
	struct rusage used;
	pid_t got;

	do
		got = wait4(pid, &e->status, 0, &used);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "learn how the helper ended");
	e->cpu_ns = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) *
		    CLOCK_NS_PER_SEC +
		    (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) *
		    1000;
	return 0;
}

int
spawn_wait(pid_t pid, int pidfd, uint64_t deadline_ns, struct spawn_end *e,
	   struct fault *f)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int n;

	do {
		uint64_t left = clock_left_ns(deadline_ns);
		struct timespec t = {
			.tv_sec = (time_t)(left / CLOCK_NS_PER_SEC),
			.tv_nsec = (long)(left % CLOCK_NS_PER_SEC),
		};

		n = ppoll(&p, 1, &t, NULL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "wait for the helper's end");
	return n == 0 ? 1 : S_reap(pid, e, f);
}

void
spawn_kill(pid_t pid, int pidfd)
{
	struct spawn_end e;
	struct fault ignored = FAULT_INIT;

	if (pidfd < 0 || syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL,
				 0))
		(void)kill(pid, SIGKILL);
	(void)S_reap(pid, &e, &ignored);
}
