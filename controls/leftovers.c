/*
 * leftovers.c - processes and files that should be gone
 */
#include "controls/leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEFTOVERS_GRACE_MS 2000

struct process {
	pid_t pid, parent;
	char state, name[64];
};

static bool
S_read(const char *entry, struct process *p)
{
	char path[64], line[512], *end, *name;
	int fd, n;

	(void)snprintf(path, sizeof(path), "/proc/%.20s/stat", entry);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = (int)read(fd, line, sizeof(line) - 1);
	(void)close(fd);
	line[n > 0 ? n : 0] = '\0';
	name = strchr(line, '(');
	end = strrchr(line, ')');
	if (!name || !end || end < name ||
	    sscanf(end + 1, " %c %d", &p->state, &p->parent) != 2)
		return false;
	p->pid = (pid_t)strtol(entry, NULL, 10);
	(void)snprintf(p->name, sizeof(p->name), "%.*s",
		       (int)(end - name - 1), name + 1);
	return true;
}

/* One living child of ours; the dead ones are taken off the table. */
static bool
S_child(struct process *p)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	bool found = false;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	while (d && !found && (e = readdir(d)))
		found = isdigit((unsigned char)e->d_name[0]) &&
			S_read(e->d_name, p) && p->parent == getpid() &&
			p->state != 'Z';
	if (d)
		(void)closedir(d);
	return found;
}

static long
S_now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* False: it is still there when the grace is over. */
static bool
S_ends(pid_t pid, long until)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long left = until - S_now_ms();
	int n;

	if (fd < 0)
		return true;
	do
		n = poll(&p, 1, left > 0 ? (int)left : 0);
	while (n < 0 && errno == EINTR);
	(void)close(fd);
	return n > 0;
}

void
leftovers_end(void (*tell)(void *arg, const char *what), void *arg)
{
	long until = S_now_ms() + (tell ? LEFTOVERS_GRACE_MS : 0);
	struct process p;
	char what[128];

	while (S_child(&p)) {
		if (S_ends(p.pid, until))
			continue;
		(void)snprintf(what, sizeof(what), "process %d (%s)", p.pid,
			       p.name);
		if (tell)
			tell(arg, what);
		(void)kill(p.pid, SIGKILL);
		(void)waitpid(p.pid, NULL, 0);
	}
}

static int
S_remove_one(const char *path, const struct stat *st, int flag,
	     struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	(void)remove(path);
	return 0;
}

void
leftovers_remove(const char *path, void (*tell)(void *arg, const char *what),
		 void *arg)
{
	char what[PATH_MAX + 32];
	struct stat st;

	(void)nftw(path, S_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (lstat(path, &st) && errno == ENOENT)
		return;
	(void)snprintf(what, sizeof(what), "the folder %s", path);
	tell(arg, what);
}
