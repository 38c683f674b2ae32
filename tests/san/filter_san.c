/*
 * filter_san.c - the wider filter that sanitizers need
 *
 * Linked in the place of recover/filter.o by check-san only, into a program
 * of another name that install refuses. Sanitizers read the clock and their
 * own maps, keep an alternate signal stack and reserve terabytes of address
 * space; so this one forbids what touches the world and allows the rest, and
 * RLIMIT_AS stays as it is. t_jail looks at the shipped filter.
 */
#include "recover/filter.h"

#include <errno.h>
#include <seccomp.h>
#include <stddef.h>

const bool filter_shipped = false;

static const int forbidden[] = {
	SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork),
	SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect),
	SCMP_SYS(bind), SCMP_SYS(sendto), SCMP_SYS(sendmsg),
	SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev), SCMP_SYS(kill),
	SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2),
	SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(truncate),
	SCMP_SYS(ftruncate), SCMP_SYS(pwrite64), SCMP_SYS(mount),
	SCMP_SYS(io_uring_setup), SCMP_SYS(bpf), SCMP_SYS(openat2),
};

int
filter_load(struct fault *f)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int rc;

	if (!ctx)
		return fault_set(f, FAULT_SANDBOX,
				 "libseccomp can't make a filter");
	rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1);
	for (size_t i = 0;
	     !rc && i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, forbidden[i],
				      0);
	if (!rc)
		rc = seccomp_load(ctx);
	seccomp_release(ctx);
	return rc ? fault_sys(f, FAULT_SANDBOX, -rc,
			      "load the system call filter") : 0;
}

int
filter_cap_memory(uint64_t bytes, struct fault *f)
{
	(void)bytes;
	(void)f;
	return 0;
}
