/*
 * run.h - a command that runs as long as its lease is held
 *
 * Lifecycle: run_guard before the acquire, run_start, run_watch until it gives
 * the status.
 *
 * The lease is renewed after each third of its time. When it cannot be any
 * more, because it was forced, is over, or the database did not answer until
 * its end, the command is stopped: SIGTERM, and SIGKILL after a grace. What
 * the command started itself is not ours to stop.
 */
#ifndef LEASE_RUN_H
#define LEASE_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "lease/ops.h"

struct run {
	struct store *store;		/* borrowed */
	const struct ops_acquire *q;	/* borrowed */
	const struct answer *grant;	/* borrowed */
	pid_t pid;
	int pidfd, signals, timer;	/* owned */
	sigset_t mask;			/* of before */
	bool guarded;
	int64_t expires;		/* ns since the boot: the earliest */
	int stopping;			/* 0, or the last signal that we sent */
	struct fault lost;		/* why, once it is stopping */
};

#define RUN_STATUS_LOST 125

/* From the next commit on signals wait that would end us and leave a lease
   behind; a wait for the commit still ends by them. */
void
run_guard(struct run *r, struct store *s);
/* Starts argv with HOLDFAST_FENCE; a fault where a signal came before. */
int
run_start(struct run *r, char *const *argv, struct fault *f);
/* The command's status as a shell has it; RUN_STATUS_LOST and r->lost where
   we stopped it. */
int
run_watch(struct run *r, int *status, struct fault *f);
/* Signals that came before the command was started have their way here. */
void
run_free(struct run *r);

#define OWN_RUN(name) \
	struct run name __attribute__((cleanup(run_free))) = \
		{ .pidfd = -1, .signals = -1, .timer = -1 }

#endif
