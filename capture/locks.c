/*
 * locks.c - SQLite's locks on a main file, as /proc/PID/fdinfo shows them
 */
#include "capture/locks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PENDING_BYTE 0x40000000u
#define RESERVED_BYTE (PENDING_BYTE + 1)
#define SHARED_FIRST (PENDING_BYTE + 2)
#define SHARED_SIZE 510u

struct range {
	bool write;
	uint64_t first, last;
};

static bool
S_covers(const struct range *r, uint64_t first, uint64_t last)
{
	return r->first <= last && first <= r->last;
}

/* 0: a POSIX or OFD lock; 1: another kind; -1: the line is not as known. */
static int
S_parse_lock(const char *line, struct range *r)
{
	char type[16], access[16], last[24];

	/* ID: TYPE ADVISORY ACCESS PID MAJOR:MINOR:INODE FIRST LAST */
	if (sscanf(line, "lock: %*d: %15s %*s %15s %*d %*s %" SCNu64 " %23s",
		   type, access, &r->first, last) != 4)
		return -1;
	if (strcmp(type, "POSIX") && strcmp(type, "OFDLCK"))
		return 1;
	r->write = !strcmp(access, "WRITE");
	r->last = strcmp(last, "EOF") ? strtoull(last, NULL, 10) : UINT64_MAX;
	return 0;
}

static void
S_add(struct main_locks *out, pid_t pid, const struct range *r)
{
	bool on_shared = S_covers(r, SHARED_FIRST,
				  SHARED_FIRST + SHARED_SIZE - 1);

	if (r->write && S_covers(r, PENDING_BYTE, PENDING_BYTE))
		out->pending = true;
	if (r->write && S_covers(r, RESERVED_BYTE, RESERVED_BYTE))
		out->reserved = true;
	if (r->write && on_shared) {
		out->exclusive = true;
		out->exclusive_pid = pid;
	}
	if (!r->write && on_shared)
		out->shared = true;
}

static void
S_close_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

int
locks_of_main(const struct proc *p, pid_t tid, int fd, struct main_locks *out,
	      struct fault *f)
{
	char name[48];
	FILE *file __attribute__((cleanup(S_close_file))) = NULL;
	struct main_locks found = *out;
	size_t room = 0;
	OWN_MEM(char, line);
	OWN_FD(info);

	(void)snprintf(name, sizeof(name), "task/%d/fdinfo/%d", (int)tid, fd);
	info = openat(p->dirfd, name, O_RDONLY | O_CLOEXEC);
	if (info < 0 && (errno == ENOENT || errno == ESRCH))
		return fault_set(f, FAULT_UNSTABLE,
				 "process %d: descriptor %d is not open",
				 (int)p->pid, fd);
	if (info < 0 || !(file = fdopen(info, "r")))
		return fault_sys(f, FAULT_TROUBLE, errno, "open /proc/%d/%s",
				 (int)p->pid, name);
	(void)TAKE_FD(info);
	while (getline(&line, &room, file) > 0) {
		struct range r;
		int kind;

		if (strncmp(line, "lock:", 5))
			continue;
		kind = S_parse_lock(line, &r);
		if (kind < 0)
			return fault_set(f, FAULT_TROUBLE,
					 "/proc/%d/%s: a lock is not in the "
					 "known form", (int)p->pid, name);
		if (kind == 0)
			S_add(&found, p->pid, &r);
	}
	if (ferror(file))
		return fault_sys(f, FAULT_TROUBLE, errno, "read /proc/%d/%s",
				 (int)p->pid, name);
	*out = found;
	return 0;
}

int
locks_in_the_way(int fd, bool write_only, struct main_locks *found,
		 pid_t *pid)
{
	static const uint64_t first[] = { PENDING_BYTE, RESERVED_BYTE,
					  SHARED_FIRST };
	int none = 1;

	*found = (struct main_locks)MAIN_LOCKS_INIT;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		struct flock l = {
			.l_type = write_only ? F_RDLCK : F_WRLCK,
			.l_whence = SEEK_SET,
			.l_start = (off_t)first[i],
			.l_len = first[i] == SHARED_FIRST ? SHARED_SIZE : 1,
		};
		struct range r;

		if (fcntl(fd, F_GETLK, &l) != 0 || l.l_type == F_UNLCK)
			continue;
		r.write = l.l_type == F_WRLCK;
		r.first = r.last = first[i];
		S_add(found, l.l_pid, &r);
		*pid = l.l_pid;
		none = 0;
	}
	return none;
}
