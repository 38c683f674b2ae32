/*
 * threads.h - stops every thread of one process by ptrace
 *
 * The inner part of pause.c. All functions run in the tracer thread of the
 * process and nowhere else, but for threads_reap.
 *
 * Lifecycle: threads_new, threads_stop, threads_check, threads_resume,
 * threads_free. Whatever of it fails, the end of the tracer thread lets all
 * threads go.
 */
#ifndef CAPTURE_THREADS_H
#define CAPTURE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "capture/proc.h"

struct threads;

int
threads_new(struct threads **t, const struct proc *who, struct fault *f);
void
threads_free(struct threads *t);

/* Borrowed. */
const struct proc *
threads_of(const struct threads *t);
/* How many are stopped. */
unsigned
threads_stopped(const struct threads *t);
/* Job control had stopped one of them before us. */
bool
threads_were_stopped(const struct threads *t);

/* As pause_add and pause_check, for this process. */
int
threads_stop(struct threads *t, uint64_t deadline_ns, struct fault *f);
int
threads_check(struct threads *t, struct fault *f);

/* Detaches what is stopped, and delivers what was on its way. */
void
threads_resume(struct threads *t);

/*
 * Reaps threads that ended, so that an execve in the process can go on: it
 * waits for them, and a seize waits for it. From any thread of ours, at any
 * time, with the process alone.
 */
void
threads_reap(const struct proc *who);

#endif
