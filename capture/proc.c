/*
 * proc.c - one process, identified by a held /proc directory
 */
#include "capture/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>


#define STAT_BYTES 1024		/* far more than up to field 22 */
#define KERNEL_THREAD 0x00200000u	/* PF_KTHREAD: linux/sched.h */
#define PROC_LOOKS 4		/* before an end is believed */

static bool
S_gone(int err)
{
	return err == ENOENT || err == ESRCH;
}

/*
 * Field 2 is the name in parentheses and may hold anything, so the fields
 * are counted from the last parenthesis on.
 */
static int
S_parse_stat(const char *text, struct proc_stat *s)
{
	const char *at = strrchr(text, ')');
	unsigned flags;

	if (!at || sscanf(at + 1, " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u "
			  "%*u %*u %*d %*d %*d %*d %ld %*d %" SCNu64,
			  &s->state, &flags, &s->threads, &s->start_time) != 4)
		return 1;
	s->kernel = flags & KERNEL_THREAD;
	return 0;
}

/* name is "stat" or "task/TID/stat"; 1: gone. */
static int
S_stat_at(int dirfd, pid_t pid, const char *name, struct proc_stat *s,
	  struct fault *f)
{
	char text[STAT_BYTES];
	ssize_t got;
	OWN_FD(fd);

	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && S_gone(errno))
		return 1;
	if (fd < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "open /proc/%d/%s",
				 (int)pid, name);
	/* One read gives all of it; most of our looks are at this file. */
	do
		got = read(fd, text, sizeof(text) - 1);
	while (got < 0 && errno == EINTR);
	if (got < 0 && S_gone(errno))
		return 1;
	if (got < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "read /proc/%d/%s",
				 (int)pid, name);
	text[got] = '\0';
	if (S_parse_stat(text, s))
		return fault_set(f, FAULT_TROUBLE,
				 "/proc/%d/%s is not in the known form",
				 (int)pid, name);
	return 0;
}

int
proc_is_kernel(int procfd, const char *pid, bool *kernel, struct fault *f)
{
	char name[32];
	struct proc_stat s;
	int rc;

	(void)snprintf(name, sizeof(name), "%s/stat", pid);
	rc = S_stat_at(procfd, (pid_t)atoi(pid), name, &s, f);
	*kernel = rc == 0 && s.kernel;
	return rc;
}

int
proc_open(pid_t pid, struct proc *p, struct fault *f)
{
	char path[32];
	struct proc_stat s;
	int rc;
	OWN_FD(fd);

	MUST(p->dirfd < 0);
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && S_gone(errno))
		return 1;
	if (fd < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "open %s", path);
	rc = S_stat_at(fd, pid, "stat", &s, f);
	if (rc)
		return rc;
	p->pid = pid;
	p->start_time = s.start_time;
	p->dirfd = TAKE_FD(fd);
	return 0;
}

void
proc_close(struct proc *p)
{
	own_fd_close(&p->dirfd);
}

int
proc_copy(const struct proc *p, struct proc *copy, struct fault *f)
{
	int fd = fcntl(p->dirfd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "hold /proc/%d",
				 (int)p->pid);
	*copy = *p;
	copy->dirfd = fd;
	return 0;
}

/*
 * Where a thread calls execve it takes the leader's id, and a look that began
 * just before still shows the old leader's end. A later look can't, but for
 * another execve.
 */
int
proc_stat(const struct proc *p, pid_t tid, struct proc_stat *s,
	  struct fault *f)
{
	char name[32] = "stat";
	int rc = 1;

	if (tid)
		(void)snprintf(name, sizeof(name), "task/%d/stat", (int)tid);
	for (int look = 0; look < PROC_LOOKS; look++) {
		rc = S_stat_at(p->dirfd, p->pid, name, s, f);
		if (rc < 0 || (rc == 0 && s->state != 'Z' && s->state != 'X'))
			break;
	}
	return rc;
}

int
proc_same(const struct proc *p, struct fault *f)
{
	struct proc_stat s;
	int rc = proc_stat(p, 0, &s, f);

	if (rc < 0)
		return rc;
	/* A leader may end before its threads: then others are counted. */
	if (rc == 1 || s.state == 'X' || (s.state == 'Z' && s.threads <= 1))
		return fault_set(f, FAULT_UNSTABLE, "process %d ended",
				 (int)p->pid);
	if (s.start_time != p->start_time)
		return fault_set(f, FAULT_UNSTABLE,
				 "process %d is another one now: it started at "
				 "tick %" PRIu64 ", not %" PRIu64, (int)p->pid,
				 s.start_time, p->start_time);
	return 0;
}

/* 0: line is "KEY:\tvalue\n", and the value is in out; else 1. */
static int
S_take_value(char *line, const char *key, char *out, size_t n)
{
	size_t len = strlen(key);
	char *value;

	if (strncmp(line, key, len) || line[len] != ':')
		return 1;
	value = line + len + 1;
	value += strspn(value, " \t");
	value[strcspn(value, "\n")] = '\0';
	(void)snprintf(out, n, "%s", value);
	return 0;
}

static void
S_close_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

int
proc_status_value(const struct proc *p, pid_t tid, const char *key, char *out,
		  size_t n, struct fault *f)
{
	char name[32] = "status";
	FILE *file __attribute__((cleanup(S_close_file))) = NULL;
	size_t room = 0;
	OWN_MEM(char, line);
	OWN_FD(fd);

	if (tid)
		(void)snprintf(name, sizeof(name), "task/%d/status", (int)tid);
	fd = openat(p->dirfd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && S_gone(errno))
		return 1;
	if (fd < 0 || !(file = fdopen(fd, "r")))
		return fault_sys(f, FAULT_TROUBLE, errno, "open /proc/%d/%s",
				 (int)p->pid, name);
	(void)TAKE_FD(fd);
	while (getline(&line, &room, file) > 0)
		if (!S_take_value(line, key, out, n))
			return 0;
	if (ferror(file) && !S_gone(errno))
		return fault_sys(f, FAULT_TROUBLE, errno, "read /proc/%d/%s",
				 (int)p->pid, name);
	return 1;
}

int
proc_ids(const struct proc *p, struct proc_ids *ids, struct fault *f)
{
	char value[PROC_VALUE_BYTES];
	int rc = proc_status_value(p, 0, "Uid", value, sizeof(value), f);

	if (rc)
		return rc;
	if (sscanf(value, "%u %u %u %u", &ids->real, &ids->effective,
		   &ids->saved, &ids->fs) != 4)
		return fault_set(f, FAULT_TROUBLE,
				 "/proc/%d/status: Uid is not in the known form",
				 (int)p->pid);
	return 0;
}

char *
proc_exe(const struct proc *p)
{
	char path[PATH_MAX];
	ssize_t n = readlinkat(p->dirfd, "exe", path, sizeof(path) - 1);

	if (n <= 0)
		return strdup("?");
	path[n] = '\0';
	return strdup(path);
}

void
proc_list_begin(struct proc_list *l, int fd)
{
	l->fd = fd;
	l->err = 0;
	l->at = l->len = 0;
}

static bool
S_is_number(const char *name)
{
	return *name && name[strspn(name, "0123456789")] == '\0';
}

const char *
proc_list_next(struct proc_list *l)
{
	for (;;) {
		const struct dirent64 *entry;

		if (l->at == l->len) {
			ssize_t n = getdents64(l->fd, l->bytes,
					       sizeof(l->bytes));

			if (n <= 0) {
				l->err = n < 0 ? errno : 0;
				return NULL;
			}
			l->at = 0;
			l->len = (size_t)n;
		}
		entry = (const struct dirent64 *)(const void *)
			(l->bytes + l->at);
		l->at += entry->d_reclen;
		l->ino = entry->d_ino;
		if (S_is_number(entry->d_name))
			return entry->d_name;
	}
}
