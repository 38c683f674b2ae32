/*
 * stopped.c - files that nobody holds open, taken by name all the same
 */
#include "capture/stopped.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"

/*
 * The kernel makes whoever opens a leased file wait until we answer: so the
 * answer is given in the signal handler, at once. What was read until then
 * is lost, and stopped_lease_still says so.
 */
static void
S_lease_broken(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)sig;
	(void)context;
	(void)fcntl(info->si_fd, F_SETLEASE, F_UNLCK);
	errno = saved;
}

static int
S_watch_leases(int *sig, struct fault *f)
{
	struct sigaction sa = { .sa_sigaction = S_lease_broken,
				.sa_flags = SA_SIGINFO | SA_RESTART };
	sigset_t only;

	*sig = SIGRTMIN + 1;
	(void)sigemptyset(&sa.sa_mask);
	(void)sigemptyset(&only);
	(void)sigaddset(&only, *sig);
	if (sigaction(*sig, &sa, NULL) != 0 ||
	    sigprocmask(SIG_UNBLOCK, &only, NULL) != 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "watch leases");
	return 0;
}

/* Can anybody but root and us change an entry of this directory? */
static bool
S_open_to_others(const struct stat *dir, uid_t entry_owner)
{
	bool ours = dir->st_uid == 0 || dir->st_uid == geteuid();
	bool entry_ours = entry_owner == 0 || entry_owner == geteuid();

	if (!ours)
		return true;
	if (!(dir->st_mode & (S_IWGRP | S_IWOTH)))
		return false;
	return !((dir->st_mode & S_ISVTX) && entry_ours);
}

static void
S_describe(int dirfd, const struct stat *st, char *who, size_t n)
{
	char magic[64], path[512];
	ssize_t len;

	(void)snprintf(magic, sizeof(magic), "/proc/self/fd/%d", dirfd);
	len = readlink(magic, path, sizeof(path) - 1);
	path[len < 0 ? 0 : len] = '\0';
	(void)snprintf(who, n, "%s (uid %u, mode %04o)", path,
		       (unsigned)st->st_uid, (unsigned)(st->st_mode & 07777));
}

int
stopped_private(int dirfd, uid_t entry_owner, char *who, size_t who_bytes,
		struct fault *f)
{
	struct stat st, above;
	OWN_FD(at);

	at = openat(dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0 || fstat(at, &st) != 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "open the directory");
	for (;;) {
		int up;

		if (S_open_to_others(&st, entry_owner)) {
			S_describe(at, &st, who, who_bytes);
			return 1;
		}
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return fault_sys(f, FAULT_TROUBLE, errno,
					 "open the directory above");
		own_fd_close(&at);
		at = up;
		if (fstat(at, &above) != 0)
			return fault_sys(f, FAULT_TROUBLE, errno, "fstat");
		if (above.st_dev == st.st_dev && above.st_ino == st.st_ino)
			return 0;
		entry_owner = st.st_uid;
		st = above;
	}
}

int
stopped_take(struct held *h, int dirfd, const char *name, struct fault *f)
{
	struct stat st;
	OWN_FD(path_fd);

	path_fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (path_fd < 0 && errno == ENOENT)
		return 1;
	if (path_fd < 0 || fstat(path_fd, &st) != 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "look at the %s",
				 role_name(h->role));
	if (!S_ISREG(st.st_mode))
		return fault_set(f, FAULT_REFUSED, "where the %s belongs "
				 "stands a %s (%ju:%ju)", role_name(h->role),
				 held_type_name(st.st_mode),
				 (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	if (st.st_size == 0)
		return 1;
	return held_from_path_fd(h, path_fd, f);
}

int
stopped_lease(const struct held *h, struct notes *notes, bool *leased,
	      struct fault *f)
{
	int err, sig;

	*leased = false;
	if (S_watch_leases(&sig, f))
		return -(int)f->code;
	if (fcntl(h->fd, F_SETSIG, sig) == 0 &&
	    fcntl(h->fd, F_SETLEASE, F_RDLCK) == 0) {
		*leased = true;
		return 0;
	}
	err = errno;
	if (err == EAGAIN || err == EBUSY) {
		fault_set(f, FAULT_REFUSED, "%s (%ju:%ju) is open for writing "
			  "by a process that we can't see",
			  role_name(h->role), (uintmax_t)h->st.st_dev,
			  (uintmax_t)h->st.st_ino);
		return fault_hint(f, "run as root of the host, with "
				  "CAP_SYS_PTRACE: then every process can be "
				  "seen and paused");
	}
	return notes_add(notes, f, role_name(h->role),
			 "no read lease (%s): whether somebody opened it for "
			 "writing meanwhile was not checked",
			 strerrorname_np(err) ? strerrorname_np(err) : "error");
}

int
stopped_lease_still(const struct held *h, struct fault *f)
{
	if (fcntl(h->fd, F_GETLEASE) == F_RDLCK)
		return 0;
	return fault_set(f, FAULT_UNSTABLE, "%s (%ju:%ju) was opened for "
			 "writing while it was read", role_name(h->role),
			 (uintmax_t)h->st.st_dev, (uintmax_t)h->st.st_ino);
}
