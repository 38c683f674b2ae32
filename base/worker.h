/*
 * worker.h - threads that exist before the sandbox and work inside it
 *
 * The filter forbids clone, so the threads are started first and wait.
 * Lifecycle: worker_start for each, jail, worker_run / worker_wait in
 * pairs, worker_free.
 */
#ifndef BASE_WORKER_H
#define BASE_WORKER_H

#include "base/fault.h"

struct worker;

/*
 * Returns when the thread waits for work: the calls with which a thread
 * sets itself up (rseq, set_robust_list) are behind it. All signals are
 * blocked in it.
 */
int
worker_start(struct worker **w, struct fault *f);

/* Runs fn(arg) in the thread; it must be idle. */
void
worker_run(struct worker *w, void (*fn)(void *arg), void *arg);

/* Until what was handed over is done. */
void
worker_wait(struct worker *w);

/* Waits, ends the thread, joins it. */
void
worker_free(struct worker *w);

#endif
