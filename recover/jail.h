/*
 * jail.h - the helper gives up all that it does not need, for good
 *
 * Lifecycle: whatever needs the file system first (tzset, digest_setup,
 * state_setup), jail_drop in the only thread, worker_start for each thread,
 * jail_shut. Nothing undoes either.
 *
 * jail_drop comes before the threads since capabilities and Landlock belong
 * to a thread and new threads inherit them; jail_shut comes behind them
 * since it forbids new ones.
 */
#ifndef RECOVER_JAIL_H
#define RECOVER_JAIL_H

#include "base/fault.h"

/* The ids that a helper started by root ends with ("nobody"). */
#define JAIL_UID 65534
#define JAIL_GID 65534

struct jail_report {
	int landlock;		/* ABI in force; 0: this kernel has none */
	int descriptors;	/* left open: 0 up to this number, exclusive */
};

/*
 * Descriptors, limits, ids, capabilities, no_new_privs, Landlock. The
 * documented descriptors (reply/ask.h) must be open, the evidence without a
 * gap. FAULT_SANDBOX names the step that failed; the process is then half
 * dropped and must end.
 */
int
jail_drop(struct jail_report *r, struct fault *f);

/* No new threads or processes, then the filter in every thread. */
int
jail_shut(struct fault *f);

#endif
