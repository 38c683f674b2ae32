/*
 * tracer.h - a thread that does all the ptrace calls for one process
 *
 * The kernel takes ptrace calls only from the thread that seized, and
 * detaches what a thread traces when it ends, stopped or not. Nothing else
 * lets go of a thread that will not stop.
 *
 * Lifecycle: tracer_start, tracer_call any number of times, tracer_end.
 */
#ifndef CAPTURE_TRACER_H
#define CAPTURE_TRACER_H

#include <stdint.h>

#include "base/fault.h"

struct tracer;

/* All signals are blocked in the thread. */
int
tracer_start(struct tracer **t, struct fault *f);

/*
 * Runs job(arg, f) in the thread and returns what it returned. While it takes
 * longer than a moment, meanwhile(arg) runs here from time to time.
 */
int
tracer_call(struct tracer *t, int (*job)(void *arg, struct fault *f),
	    void (*meanwhile)(void *arg), void *arg, struct fault *f);

/* The thread is gone from the kernel afterwards, and so is its hold. */
void
tracer_end(struct tracer *t);

#endif
