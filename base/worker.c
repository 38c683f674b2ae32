/*
 * worker.c - threads that exist before the sandbox and work inside it
 */
#include "base/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void (*fn)(void *arg);		/* NULL: idle */
	void *arg;
	bool leave;
};

static void *
S_main(void *arg)
{
	struct worker *w = arg;

	MUST(pthread_mutex_lock(&w->lock) == 0);
	for (;;) {
		while (!w->fn && !w->leave)
			MUST(pthread_cond_wait(&w->changed, &w->lock) == 0);
		if (!w->fn)
			break;
		MUST(pthread_mutex_unlock(&w->lock) == 0);
		w->fn(w->arg);
		MUST(pthread_mutex_lock(&w->lock) == 0);
		w->fn = NULL;
		MUST(pthread_cond_broadcast(&w->changed) == 0);
	}
	MUST(pthread_mutex_unlock(&w->lock) == 0);
	return NULL;
}

static void
S_arrive(void *arg)
{
	(void)arg;
}

int
worker_start(struct worker **w, struct fault *f)
{
	struct worker *n = calloc(1, sizeof(*n));
	sigset_t all, before;
	int err;

	if (!n)
		return fault_set(f, FAULT_TROUBLE, "out of memory: thread");
	MUST(pthread_mutex_init(&n->lock, NULL) == 0);
	MUST(pthread_cond_init(&n->changed, NULL) == 0);
	/* Signals are for the thread that we work for, which may block them. */
	MUST(sigfillset(&all) == 0);
	MUST(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	err = pthread_create(&n->thread, NULL, S_main, n);
	MUST(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
	if (err) {
		free(n);
		return fault_sys(f, FAULT_TROUBLE, err, "start a thread");
	}
	worker_run(n, S_arrive, NULL);
	worker_wait(n);
	*w = n;
	return 0;
}

void
worker_run(struct worker *w, void (*fn)(void *arg), void *arg)
{
	MUST(pthread_mutex_lock(&w->lock) == 0);
	MUST(w->fn == NULL);
	w->arg = arg;
	w->fn = fn;
	MUST(pthread_cond_broadcast(&w->changed) == 0);
	MUST(pthread_mutex_unlock(&w->lock) == 0);
}

void
worker_wait(struct worker *w)
{
	MUST(pthread_mutex_lock(&w->lock) == 0);
	while (w->fn)
		MUST(pthread_cond_wait(&w->changed, &w->lock) == 0);
	MUST(pthread_mutex_unlock(&w->lock) == 0);
}

void
worker_free(struct worker *w)
{
	if (!w)
		return;
	MUST(pthread_mutex_lock(&w->lock) == 0);
	w->leave = true;
	MUST(pthread_cond_broadcast(&w->changed) == 0);
	MUST(pthread_mutex_unlock(&w->lock) == 0);
	MUST(pthread_join(w->thread, NULL) == 0);
	(void)pthread_cond_destroy(&w->changed);
	(void)pthread_mutex_destroy(&w->lock);
	free(w);
}
