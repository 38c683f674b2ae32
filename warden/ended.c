/*
 * ended.c - what the way in which the helper ended means
 */
#include "warden/ended.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"

static int
S_cpu_spent(uint32_t cpu_seconds, struct fault *f)
{
	fault_set(f, FAULT_CAP,
		  "the helper used up its %u s of processor time",
		  cpu_seconds);
	return fault_hint(f, "--time-limit SEC allows more");
}

static int
S_killed_by(const struct spawn_end *e, int sig, uint32_t cpu_seconds,
	    uint64_t memory, struct fault *f)
{
	switch (sig) {
	case SIGXCPU:
		return S_cpu_spent(cpu_seconds, f);
	case SIGKILL:
		if (e->cpu_ns >= cpu_seconds * CLOCK_NS_PER_SEC)
			return S_cpu_spent(cpu_seconds, f);
		fault_set(f, FAULT_CAP,
			  "the helper was killed from outside; most likely the"
			  " machine or its control group ran out of memory"
			  " below the memory limit of %llu MiB",
			  (unsigned long long)(memory >> 20));
		return fault_hint(f, "--memory-limit MIB asks for less");
	case SIGSYS:
		return fault_set(f, FAULT_SANDBOX,
				 "the helper made a call that its sandbox"
				 " forbids, and the kernel killed it: the"
				 " evidence may have taken it over; nothing it"
				 " answered counts");
	default:
		return fault_set(f, FAULT_TROUBLE,
				 "the helper crashed (signal %d, %s) on this"
				 " evidence; nothing else was harmed", sig,
				 sigdescr_np(sig) ? sigdescr_np(sig)
						  : "unknown");
	}
}

int
ended_say(const struct spawn_end *e, uint32_t cpu_seconds, uint64_t memory,
	  struct fault *f)
{
	if (WIFSIGNALED(e->status))
		return S_killed_by(e, WTERMSIG(e->status), cpu_seconds, memory,
				   f);
	if (WEXITSTATUS(e->status))
		return fault_set(f, FAULT_TROUBLE,
				 "the helper failed (exit status %d) and did"
				 " not say why", WEXITSTATUS(e->status));
	return 0;
}
