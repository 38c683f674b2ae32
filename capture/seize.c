/*
 * seize.c - begins to trace one thread, or says why it can't be
 *
 * PTRACE_O_EXITKILL must never be set here: it would take the writer along.
 */
#include "capture/seize.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "capture/rights.h"

/*
 * A seize waits for an execve that is on its way and is refused then, since
 * the old leader ended; another tracer may have let go a moment ago. Only
 * what is refused each time, without either to be seen, is forbidden.
 */
#define SEIZE_TRIES 20

bool
seize_is_dead(const struct proc *who, pid_t tid, char *state)
{
	struct fault ignored = FAULT_INIT;
	struct proc_stat s = { .state = '?' };
	int rc = proc_stat(who, tid, &s, &ignored);

	*state = s.state;
	return rc == 1 || s.state == 'Z' || s.state == 'X';
}

/* The thread that traces tid, or 0. */
static pid_t
S_tracer(const struct proc *who, pid_t tid)
{
	struct fault ignored = FAULT_INIT;
	char value[PROC_VALUE_BYTES];

	if (proc_status_value(who, tid, "TracerPid", value, sizeof(value),
			      &ignored))
		return 0;
	return (pid_t)atoi(value);
}

bool
seize_is_ours(const struct proc *who, pid_t tid)
{
	return S_tracer(who, tid) == gettid();
}

static int
S_refuse_traced(const struct proc *who, pid_t tracer, struct fault *f)
{
	struct fault ignored = FAULT_INIT;
	char value[PROC_VALUE_BYTES];
	OWN_PROC(p);

	/* People know processes, and the tracer may be any thread of one. */
	if (!proc_open(tracer, &p, &ignored)
	    && !proc_status_value(&p, 0, "Tgid", value, sizeof(value),
				  &ignored))
		tracer = (pid_t)atoi(value);
	(void)fault_set(f, FAULT_REFUSED,
			"process %d is traced already by process %d",
			(int)who->pid, (int)tracer);
	return fault_hint(f, "detach the debugger, strace or other capture "
			  "(process %d) and try again", (int)tracer);
}

static int
S_refuse_rights(const struct proc *who, struct fault *f)
{
	struct rights r;

	rights_look(who, RIGHTS_TRACE, &r);
	(void)fault_sys(f, FAULT_TROUBLE, EPERM,
			"process %d may not be traced", (int)who->pid);
	return rights_hint(&r, f);
}

int
seize_thread(const struct proc *who, pid_t tid, struct fault *f)
{
	for (int tries = 0; tries < SEIZE_TRIES; tries++) {
		pid_t tracer;
		char state;

		if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0)
			return 0;
		if (errno != EPERM && errno != ESRCH)
			return fault_sys(f, FAULT_TROUBLE, errno,
					 "trace thread %d of process %d",
					 (int)tid, (int)who->pid);
		if (seize_is_dead(who, tid, &state))
			return 1;
		tracer = S_tracer(who, tid);
		if (tracer == gettid())
			return 0;	/* it took the leader's id by execve */
		if (tracer)
			return S_refuse_traced(who, tracer, f);
	}
	return S_refuse_rights(who, f);
}
