/*
 * attack_target.c - a stopped or running thread of the command, seen by us
 */
#include "controls/attack_target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* One tick may have been taken before the call and booked after it. */
#define TARGET_TICKS 2
#define TARGET_LINE_MAX 1024
/* No lookup waits that long, but for a file system whose server is slow. */
#define TARGET_LOOKUP_MS 100

/* At most `size` bytes, as far as there are any. */
static ssize_t
S_memory(pid_t thread, uint64_t from, void *to, size_t size)
{
	struct iovec here = { to, size };
	struct iovec there = { (void *)(uintptr_t)from, size };
	ssize_t n = process_vm_readv(thread, &here, 1, &there, 1, 0);
	char path[64];
	int fd;

	if (n >= 0 || errno == EFAULT)
		return n;
	snprintf(path, sizeof(path), "/proc/%d/mem", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = pread(fd, to, size, (off_t)from);
	close(fd);
	return n;
}

/* Page by page: what follows the text may not be mapped. */
static int
S_text(pid_t thread, uint64_t from, char *to, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), done = 0;

	while (done < size) {
		size_t want = page - (from + done) % page;
		ssize_t n;

		if (want > size - done)
			want = size - done;
		n = S_memory(thread, from + done, to + done, want);
		if (n <= 0)
			return -1;
		if (memchr(to + done, '\0', (size_t)n))
			return 0;
		done += (size_t)n;
	}
	errno = ENAMETOOLONG;
	return -1;
}

static int
S_openat2(const struct seccomp_notif *n, struct target_open *o)
{
	struct open_how how = { 0 };
	size_t size = n->data.args[3];

	o->call = "openat2";
	if (size > sizeof(how))
		size = sizeof(how);
	if (S_memory((pid_t)n->pid, n->data.args[2], &how, size) !=
	    (ssize_t)size)
		return -1;
	o->flags = how.flags;
	o->resolve = how.resolve;
	return 0;
}

int
target_decode(const struct seccomp_notif *n, struct target_open *o)
{
	const __u64 *a = n->data.args;
	uint64_t path = a[1];

	o->dirfd = (int)a[0];
	o->resolve = 0;
	o->path[0] = '\0';
	switch (n->data.nr) {
#ifdef __NR_open
	case __NR_open:
		o->call = "open";
		o->dirfd = AT_FDCWD;
		o->flags = (unsigned)a[1];
		path = a[0];
		break;
	case __NR_creat:
		o->call = "creat";
		o->dirfd = AT_FDCWD;
		o->flags = O_CREAT | O_WRONLY | O_TRUNC;
		path = a[0];
		break;
#endif
	case __NR_openat:
		o->call = "openat";
		o->flags = (unsigned)a[2];
		break;
	case __NR_openat2:
		if (S_openat2(n, o))
			return -1;
		break;
	default:
		return 1;
	}
	if (!S_text((pid_t)n->pid, path, o->path, sizeof(o->path)))
		return 0;
	o->path[0] = '\0';
	return -1;
}

/* A file of /proc/THREAD as text; -1: it can't be read. */
static int
S_proc(pid_t thread, const char *name, char text[TARGET_LINE_MAX])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", thread, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, TARGET_LINE_MAX - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? 0 : -1;
}

pid_t
target_process(pid_t thread)
{
	char text[TARGET_LINE_MAX];
	const char *at;

	if (S_proc(thread, "status", text))
		return 0;
	at = strstr(text, "\nTgid:");
	return at ? (pid_t)atoi(at + 6) : 0;
}

/* State and ticks in user mode; -1: it does not live. */
static int
S_stat(pid_t thread, char *state, unsigned long *ticks)
{
	char text[TARGET_LINE_MAX];
	const char *after;

	if (S_proc(thread, "stat", text))
		return -1;
	after = strrchr(text, ')');
	if (!after || sscanf(after, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u "
			     "%*u %lu", state, ticks) != 2)
		return -1;
	return *state == 'Z' || *state == 'X' ? -1 : 0;
}

static bool
S_had(const struct target_mark *m, int fd)
{
	for (size_t i = 0; i < m->nhad; i++)
		if (m->had[i] == fd)
			return true;
	return false;
}

/* The first descriptor of the file that is not among those it had. */
static int
S_holds(const struct target_mark *m, int *into, size_t room, size_t *n)
{
	char path[64];
	struct stat st;
	const struct dirent *e;
	DIR *d;
	int found = -1;

	if (!m->ino)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/fd", m->thread);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		int fd = atoi(e->d_name);

		if (e->d_name[0] == '.' ||
		    fstatat(dirfd(d), e->d_name, &st, 0) ||
		    st.st_ino != m->ino || st.st_dev != m->dev)
			continue;
		if (into && *n < room)
			into[(*n)++] = fd;
		else if (!into && !S_had(m, fd) && (found < 0 || fd < found))
			found = fd;
	}
	if (d)
		closedir(d);
	return found;
}

void
target_watch(struct target_mark *m)
{
	char state;

	clock_gettime(CLOCK_MONOTONIC, &m->since);
	if (S_stat(m->thread, &state, &m->ticks))
		m->ticks = 0;
}

void
target_mark(struct target_mark *m, const struct seccomp_notif *n, dev_t dev,
	    ino_t ino)
{
	*m = (struct target_mark){ .thread = (pid_t)n->pid,
				   .call = n->data.nr, .dev = dev,
				   .ino = ino };
	S_holds(m, m->had, TARGET_GAINED_MAX, &m->nhad);
	target_watch(m);
}

int
target_gained(const struct target_mark *m)
{
	return S_holds(m, NULL, 0, NULL);
}

static long
S_ms_since(const struct target_mark *m)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - m->since.tv_sec) * 1000 +
	       (now.tv_nsec - m->since.tv_nsec) / 1000000;
}

/*
 * No call tells that another thread's call has returned. It has when
 *   - the thread is dead;
 *   - it sleeps in another call, or between calls;
 *   - it has slept for a while in the call so that signals wake it: that is
 *     a FIFO or a lease, and the name was looked up before;
 *   - its table shows the file;
 *   - it has spent time in user mode.
 * A thread that waits for its turn on a processor is none of these, however
 * long it waits.
 */
bool
target_through(const struct target_mark *m)
{
	char text[TARGET_LINE_MAX], state;
	unsigned long ticks;

	if (S_stat(m->thread, &state, &ticks))
		return true;
	if (!S_proc(m->thread, "syscall", text) &&
	    strncmp(text, "running", 7) != 0)
		return atoi(text) != m->call ||
		       (state == 'S' && S_ms_since(m) > TARGET_LOOKUP_MS);
	return target_gained(m) >= 0 || ticks >= m->ticks + TARGET_TICKS;
}
