/*
 * attack_filter.c - which calls of the command stop for the supervisor
 *
 * When answers are injected, opens alone stop: nothing is ever exchanged.
 *
 * When names are exchanged the window has to be shut before the command, or
 * someone it talks to, looks at them again. So what stops is:
 *   - opens;
 *   - every call that looks a name up, lists a folder, or changes names: it
 *     would show the exchange, or undo it behind our back;
 *   - what a thread does with a descriptor that it has just been given. This
 *     is how we learn that the open has returned: no call says so. These
 *     show nothing by themselves, but until one of them the window would be
 *     open, for others as well;
 *   - writes, by which the command may tell somebody to look.
 * What passes (futex, poll, send and the like) leaves the window open until
 * the supervisor's own look at the thread, a millisecond later. sendmsg and
 * recvfrom must pass: the listener itself is handed over by them.
 *
 * io_uring opens files without any call that a filter sees: it is not
 * there (ENOSYS), and programs that use it have another way. Calls of
 * another architecture have other numbers: x32 gets ENOSYS, and a 32-bit
 * program is killed by SIGSYS rather than run unattacked.
 */
#include "controls/attack_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#define FILTER_X32 0x40000000
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#else
#error "the calls of this architecture are not known here"
#endif

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const unsigned opens[] = {
#ifdef __NR_open
	__NR_open, __NR_creat,
#endif
	__NR_openat, __NR_openat2,
};

static const unsigned names[] = {
#ifdef __NR_open
	/* Old spellings, which newer architectures do not have. */
	__NR_stat, __NR_lstat, __NR_access, __NR_readlink, __NR_getdents,
	__NR_rename, __NR_link, __NR_symlink, __NR_unlink, __NR_mkdir,
	__NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes,
	__NR_futimesat, __NR_mknod, __NR_rmdir,
#endif
	__NR_newfstatat, __NR_statx, __NR_faccessat, __NR_faccessat2,
	__NR_readlinkat, __NR_getdents64, __NR_name_to_handle_at,
	__NR_open_by_handle_at, __NR_statfs, __NR_getxattr, __NR_lgetxattr,
	__NR_listxattr, __NR_llistxattr, __NR_setxattr, __NR_lsetxattr,
	__NR_removexattr, __NR_lremovexattr, __NR_inotify_add_watch,
	__NR_fanotify_mark, __NR_execve, __NR_execveat, __NR_truncate,
	__NR_renameat, __NR_renameat2, __NR_linkat, __NR_symlinkat,
	__NR_unlinkat, __NR_mkdirat, __NR_mknodat, __NR_fchmodat,
	__NR_fchownat, __NR_utimensat, __NR_mount, __NR_open_tree,
};

/* The first things done with a new descriptor, and how others are told. */
static const unsigned uses[] = {
	__NR_fstat, __NR_fstatfs, __NR_read, __NR_pread64, __NR_readv,
	__NR_preadv, __NR_preadv2, __NR_lseek, __NR_mmap, __NR_fcntl,
	__NR_flock, __NR_fadvise64, __NR_close, __NR_dup, __NR_dup3,
#ifdef __NR_dup2
	__NR_dup2,
#endif
	__NR_fgetxattr, __NR_flistxattr, __NR_sendfile, __NR_copy_file_range,
	__NR_ftruncate, __NR_fsync, __NR_fdatasync, __NR_ioctl,
	__NR_write, __NR_pwrite64, __NR_writev, __NR_pwritev, __NR_pwritev2,
};

#define FILTER_HEAD 10
#define FILTER_MAX (FILTER_HEAD + 2 * (COUNT(opens) + COUNT(names) + \
	COUNT(uses)) + 1)

struct program {
	struct sock_filter line[FILTER_MAX];
	unsigned short n;
};

static void
S_add(struct program *p, struct sock_filter line)
{
	p->line[p->n++] = line;
}

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(v) BPF_STMT(BPF_RET | BPF_K, (v))
#define FILTER_NOSYS (SECCOMP_RET_ERRNO | ENOSYS)

static void
S_calls(struct program *p, const unsigned *calls, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		S_add(p, (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1));
		S_add(p, (struct sock_filter)RETURN(SECCOMP_RET_USER_NOTIF));
	}
}

static void
S_build(struct program *p, bool looks)
{
	static const struct sock_filter head[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
#ifdef FILTER_X32
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FILTER_X32, 0, 1),
		RETURN(FILTER_NOSYS),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
		RETURN(FILTER_NOSYS),
	};

	_Static_assert(COUNT(head) <= FILTER_HEAD, "room for the head");
	p->n = 0;
	for (size_t i = 0; i < COUNT(head); i++)
		S_add(p, head[i]);
	S_calls(p, opens, COUNT(opens));
	if (looks) {
		S_calls(p, names, COUNT(names));
		S_calls(p, uses, COUNT(uses));
	}
	S_add(p, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
}

/* libseccomp does not know the flag that keeps signals out: by hand. */
static int
S_seccomp(unsigned long flags, const struct sock_fprog *prog)
{
	return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, prog);
}

static bool
S_among(const unsigned *calls, size_t n, int call)
{
	for (size_t i = 0; i < n; i++)
		if (calls[i] == (unsigned)call)
			return true;
	return false;
}

bool
filter_names(int call)
{
	return S_among(opens, COUNT(opens), call) ||
	       S_among(names, COUNT(names), call);
}

int
filter_install(bool looks, struct filter_listener *l)
{
	struct program p;
	struct sock_fprog prog = { .filter = p.line };
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;

	S_build(&p, looks);
	prog.len = p.n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return errno;
	l->fd = S_seccomp(flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			  &prog);
	l->killable = l->fd >= 0;
	if (l->fd < 0 && errno == EINVAL)
		l->fd = S_seccomp(flags, &prog);
	return l->fd < 0 ? errno : 0;
}
