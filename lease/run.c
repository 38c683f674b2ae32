/*
 * run.c - a command that runs as long as its lease is held
 */
#include "lease/run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own.h"

#define RUN_GRACE_NS (5 * INSTANT_SECOND)
#define RUN_RETRY_NS (INSTANT_SECOND / 5)

enum { RUN_NOT_FOUND = 127, RUN_NOT_RUN = 126 };

/* Those of job control keep their meaning: we stop as the command does, and
   look at the lease when we go on. */
static const int S_forwarded[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH,
	SIGCONT,
};

_Noreturn static void
S_become(const struct run *r, char *const *argv, pid_t parent)
{
	char fence[32];
	int err;

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(RUN_STATUS_LOST);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &r->mask, NULL);
	(void)snprintf(fence, sizeof(fence), "%" PRId64, r->grant->fence);
	if (setenv("HOLDFAST_FENCE", fence, 1) == 0)
		(void)execvp(argv[0], argv);
	/* Where standard error is closed, saying so sets another one. */
	err = errno;
	(void)dprintf(STDERR_FILENO, "holdfast: run %s: %s\n", argv[0],
		      strerror(err));
	_exit(err == ENOENT ? RUN_NOT_FOUND : RUN_NOT_RUN);
}

static int
S_set_timer(const struct run *r, int64_t at)
{
	struct itimerspec when = {
		.it_value = {
			.tv_sec = at / INSTANT_SECOND,
			.tv_nsec = at % INSTANT_SECOND,
		},
	};

	if (at <= 0)
		when.it_value.tv_nsec = 1;
	return timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static int64_t
S_now(void)
{
	return (int64_t)clock_boot_ns();
}

static void
S_forwarded_set(sigset_t *set)
{
	(void)sigemptyset(set);
	for (size_t i = 0; i < sizeof(S_forwarded) / sizeof(int); i++)
		(void)sigaddset(set, S_forwarded[i]);
}

static int
S_before_commit(void *arg)
{
	sigset_t set;

	(void)arg;
	S_forwarded_set(&set);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return 0;
}

void
run_guard(struct run *r, struct store *s)
{
	r->store = s;
	r->guarded = sigprocmask(SIG_BLOCK, NULL, &r->mask) == 0;
	(void)sqlite3_commit_hook(s->sql.db, S_before_commit, NULL);
}

/* The command never saw what came before it was there. */
static int
S_none_came(const char *command, struct fault *f)
{
	struct sigaction act;
	sigset_t came;

	(void)sigpending(&came);
	for (size_t i = 0; i < sizeof(S_forwarded) / sizeof(int); i++) {
		int signo = S_forwarded[i];

		if (signo == SIGWINCH || signo == SIGCONT ||
		    sigismember(&came, signo) != 1 ||
		    sigaction(signo, NULL, &act) || act.sa_handler == SIG_IGN)
			continue;
		return fault_set(f, FAULT_TROUBLE,
				 "SIG%s came before %s was started",
				 sigabbrev_np(signo), command);
	}
	return 0;
}

static int
S_prepare(struct run *r, struct fault *f)
{
	sigset_t set;

	S_forwarded_set(&set);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	r->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	r->expires = r->grant->expires;
	if (r->signals < 0 || r->timer < 0 ||
	    S_set_timer(r, S_now() + r->q->ttl / 3))
		return fault_sys(f, FAULT_TROUBLE, errno, "prepare to watch");
	return 0;
}

int
run_start(struct run *r, char *const *argv, struct fault *f)
{
	pid_t parent = getpid();
	int rc = S_prepare(r, f);

	if (!rc)
		rc = S_none_came(argv[0], f);
	if (rc)
		return rc;
	r->pid = fork();
	if (r->pid < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "start %s", argv[0]);
	if (r->pid == 0)
		S_become(r, argv, parent);
	r->pidfd = pidfd_open(r->pid, 0);
	if (r->pidfd < 0) {
		fault_sys(f, FAULT_TROUBLE, errno, "watch %s", argv[0]);
		(void)kill(r->pid, SIGKILL);
		(void)waitpid(r->pid, NULL, 0);
		return -FAULT_TROUBLE;
	}
	return 0;
}

/* A key of the terminal reached the command already: it sends to all. */
static void
S_forward(const struct run *r)
{
	struct signalfd_siginfo si;

	while (read(r->signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
		if (si.ssi_code <= 0)
			(void)pidfd_send_signal(r->pidfd, (int)si.ssi_signo,
						NULL, 0);
}

static void
S_stop(struct run *r)
{
	r->stopping = r->stopping ? SIGKILL : SIGTERM;
	(void)pidfd_send_signal(r->pidfd, r->stopping, NULL, 0);
	if (r->stopping == SIGTERM) {
		/* One that is stopped would never see it. */
		(void)pidfd_send_signal(r->pidfd, SIGCONT, NULL, 0);
		(void)S_set_timer(r, S_now() + RUN_GRACE_NS);
	}
}

/* Each fence that a path of ours has; a fault of trouble may be tried again
   until the lease is over. */
static int
S_renew_each(struct run *r, struct fault *f)
{
	int64_t earliest = INT64_MAX, done = 0;

	for (size_t i = 0; i < r->q->npaths; i++) {
		int64_t fence = r->grant->taken[i].fence;
		OWN_ANSWER(a);
		int rc;

		if (fence == done)
			continue;
		done = fence;
		rc = ops_renew(r->store, fence, r->q->session, r->q->epoch,
			       r->q->ttl, &a, f);
		if (rc)
			return rc;
		if (a.outcome != OUTCOME_ACQUIRED)
			return fault_set(f, FAULT_REFUSED,
					 "fence %" PRId64 ": %s", fence,
					 a.ended ? a.ended : "another owner");
		if (a.expires < earliest)
			earliest = a.expires;
	}
	r->expires = earliest;
	return 0;
}

static void
S_tick(struct run *r)
{
	struct fault f = FAULT_INIT;
	int64_t now = S_now(), left = r->expires - now;
	uint64_t ticks, wait_ns = r->store->wait_ns;
	int rc;

	(void)!read(r->timer, &ticks, sizeof(ticks));
	if (r->stopping) {
		S_stop(r);
		return;
	}
	/* The answer must come while the lease lasts. */
	if (left > 0 && (uint64_t)left < wait_ns)
		r->store->wait_ns = (uint64_t)left;
	rc = S_renew_each(r, &f);
	r->store->wait_ns = wait_ns;
	now = S_now();
	if (rc == 0) {
		(void)S_set_timer(r, now + r->q->ttl / 3);
	} else if (f.code != FAULT_REFUSED && now < r->expires) {
		now += RUN_RETRY_NS;
		(void)S_set_timer(r, now < r->expires ? now : r->expires);
	} else {
		r->lost = f;
		S_stop(r);
	}
}

static int
S_reap(struct run *r, int *status, struct fault *f)
{
	siginfo_t si = { .si_pid = 0 };

	if (waitid(P_PIDFD, (id_t)r->pidfd, &si, WEXITED))
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "wait for the command");
	if (r->stopping)
		*status = RUN_STATUS_LOST;
	else
		*status = si.si_code == CLD_EXITED ? si.si_status
						   : 128 + si.si_status;
	return 0;
}

int
run_watch(struct run *r, int *status, struct fault *f)
{
	enum { PID, SIGNALS, TIMER, COUNT };
	struct pollfd p[COUNT] = {
		[PID] = { .fd = r->pidfd, .events = POLLIN },
		[SIGNALS] = { .fd = r->signals, .events = POLLIN },
		[TIMER] = { .fd = r->timer, .events = POLLIN },
	};

	for (;;) {
		if (poll(p, COUNT, -1) < 0) {
			if (errno == EINTR)
				continue;
			return fault_sys(f, FAULT_TROUBLE, errno, "poll");
		}
		if (p[PID].revents)
			return S_reap(r, status, f);
		if (p[SIGNALS].revents)
			S_forward(r);
		if (p[TIMER].revents)
			S_tick(r);
	}
}

void
run_free(struct run *r)
{
	own_fd_close(&r->pidfd);
	own_fd_close(&r->signals);
	own_fd_close(&r->timer);
	if (!r->guarded)
		return;
	(void)sqlite3_commit_hook(r->store->sql.db, NULL, NULL);
	if (r->pid <= 0)
		(void)sigprocmask(SIG_SETMASK, &r->mask, NULL);
}
