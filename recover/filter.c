/*
 * filter.c - the system calls that the helper is left with
 *
 * Each row stands for one thing that an allocator, a mutex, a read of
 * evidence, an answer or an orderly death needs. What is not in the table
 * kills the process: an errno would let a helper that was taken over try
 * the next call.
 *
 * What the rows leave to code that took the helper over:
 *   - It reads the evidence and the ask. It was given them.
 *   - It writes to REPLY_FD; and to 2, which is /dev/null.
 *   - It maps memory without a file and never executable, so it runs only
 *     what the linker mapped.
 *   - It sends one signal: SIGABRT, to its own threads.
 *   - It lowers its own RLIMIT_AS; raising it takes a capability.
 */
#include "recover/filter.h"

#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "reply/ask.h"

#define FILTER_ARGS 3

const bool filter_shipped = true;

struct filter_rule {
	int call;
	unsigned args;		/* conditions in use; all must hold */
	struct scmp_arg_cmp arg[FILTER_ARGS];
};

#define EQ(i, v) { .arg = (i), .op = SCMP_CMP_EQ, .datum_a = (v) }
#define BITS(i, mask, v) \
	{ .arg = (i), .op = SCMP_CMP_MASKED_EQ, .datum_a = (mask), \
	  .datum_b = (v) }

static const struct filter_rule rules[] = {
	/* Input and output. The image descriptors are read by position, so
	   that plain read is for the ask alone. */
	{ SCMP_SYS(pread64), 0, { { 0 } } },
	{ SCMP_SYS(read), 1, { EQ(0, ASK_FD) } },
	{ SCMP_SYS(write), 1, { EQ(0, REPLY_FD) } },

	/* malloc: the heap's end, large blocks, the second arena (which glibc
	   reserves with PROT_NONE and opens up by mprotect) and what it gives
	   back. Only anonymous memory, never executable. */
	{ SCMP_SYS(brk), 0, { { 0 } } },
	{ SCMP_SYS(mmap), 2, { BITS(2, PROT_EXEC, 0),
			       BITS(3, MAP_ANONYMOUS, MAP_ANONYMOUS) } },
	{ SCMP_SYS(mprotect), 1, { BITS(2, PROT_EXEC, 0) } },
	{ SCMP_SYS(mremap), 0, { { 0 } } },
	{ SCMP_SYS(munmap), 0, { { 0 } } },
	{ SCMP_SYS(madvise), 0, { { 0 } } },

	/* Mutexes and conditions of the two threads; the signal mask that
	   glibc sets around a thread's end and in abort. */
	{ SCMP_SYS(futex), 0, { { 0 } } },
	{ SCMP_SYS(rt_sigprocmask), 0, { { 0 } } },
	{ SCMP_SYS(sched_yield), 0, { { 0 } } },

	/* A call that SIGSTOP and SIGCONT interrupted goes on. */
	{ SCMP_SYS(restart_syscall), 0, { { 0 } } },
	{ SCMP_SYS(rt_sigreturn), 0, { { 0 } } },

	/* Deadlines, on machines whose vDSO has no clock to read. */
	{ SCMP_SYS(clock_gettime), 0, { { 0 } } },

	/* The end, orderly or by abort: a failed MUST or a smashed stack must
	   show as SIGABRT and not as an escape. glibc says why on 2. tgkill
	   is added below, since it takes our pid. */
	{ SCMP_SYS(exit), 0, { { 0 } } },
	{ SCMP_SYS(exit_group), 0, { { 0 } } },
	{ SCMP_SYS(write), 1, { EQ(0, STDERR_FILENO) } },
	{ SCMP_SYS(writev), 1, { EQ(0, STDERR_FILENO) } },
	{ SCMP_SYS(getpid), 0, { { 0 } } },
	{ SCMP_SYS(gettid), 0, { { 0 } } },

	/* filter_cap_memory: of this process, RLIMIT_AS, nothing read back. */
	{ SCMP_SYS(prlimit64), 3, { EQ(0, 0), EQ(1, RLIMIT_AS), EQ(3, 0) } },
};

static int
S_add(scmp_filter_ctx ctx, const struct filter_rule *r)
{
	return seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, r->call, r->args,
				      r->args ? r->arg : NULL);
}

static int
S_fill(scmp_filter_ctx ctx)
{
	const struct filter_rule own_abort = {
		SCMP_SYS(tgkill), 2,
		{ EQ(0, (scmp_datum_t)getpid()), EQ(2, SIGABRT) }
	};
	int rc;

	/* Calls of another architecture's table (32-bit ones on x86-64) would
	   carry other numbers: they die as well. */
	rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
			      SCMP_ACT_KILL_PROCESS);
	if (!rc)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1);
	for (size_t i = 0; !rc && i < sizeof(rules) / sizeof(rules[0]); i++)
		rc = S_add(ctx, &rules[i]);
	if (!rc)
		rc = S_add(ctx, &own_abort);
	return rc;
}

int
filter_load(struct fault *f)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int rc;

	if (!ctx)
		return fault_set(f, FAULT_SANDBOX,
				 "libseccomp can't make a filter");
	rc = S_fill(ctx);
	if (rc) {
		seccomp_release(ctx);
		return fault_sys(f, FAULT_SANDBOX, -rc,
				 "make the system call filter");
	}
	rc = seccomp_load(ctx);
	seccomp_release(ctx);
	if (rc)
		return fault_sys(f, FAULT_SANDBOX, -rc,
				 "load the system call filter");
	return 0;
}

int
filter_cap_memory(uint64_t bytes, struct fault *f)
{
	const struct rlimit limit = { .rlim_cur = bytes, .rlim_max = bytes };

	/* EPERM: an outer limit is lower already. */
	if (setrlimit(RLIMIT_AS, &limit) && errno != EPERM)
		return fault_sys(f, FAULT_SANDBOX, errno,
				 "limit the helper's address space");
	return 0;
}
