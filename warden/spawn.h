/*
 * spawn.h - the helper's process: its descriptors, limits, and its end
 */
#ifndef WARDEN_SPAWN_H
#define WARDEN_SPAWN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

#define SPAWN_EVIDENCE_MAX 128u

struct spawn {
	int helper;		/* borrowed: the program, O_PATH */
	int ask, reply;		/* borrowed: the child's ends */
	const int *evidence;	/* borrowed */
	size_t n;		/* at most SPAWN_EVIDENCE_MAX */
	uint32_t cpu_seconds;
};

/*
 * 0, *pid and *pidfd (both to be reaped by the caller): the program runs
 * with the documented descriptors, in a process group of its own, with an
 * environment of TZ and LC_ALL alone. It dies with the calling thread.
 */
int
spawn_run(const struct spawn *s, pid_t *pid, int *pidfd, struct fault *f);

struct spawn_end {
	int status;		/* as of waitpid */
	uint64_t cpu_ns;	/* user and system time it used */
};

/* Reaps it; 1: it did not end before the deadline (clock_mono_ns). */
int
spawn_wait(pid_t pid, int pidfd, uint64_t deadline_ns, struct spawn_end *e,
	   struct fault *f);

/* Kills and reaps it, whatever it does. */
void
spawn_kill(pid_t pid, int pidfd);

#endif
