/*
 * rights.h - why a process may not be traced, and what would help
 */
#ifndef CAPTURE_RIGHTS_H
#define CAPTURE_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "capture/proc.h"

#define RIGHTS_NO_YAMA -1

struct rights {
	bool root;		/* our effective uid is 0 */
	bool may_trace;		/* CAP_SYS_PTRACE is effective */
	bool in_reach;		/* it is in our bounding set: root has it */
	bool same_user;		/* the process runs under our uid */
	uid_t user;		/* of the process, where it is another */
	int yama;		/* kernel.yama.ptrace_scope, or RIGHTS_NO_YAMA */
};

/* Yama judges who traces, not who reads a table of descriptors. */
enum rights_wanted {
	RIGHTS_READ,
	RIGHTS_TRACE
};

/* What the kernel says of us and of the process. */
void
rights_look(const struct proc *p, enum rights_wanted wanted, struct rights *r);

/* Hints at the way out, in a fault that is filled. Returns -f->code. */
int
rights_hint(const struct rights *r, struct fault *f);

#endif
