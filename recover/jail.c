/*
 * jail.c - the helper gives up all that it does not need, for good
 */
#include "recover/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "recover/filter.h"
#include "reply/ask.h"

/*
 * BOUNDARY recover.closed
 *
 * Before:   the caller's ids, no input read yet, the documented descriptors
 *           and no others.
 * After:    pread the images, write the reply, grow the heap, exit.
 * Crosses:  images and the ask in, reply out; the parent caps the reply and
 *           believes none of it.
 * If it cannot be put up: FAULT_SANDBOX. There is no unsandboxed path.
 *           Landlock alone may be missing (an older kernel): the filter
 *           allows no call that it would judge, so it is a second wall
 *           only, and its absence is reported.
 * If it is broken: the kernel kills us; the parent keeps the images.
 * Shown by: tests/unit/t_jail.c, tests/unit/t_dropped.c
 *
 * The order of the steps, each of which may need what the next takes away:
 *   0. What glibc would ask the system for later, it asks for now.
 *   1. Descriptors, while close_range is ours.
 *   2. Limits; lowering one needs no right. The limit on processes waits for
 *      jail_shut: with it no thread could be started.
 *   3. The bounding set needs CAP_SETPCAP, so it goes before the ids.
 *   4. Groups, then gid, then uid: each needs the one behind it to be root's
 *      still. All are read back, and that root can't be had again is tried.
 *   5. Capability sets, explicitly: the change of uid has emptied them only
 *      if no securebits say otherwise, and not the inheritable one.
 *   6. The signal at the parent's death; a change of ids clears it.
 *   7. no_new_privs, without which Landlock and seccomp refuse us now that
 *      the capabilities are gone.
 *   8. Landlock.
 *   9. jail_shut: no processes, then the filter, which forbids all of these.
 *
 * The dumpable flag stays: an unprivileged parent may look at a helper of
 * its own uid only so. Where the uid changed the kernel has cleared it, and
 * the parent is root.
 */

/* linux/landlock.h of the build machine may be older than the kernel. */
struct landlock_attr {
	uint64_t fs, net, scoped;
};

#define LANDLOCK_VERSION_FLAG 1u

static const struct {
	int abi;
	struct landlock_attr attr;
	size_t size;
} landlock_steps[] = {
	{ 6, { 0xffff, 0x3, 0x3 }, 24 },	/* scoped signals, sockets */
	{ 5, { 0xffff, 0x3, 0 }, 16 },		/* ioctl of devices */
	{ 4, { 0x7fff, 0x3, 0 }, 16 },		/* bind and connect of TCP */
	{ 3, { 0x7fff, 0, 0 }, 8 },		/* truncate */
	{ 2, { 0x3fff, 0, 0 }, 8 },		/* refer */
	{ 1, { 0x1fff, 0, 0 }, 8 },
};

#define JAIL_ARENAS 2			/* one for each thread */
#define JAIL_MMAP_FROM (4 << 20)	/* bytes: blocks with a map of their own */

static int
S_compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * Each of these would be our end inside the filter:
 *   - malloc counts the processors before it gives a second thread an arena,
 *     unless it is told how many arenas there may be;
 *   - it opens /proc/sys/vm/overcommit_memory before it shrinks that arena,
 *     unless it is told never to;
 *   - qsort asks how much memory there is when it first sorts more than a
 *     kilobyte.
 * Where malloc is another's and takes no advice, the filter still decides.
 */
static void
S_settle_glibc(void)
{
	enum { MORE_THAN_A_KILOBYTE = 512 };
	int sorted[MORE_THAN_A_KILOBYTE];

	(void)mallopt(M_ARENA_MAX, JAIL_ARENAS);
	(void)mallopt(M_TRIM_THRESHOLD, -1);
	(void)mallopt(M_MMAP_THRESHOLD, JAIL_MMAP_FROM);
	for (int i = 0; i < MORE_THAN_A_KILOBYTE; i++)
		sorted[i] = MORE_THAN_A_KILOBYTE - i;
	qsort(sorted, MORE_THAN_A_KILOBYTE, sizeof(sorted[0]), S_compare);
}

static int
S_close_others(int *end, struct fault *f)
{
	int fd = 0;

	while (fcntl(fd, F_GETFD) >= 0)
		fd++;
	if (fd < EVIDENCE_FD)
		return fault_set(f, FAULT_SANDBOX,
				 "the helper was started without descriptor %d",
				 fd);
	if (close_range((unsigned)fd, ~0u, 0))
		return fault_sys(f, FAULT_SANDBOX, errno,
				 "close the descriptors from %d on", fd);
	*end = fd;
	return 0;
}

static int
S_limit(int resource, rlim_t n, const char *name, struct fault *f)
{
	const struct rlimit limit = { .rlim_cur = n, .rlim_max = n };

	if (setrlimit((__rlimit_resource_t)resource, &limit))
		return fault_sys(f, FAULT_SANDBOX, errno, "set RLIMIT_%s",
				 name);
	return 0;
}

static int
S_limits(int descriptors, struct fault *f)
{
	int rc = S_limit(RLIMIT_CORE, 0, "CORE", f);

	if (!rc)
		rc = S_limit(RLIMIT_FSIZE, 0, "FSIZE", f);
	if (!rc)
		rc = S_limit(RLIMIT_MEMLOCK, 0, "MEMLOCK", f);
	if (!rc)
		rc = S_limit(RLIMIT_MSGQUEUE, 0, "MSGQUEUE", f);
	if (!rc)
		rc = S_limit(RLIMIT_NOFILE, (rlim_t)descriptors, "NOFILE", f);
	return rc;
}

static bool
S_is_root(void)
{
	uid_t r, e, s;

	return getresuid(&r, &e, &s) || r == 0 || e == 0 || s == 0;
}

static int
S_drop_bounding(bool root, struct fault *f)
{
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++) {
		if (!prctl(PR_CAPBSET_DROP, cap))
			continue;
		/* Without CAP_SETPCAP it can't be done, and without root and
		   with no_new_privs the set has no use. */
		if (errno == EPERM && !root)
			return 0;
		fault_sys(f, FAULT_SANDBOX, errno,
			  "drop capability %lu from the bounding set", cap);
		return fault_hint(f, "root without CAP_SETPCAP can't drop"
				  " privileges fully; run as an ordinary user"
				  " or with the capability");
	}
	return 0;
}

static int
S_ids_verify(uid_t uid, gid_t gid, bool root, struct fault *f)
{
	uid_t ru, eu, su;
	gid_t rg, eg, sg;

	if (getresuid(&ru, &eu, &su) || getresgid(&rg, &eg, &sg))
		return fault_sys(f, FAULT_SANDBOX, errno, "read the ids back");
	if (ru != uid || eu != uid || su != uid || rg != gid || eg != gid ||
	    sg != gid)
		return fault_set(f, FAULT_SANDBOX,
				 "the ids are uid %u %u %u gid %u %u %u and"
				 " not %u and %u", ru, eu, su, rg, eg, sg, uid,
				 gid);
	if (root && (getgroups(0, NULL) != 0 || setresuid(0, 0, 0) == 0))
		return fault_set(f, FAULT_SANDBOX,
				 "root's ids or groups could be had again");
	return 0;
}

static int
S_drop_ids(bool root, struct fault *f)
{
	uid_t uid = root ? JAIL_UID : getuid();
	gid_t gid = root ? JAIL_GID : getgid();

	if ((root && setgroups(0, NULL)) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid)) {
		fault_sys(f, FAULT_SANDBOX, errno,
			  "become uid %u and gid %u", uid, gid);
		return fault_hint(f, "root needs CAP_SETUID and CAP_SETGID, and"
				  " a user namespace must map uid and gid %d;"
				  " an ordinary user needs neither", JAIL_UID);
	}
	return S_ids_verify(uid, gid, root, f);
}

static int
S_drop_capabilities(struct fault *f)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	struct __user_cap_data_struct left[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) ||
	    syscall(SYS_capset, &head, none) ||
	    syscall(SYS_capget, &head, left))
		return fault_sys(f, FAULT_SANDBOX, errno,
				 "drop the capabilities");
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		if (left[i].effective || left[i].permitted ||
		    left[i].inheritable)
			return fault_set(f, FAULT_SANDBOX,
					 "capabilities are left");
	return 0;
}

/* parent: who started us; a parent that died meanwhile sends no signal. */
static int
S_die_with(pid_t parent, struct fault *f)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return fault_sys(f, FAULT_SANDBOX, errno,
				 "ask to die with the front end");
	if (getppid() != parent)
		return fault_set(f, FAULT_SANDBOX, "the front end is gone");
	return 0;
}

static int
S_landlock(int *abi, struct fault *f)
{
	long found = syscall(SYS_landlock_create_ruleset, NULL, 0,
			     LANDLOCK_VERSION_FLAG);
	size_t i = 0;
	OWN_FD(ruleset);

	*abi = 0;
	if (found < 1) {
		if (errno == ENOSYS || errno == EOPNOTSUPP)
			return 0;
		return fault_sys(f, FAULT_SANDBOX, errno,
				 "ask for Landlock's version");
	}
	while (landlock_steps[i].abi > found)
		i++;
	ruleset = (int)syscall(SYS_landlock_create_ruleset,
			       &landlock_steps[i].attr, landlock_steps[i].size,
			       0);
	if (ruleset < 0 || syscall(SYS_landlock_restrict_self, ruleset, 0))
		return fault_sys(f, FAULT_SANDBOX, errno,
				 "put up Landlock (ABI %ld)", found);
	*abi = (int)found;
	return 0;
}

int
jail_drop(struct jail_report *r, struct fault *f)
{
	struct jail_report done = { 0 };
	pid_t parent = getppid();
	bool root = S_is_root();
	int rc;

	S_settle_glibc();
	rc = S_close_others(&done.descriptors, f);
	/* One more for the ruleset, which is closed again below. */
	if (!rc)
		rc = S_limits(done.descriptors + 1, f);
	if (!rc)
		rc = S_drop_bounding(root, f);
	if (!rc)
		rc = S_drop_ids(root, f);
	if (!rc)
		rc = S_drop_capabilities(f);
	if (!rc)
		rc = S_die_with(parent, f);
	if (!rc && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		rc = fault_sys(f, FAULT_SANDBOX, errno, "set no_new_privs");
	if (!rc)
		rc = S_landlock(&done.landlock, f);
	if (!rc)
		rc = S_limit(RLIMIT_NOFILE, (rlim_t)done.descriptors, "NOFILE",
			     f);
	if (!rc)
		*r = done;
	return rc;
}

int
jail_shut(struct fault *f)
{
	int rc = S_limit(RLIMIT_NPROC, 0, "NPROC", f);

	return rc ? rc : filter_load(f);
}
