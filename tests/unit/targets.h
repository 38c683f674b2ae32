/*
 * targets.h - processes to pause, for the unit tests
 *
 * A target counts in shared memory for as long as it runs: its progress is
 * the truth that a pause is held against. Nothing here sleeps: a test waits
 * for a condition, or for another process to have made some steps.
 */
#ifndef TESTS_UNIT_TARGETS_H
#define TESTS_UNIT_TARGETS_H

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

struct shared {
	_Atomic uint64_t steps;
	_Atomic uint64_t signals;
	_Atomic uint64_t sent;
	_Atomic uint64_t ready;
};

static inline struct shared *
target_shared(void)
{
	void *p = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Runs body(s, arg) in a child that dies with us. */
static inline pid_t
target_fork(void (*body)(struct shared *s, void *arg), struct shared *s,
	    void *arg)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		body(s, arg);
		_exit(0);
	}
	return pid;
}

static inline void
target_count(struct shared *s, void *arg)
{
	(void)arg;
	for (;;) {
		atomic_fetch_add(&s->steps, 1);
		(void)sched_yield();
	}
}

/* pid may be 0: then it was killed before. */
static inline void
target_kill(pid_t pid)
{
	if (pid <= 0)
		return;
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, __WALL);
}

#define TARGET_PATIENCE_NS (20 * CLOCK_NS_PER_SEC)

/* Whether cond became true in good time. */
#define BECOMES(cond) __extension__ ({ \
	uint64_t until_ = clock_mono_ns() + TARGET_PATIENCE_NS; \
	bool is_; \
	while (!(is_ = (cond)) && clock_left_ns(until_)) \
		(void)sched_yield(); \
	is_; })

static inline bool
target_advances(struct shared *s)
{
	uint64_t from = atomic_load(&s->steps);

	return BECOMES(atomic_load(&s->steps) > from + 10);
}

/* It makes no step while another process, that is not stopped, makes many. */
static inline bool
target_rests(struct shared *s)
{
	struct shared *other = target_shared();
	pid_t pid = target_fork(target_count, other, NULL);
	uint64_t from = atomic_load(&s->steps);
	bool ran = BECOMES(atomic_load(&other->steps) > 5000);
	bool rested = atomic_load(&s->steps) == from;

	target_kill(pid);
	(void)munmap(other, sizeof(*other));
	return ran && rested;
}

#endif
