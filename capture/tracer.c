/*
 * tracer.c - a thread that does all the ptrace calls for one process
 */
#include "capture/tracer.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define TRACER_STACK (256u << 10)
#define TRACER_MOMENT_NS 20000000u	/* between two calls of meanwhile */
/*
 * Inside a pause the next call or its end is less than this away as a rule,
 * and to wake a processor takes longer than most calls do.
 */
#define TRACER_AWAKE_NS 500000u

struct tracer {
	pthread_t thread;
	pid_t tid;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock: */
	int (*job)(void *arg, struct fault *f);	/* NULL: idle */
	void *arg;
	struct fault *f;
	int rc;
	bool end;
};

static bool
S_has_work(const struct tracer *t)
{
	return t->job || t->end;
}

static bool
S_is_idle(const struct tracer *t)
{
	return !t->job;
}

/* Under the lock; yields it while it looks. false: it is time to sleep. */
static bool
S_stay_awake_for(struct tracer *t, bool (*comes)(const struct tracer *t))
{
	uint64_t until = clock_mono_ns() + TRACER_AWAKE_NS;

	while (!comes(t)) {
		if (clock_left_ns(until) == 0)
			return false;
		MUST(pthread_mutex_unlock(&t->lock) == 0);
		(void)sched_yield();
		MUST(pthread_mutex_lock(&t->lock) == 0);
	}
	return true;
}

static void *
S_main(void *arg)
{
	struct tracer *t = arg;

	MUST(pthread_mutex_lock(&t->lock) == 0);
	t->tid = gettid();
	MUST(pthread_cond_broadcast(&t->changed) == 0);
	while (!t->end) {
		int rc;

		if (!t->job) {
			if (!S_stay_awake_for(t, S_has_work))
				MUST(pthread_cond_wait(&t->changed,
						       &t->lock) == 0);
			continue;
		}
		MUST(pthread_mutex_unlock(&t->lock) == 0);
		rc = t->job(t->arg, t->f);
		MUST(pthread_mutex_lock(&t->lock) == 0);
		t->rc = rc;
		t->job = NULL;
		MUST(pthread_cond_broadcast(&t->changed) == 0);
	}
	MUST(pthread_mutex_unlock(&t->lock) == 0);
	return NULL;
}

/* The mask is set here, so that the thread never runs without it. */
static int
S_spawn(struct tracer *t)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int err;

	MUST(pthread_attr_init(&attr) == 0);
	MUST(pthread_attr_setstacksize(&attr, TRACER_STACK) == 0);
	MUST(sigfillset(&all) == 0);
	MUST(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	err = pthread_create(&t->thread, &attr, S_main, t);
	MUST(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
	MUST(pthread_attr_destroy(&attr) == 0);
	return err;
}

static void
S_dispose(struct tracer *t)
{
	MUST(pthread_cond_destroy(&t->changed) == 0);
	MUST(pthread_mutex_destroy(&t->lock) == 0);
	free(t);
}

int
tracer_start(struct tracer **t, struct fault *f)
{
	struct tracer *made = calloc(1, sizeof(*made));
	pthread_condattr_t attr;
	int err;

	if (!made)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	MUST(pthread_condattr_init(&attr) == 0);
	MUST(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0);
	MUST(pthread_cond_init(&made->changed, &attr) == 0);
	MUST(pthread_condattr_destroy(&attr) == 0);
	MUST(pthread_mutex_init(&made->lock, NULL) == 0);
	err = S_spawn(made);
	if (err) {
		S_dispose(made);
		return fault_sys(f, FAULT_TROUBLE, err, "start a thread");
	}
	MUST(pthread_mutex_lock(&made->lock) == 0);
	while (!made->tid)
		MUST(pthread_cond_wait(&made->changed, &made->lock) == 0);
	MUST(pthread_mutex_unlock(&made->lock) == 0);
	*t = made;
	return 0;
}

static void
S_wait_moment(struct tracer *t)
{
	uint64_t until = clock_mono_ns() + TRACER_MOMENT_NS;
	struct timespec at = {
		.tv_sec = (time_t)(until / CLOCK_NS_PER_SEC),
		.tv_nsec = (long)(until % CLOCK_NS_PER_SEC),
	};

	(void)pthread_cond_timedwait(&t->changed, &t->lock, &at);
}

int
tracer_call(struct tracer *t, int (*job)(void *arg, struct fault *f),
	    void (*meanwhile)(void *arg), void *arg, struct fault *f)
{
	int rc;

	MUST(pthread_mutex_lock(&t->lock) == 0);
	t->arg = arg;
	t->f = f;
	t->job = job;
	MUST(pthread_cond_broadcast(&t->changed) == 0);
	while (!S_stay_awake_for(t, S_is_idle)) {
		S_wait_moment(t);
		if (!t->job)
			break;
		MUST(pthread_mutex_unlock(&t->lock) == 0);
		meanwhile(arg);
		MUST(pthread_mutex_lock(&t->lock) == 0);
	}
	rc = t->rc;
	MUST(pthread_mutex_unlock(&t->lock) == 0);
	return rc;
}

void
tracer_end(struct tracer *t)
{
	pid_t us = getpid();

	MUST(pthread_mutex_lock(&t->lock) == 0);
	t->end = true;
	MUST(pthread_cond_broadcast(&t->changed) == 0);
	MUST(pthread_mutex_unlock(&t->lock) == 0);
	MUST(pthread_join(t->thread, NULL) == 0);
	/* The join ends a little before the kernel detaches. */
	while (tgkill(us, t->tid, 0) == 0)
		(void)sched_yield();
	S_dispose(t);
}
