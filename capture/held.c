/*
 * held.c - one file of the evidence, held by descriptor
 */
#include "capture/held.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/own.h"

#define HELD_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

const char *
held_type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "regular file";
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symbolic link";
	case S_IFIFO:
		return "FIFO";
	case S_IFSOCK:
		return "socket";
	case S_IFCHR:
	case S_IFBLK:
		return "device";
	}
	return "file of unknown type";
}

/*
 * O_NOATIME leaves the access time alone, and only the owner and CAP_FOWNER
 * may ask for it; without the right the open is made without it.
 */
static int
S_open_magic(int dirfd, const char *magic)
{
	int fd = openat(dirfd, magic, HELD_FLAGS | O_NOATIME);

	if (fd < 0 && errno == EPERM)
		fd = openat(dirfd, magic, HELD_FLAGS);
	return fd;
}

static int
S_reopen(int fd)
{
	char magic[64];

	(void)snprintf(magic, sizeof(magic), "/proc/self/fd/%d", fd);
	return S_open_magic(AT_FDCWD, magic);
}

/*
 * The duplicate shares the writer's open file description, offset, flags
 * and flock included: it is only a way to the inode, and closed at once.
 */
static int
S_open_duplicate(const struct proc *p, int fd)
{
	OWN_FD(pidfd);
	OWN_FD(duplicate);

	pidfd = pidfd_open(p->pid, 0);
	if (pidfd < 0)
		return -1;
	duplicate = pidfd_getfd(pidfd, fd, 0);
	if (duplicate < 0)
		return -1;
	return S_reopen(duplicate);
}

/* "task/TID/fd/N": a thread may have a descriptor table of its own. */
#define MAGIC_BYTES 64

static void
S_magic(char magic[MAGIC_BYTES], pid_t tid, int fd)
{
	(void)snprintf(magic, MAGIC_BYTES, "task/%d/fd/%d", (int)tid, fd);
}

int
held_from_process(struct held *h, const struct proc *p,
		  const struct holder_fd *e, struct fault *f)
{
	char magic[MAGIC_BYTES];
	struct stat st;
	OWN_FD(got);
	int err;

	S_magic(magic, e->tid, e->fd);
	got = S_open_magic(p->dirfd, magic);
	if (got < 0) {
		err = errno;
		got = S_open_duplicate(p, e->fd);
		if (got < 0) {
			fault_sys(f, FAULT_TROUBLE, err,
				  "descriptor %d of process %d can't be opened",
				  e->fd, (int)p->pid);
			if (err != EACCES && err != EPERM)
				return -(int)f->code;
			return fault_hint(f, "run as root or as the owner of "
					  "the file; see holdfast-capture(1),"
					  " PRIVILEGES");
		}
	}
	if (fstat(got, &st) != 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "fstat");
	if (st.st_dev != e->dev || st.st_ino != e->ino)
		return fault_set(f, FAULT_UNSTABLE,
				 "descriptor %d of process %d: expected inode "
				 "%ju:%ju, found %ju:%ju", e->fd, (int)p->pid,
				 (uintmax_t)e->dev, (uintmax_t)e->ino,
				 (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	h->st = st;
	h->pid = p->pid;
	h->tid = e->tid;
	h->pid_fd = e->fd;
	h->fd = TAKE_FD(got);
	return 0;
}

int
held_still_open(const struct held *h, const struct proc *p, struct fault *f)
{
	char magic[MAGIC_BYTES];
	struct stat st;

	S_magic(magic, h->tid, h->pid_fd);
	if (fstatat(p->dirfd, magic, &st, 0) == 0 &&
	    held_is(h, st.st_dev, st.st_ino))
		return 0;
	return fault_set(f, FAULT_UNSTABLE, "descriptor %d of process %d is "
			 "no longer %ju:%ju", h->pid_fd, (int)h->pid,
			 (uintmax_t)h->st.st_dev, (uintmax_t)h->st.st_ino);
}

int
held_from_path_fd(struct held *h, int path_fd, struct fault *f)
{
	struct stat want, st;
	OWN_FD(got);

	if (fstat(path_fd, &want) != 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "fstat");
	if (!S_ISREG(want.st_mode))
		return fault_set(f, FAULT_REFUSED, "%ju:%ju is a %s, "
				 "not a regular file",
				 (uintmax_t)want.st_dev, (uintmax_t)want.st_ino,
				 held_type_name(want.st_mode));
	got = S_reopen(path_fd);
	if (got < 0)
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "inode %ju:%ju can't be opened for reading",
				 (uintmax_t)want.st_dev,
				 (uintmax_t)want.st_ino);
	if (fstat(got, &st) != 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "fstat");
	if (st.st_dev != want.st_dev || st.st_ino != want.st_ino)
		return fault_set(f, FAULT_UNSTABLE, "expected inode %ju:%ju, "
				 "found %ju:%ju", (uintmax_t)want.st_dev,
				 (uintmax_t)want.st_ino, (uintmax_t)st.st_dev,
				 (uintmax_t)st.st_ino);
	h->st = st;
	h->pid = 0;
	h->pid_fd = -1;
	h->fd = TAKE_FD(got);
	return 0;
}

static bool
S_time_moved(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec || a->tv_nsec != b->tv_nsec;
}

int
held_still(const struct held *h, struct fault *f)
{
	const char *moved = NULL;
	struct stat st;

	if (fstat(h->fd, &st) != 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "fstat");
	if (st.st_size != h->st.st_size)
		return fault_set(f, FAULT_UNSTABLE, "%s changed while it was "
				 "read: its size was %jd, is %jd",
				 role_name(h->role), (intmax_t)h->st.st_size,
				 (intmax_t)st.st_size);
	if (S_time_moved(&st.st_mtim, &h->st.st_mtim))
		moved = "modification time";
	else if (S_time_moved(&st.st_ctim, &h->st.st_ctim))
		moved = "change time";
	else if (st.st_dev != h->st.st_dev || st.st_ino != h->st.st_ino)
		moved = "inode";
	else if (st.st_nlink != h->st.st_nlink)
		moved = "link count";
	if (!moved)
		return 0;
	return fault_set(f, FAULT_UNSTABLE, "%s (%ju:%ju) changed while it was"
			 " read: its %s moved", role_name(h->role),
			 (uintmax_t)h->st.st_dev, (uintmax_t)h->st.st_ino,
			 moved);
}

void
held_free(struct held *h)
{
	own_fd_close(&h->fd);
}
