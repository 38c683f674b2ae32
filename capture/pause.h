/*
 * pause.h - stops processes by ptrace, and owns that they run again
 *
 * Lifecycle: OWN_PAUSE declared after everything that is used inside the
 * pause; pause_new, pause_add for each process, pause_check between the
 * reads, pause_free. signals_block (capture/signals.h) comes first, or a
 * stop is noticed late. pause_resume ends the pause, pause_free what it took.
 *
 * Each process is traced by a thread of its own. The kernel detaches what a
 * thread traces when the thread ends, however it ends and in whatever state
 * the traced one is: so a process runs on after pause_free, after a failed
 * pause_add, and when we are killed. A signal that was on its way when the
 * process stopped is delivered then, and a process that job control had
 * stopped stays stopped.
 *
 * What the paused process notices: epoll_wait, semop, sigtimedwait and the
 * like return EINTR once.
 *
 * Privilege: root, CAP_SYS_PTRACE, or the process's own uid where Yama and
 * the container allow it (capture/rights.h).
 */
#ifndef CAPTURE_PAUSE_H
#define CAPTURE_PAUSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "capture/proc.h"

struct pause;

int
pause_new(struct pause **p, struct fault *f);

/* When the first stop was asked for, by clock_mono_ns; 0: none was. */
uint64_t
pause_began_ns(const struct pause *p);

/*
 * Stops every thread of the process until none is new. On failure nothing
 * of this process is held any longer; others stay paused.
 *
 * FAULT_REFUSED: another tracer has it (named), or a thread did not stop
 * before the deadline (clock_mono_ns). FAULT_TROUBLE: not permitted; the
 * hint says what would help. FAULT_UNSTABLE: it ended. FAULT_INTERRUPTED:
 * signals_pending. A process that is paused already is looked at again.
 */
int
pause_add(struct pause *p, const struct proc *who, uint64_t deadline_ns,
	  struct fault *f);

/*
 * 0: by the kernel's own answer every thread of every process is stopped,
 * none is new, each process is the one that was added; else FAULT_UNSTABLE.
 */
int
pause_check(struct pause *p, struct fault *f);

/* Stopped threads of a process; 0: it is not paused here. */
unsigned
pause_threads(const struct pause *p, pid_t pid);

/* Job control (SIGSTOP and the like) had stopped it before we did. */
bool
pause_was_stopped(const struct pause *p, pid_t pid);

/*
 * All that was stopped runs on, the last added first; nothing but pause_free
 * may follow.
 */
void
pause_resume(struct pause *p);

/* As pause_resume; and what could not be stopped is let go. */
void
pause_free(struct pause *p);

static inline void
own_pause_free(struct pause **p)
{
	pause_free(*p);
	*p = NULL;
}

#define OWN_PAUSE(name) \
	struct pause *name __attribute__((cleanup(own_pause_free))) = NULL

#endif
