/*
 * queue.c - who is next, in front of BEGIN IMMEDIATE
 */
#include "lease/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"

enum { QUEUE_GATE = 0, QUEUE_TURN = 1 };	/* bytes of the file */

/* The first tick may come just before the wait begins: there are more. */
#define QUEUE_TICK_NS 20000000

int
queue_open(struct queue *q, int dir, const char *name, struct fault *f)
{
	struct stat st;
	OWN_FD(fd);

	fd = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
			       O_NONBLOCK, 0600);
	if (fd < 0 || fstat(fd, &st))
		return fault_sys(f, FAULT_TROUBLE, errno, "open %s", name);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)))
		return fault_set(f, FAULT_REFUSED,
				 "%s is no file of ours alone", name);
	q->fd = TAKE_FD(fd);
	q->has_turn = 0;
	return 0;
}

void
queue_close(struct queue *q)
{
	own_fd_close(&q->fd);
}

static int
S_lock(const struct queue *q, int how, short type, off_t byte)
{
	struct flock l = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = byte,
		.l_len = 1,
	};

	return fcntl(q->fd, how, &l) ? errno : 0;
}

static void
S_tick(int signo)
{
	(void)signo;
}

/* A signal of its own for this thread, again and again from the deadline. */
struct alarm {
	timer_t timer;
	struct sigaction before;
	sigset_t mask;
};

static int
S_arm(struct alarm *a, uint64_t deadline_ns)
{
	struct sigaction act = { .sa_handler = S_tick };
	struct sigevent ev = {
		.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN,
	};
	struct itimerspec when = {
		.it_value = {
			.tv_sec = (time_t)(deadline_ns / CLOCK_NS_PER_SEC),
			.tv_nsec = (long)(deadline_ns % CLOCK_NS_PER_SEC),
		},
		.it_interval = { .tv_nsec = QUEUE_TICK_NS },
	};
	sigset_t set;

	ev._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &ev, &a->timer))
		return errno;
	(void)sigaction(SIGRTMIN, &act, &a->before);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGRTMIN);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, &a->mask);
	(void)timer_settime(a->timer, TIMER_ABSTIME, &when, NULL);
	return 0;
}

static void
S_disarm(struct alarm *a)
{
	(void)timer_delete(a->timer);
	(void)pthread_sigmask(SIG_SETMASK, &a->mask, NULL);
	(void)sigaction(SIGRTMIN, &a->before, NULL);
}

static int
S_wait(const struct queue *q, off_t byte, uint64_t deadline_ns)
{
	int err = S_lock(q, F_OFD_SETLK, F_WRLCK, byte);
	struct alarm a;

	if (err != EAGAIN && err != EACCES)
		return err;
	err = S_arm(&a, deadline_ns);
	if (err)
		return err;
	do
		err = S_lock(q, F_OFD_SETLKW, F_WRLCK, byte);
	while (err == EINTR && clock_left_ns(deadline_ns) > 0);
	S_disarm(&a);
	return err;
}

int
queue_enter(struct queue *q, uint64_t deadline_ns, struct fault *f)
{
	int err = S_wait(q, QUEUE_GATE, deadline_ns);

	if (!err) {
		err = S_wait(q, QUEUE_TURN, deadline_ns);
		(void)S_lock(q, F_OFD_SETLK, F_UNLCK, QUEUE_GATE);
	}
	if (err == EINTR)
		return fault_set(f, FAULT_TROUBLE,
				 "the lease database is busy: our turn did"
				 " not come in time");
	if (err)
		return fault_sys(f, FAULT_TROUBLE, err,
				 "wait for our turn at the lease database");
	q->has_turn = 1;
	return 0;
}

void
queue_leave(struct queue *q)
{
	if (q->has_turn)
		(void)S_lock(q, F_OFD_SETLK, F_UNLCK, QUEUE_TURN);
	q->has_turn = 0;
}
