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

static bool
S_may_trace(void)
{
	struct fault ignored = FAULT_INIT;
	char value[PROC_VALUE_BYTES];
	uint64_t effective;
	OWN_PROC(us);

	return !proc_open(getpid(), &us, &ignored)
		&& !proc_status_value(&us, 0, "CapEff", value, sizeof(value),
				      &ignored)
		&& sscanf(value, "%" SCNx64, &effective) == 1
		&& (effective >> CAP_SYS_PTRACE & 1);
}

void
rights_look(const struct proc *p, struct rights *r)
{
	struct fault ignored = FAULT_INIT;
	struct proc_ids ids = { .real = (uid_t)-1 };

	if (proc_ids(p, &ids, &ignored))
		ids.real = ids.effective = ids.saved = (uid_t)-1;
	r->root = geteuid() == 0;
	r->may_trace = S_may_trace();
	r->container = access("/.dockerenv", F_OK) == 0
		|| access("/run/.containerenv", F_OK) == 0;
	r->user = ids.real;
	r->same_user = ids.real == geteuid() && ids.effective == ids.real
		&& ids.saved == ids.real;
	r->yama = S_yama();
}

int
rights_hint(const struct rights *r, struct fault *f)
{
	if (r->yama >= 3)
		return fault_hint(f, "kernel.yama.ptrace_scope is 3: until the "
				  "next boot nobody may trace a process");
	if (r->may_trace)
		return fault_hint(f, "we have CAP_SYS_PTRACE, so a security "
				  "module (SELinux, AppArmor) or a user "
				  "namespace of the process forbids it: run "
				  "holdfast where the process runs");
	if (r->root || r->container)
		return fault_hint(f, "CAP_SYS_PTRACE is missing: start the "
				  "container with --cap-add SYS_PTRACE, or run "
				  "holdfast as root on its host");
	if (r->same_user && r->yama >= 1)
		return fault_hint(f, "kernel.yama.ptrace_scope is %d: only "
				  "root may trace: run holdfast as root "
				  "(sudo), give it CAP_SYS_PTRACE%s", r->yama,
				  r->yama == 1 ? ", or set the scope to 0" : "");
	if (r->same_user)
		return fault_hint(f, "the process is closed to its own user "
				  "(not dumpable): run holdfast as root (sudo) "
				  "or give it CAP_SYS_PTRACE");
	return fault_hint(f, "the process runs as another user (uid %u): run "
			  "holdfast as root (sudo), as that user, or with "
			  "CAP_SYS_PTRACE", (unsigned)r->user);
}
