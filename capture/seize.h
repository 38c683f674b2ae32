/*
 * seize.h - begins to trace one thread, or says why it can't be
 *
 * Runs in the tracer thread (capture/tracer.h): "ours" is what it traces.
 */
#ifndef CAPTURE_SEIZE_H
#define CAPTURE_SEIZE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "capture/proc.h"

/*
 * 0: it is ours, and still runs. 1: it ended, and needs no seizing.
 * FAULT_REFUSED names another tracer, FAULT_TROUBLE hints at the right that
 * is missing.
 */
int
seize_thread(const struct proc *who, pid_t tid, struct fault *f);

/* Also a leader that ended before its threads: it can't be seized. */
bool
seize_is_dead(const struct proc *who, pid_t tid, char *state);

bool
seize_is_ours(const struct proc *who, pid_t tid);

#endif
