/*
 * rights.c - why a process may not be traced, and what would help
 */
#include "capture/rights.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"

static int
S_yama(void)
{
	struct fault ignored = FAULT_INIT;
	char text[16];
	size_t got;
	OWN_FD(fd);

	fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read(fd, text, sizeof(text) - 1, &got, &ignored))
		return RIGHTS_NO_YAMA;
	text[got] = '\0';
	return atoi(text);
}

/* Whether a set of ours has CAP_SYS_PTRACE: "CapEff", "CapBnd". */
static bool
S_has_trace(const char *set)
{
	struct fault ignored = FAULT_INIT;
	char value[PROC_VALUE_BYTES];
	uint64_t caps;
	OWN_PROC(us);

	return !proc_open(getpid(), &us, &ignored)
		&& !proc_status_value(&us, 0, set, value, sizeof(value),
				      &ignored)
		&& sscanf(value, "%" SCNx64, &caps) == 1
		&& (caps >> CAP_SYS_PTRACE & 1);
}

/* The one of its uids that is not ours: a setuid program has two. */
static uid_t
S_other_user(const struct proc_ids *ids)
{
	if (ids->effective != geteuid())
		return ids->effective;
	return ids->saved != geteuid() ? ids->saved : ids->real;
}

void
rights_look(const struct proc *p, enum rights_wanted wanted, struct rights *r)
{
	struct fault ignored = FAULT_INIT;
	struct proc_ids ids = { .real = (uid_t)-1 };

	if (proc_ids(p, &ids, &ignored))
		ids.real = ids.effective = ids.saved = (uid_t)-1;
	r->root = geteuid() == 0;
	r->may_trace = S_has_trace("CapEff");
	r->in_reach = S_has_trace("CapBnd");
	r->user = S_other_user(&ids);
	r->same_user = r->user == geteuid();
	r->yama = wanted == RIGHTS_TRACE ? S_yama() : RIGHTS_NO_YAMA;
}

/* Who gets CAP_SYS_PTRACE here, and how. */
static const char *
S_way(const struct rights *r)
{
	if (!r->in_reach)
		return "root lacks CAP_SYS_PTRACE here: start the container "
		       "with --cap-add SYS_PTRACE, or run holdfast as root on "
		       "its host";
	if (r->root)
		return "run holdfast with CAP_SYS_PTRACE, which this root "
		       "has given up";
	return "run holdfast as root (sudo), or give it CAP_SYS_PTRACE";
}

int
rights_hint(const struct rights *r, struct fault *f)
{
	const char *way = S_way(r);

	if (r->yama >= 3)
		return fault_hint(f, "kernel.yama.ptrace_scope is 3: until the "
				  "next boot nobody may trace a process");
	if (r->may_trace)
		return fault_hint(f, "we have CAP_SYS_PTRACE, so a security "
				  "module (SELinux, AppArmor) or a user "
				  "namespace of the process forbids it: run "
				  "holdfast where the process runs");
	if (!r->same_user)
		return fault_hint(f, "the process runs as another user (uid "
				  "%u): %s%s", (unsigned)r->user, way,
				  r->yama < 1 ? ", or run it as that user"
					      : "");
	if (r->yama == 1)
		return fault_hint(f, "kernel.yama.ptrace_scope is 1: of its "
				  "own processes a user may trace children "
				  "only: %s, or set the scope to 0", way);
	if (r->yama == 2)
		return fault_hint(f, "kernel.yama.ptrace_scope is 2: only who "
				  "has CAP_SYS_PTRACE may trace: %s", way);
	return fault_hint(f, "the process is closed to its own user (not "
			  "dumpable, or with a capability that we lack): %s",
			  way);
}
