/*
 * unseen.c - processes that we can't look into, but whose locks the kernel
 * tells everybody of
 */
#include "capture/unseen.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/own.h"
#include "capture/locks.h"
#include "capture/proc.h"
#include "capture/rights.h"

struct lock_row {
	int pid;
	unsigned major, minor;
	uint64_t ino;
};

/* 0, or 1: it is a lock that is waited for, or not in the known form. */
static int
S_parse(const char *line, struct lock_row *row)
{
	char type[16], how[16], access[16];

	/* ID: TYPE ADVISORY ACCESS PID MAJOR:MINOR:INODE FIRST LAST */
	return sscanf(line, "%*d: %15s %15s %15s %d %x:%x:%" SCNu64, type, how,
		      access, &row->pid, &row->major, &row->minor,
		      &row->ino) != 7;
}

/*
 * Some file systems show another device here than fstat does; theirs has the
 * major number 0. There the inode number has to do: a refusal too many.
 */
static bool
S_is_on(const struct lock_row *row, const struct stat *file)
{
	bool same = row->major == major(file->st_dev) &&
		    row->minor == minor(file->st_dev);

	return row->ino == file->st_ino && row->pid != getpid() &&
	       (same || major(file->st_dev) == 0);
}

static int
S_refuse(int pid, const struct stat *file, struct fault *f)
{
	struct fault ignored = FAULT_INIT;
	struct rights r;
	OWN_PROC(p);

	if (pid <= 0) {
		fault_set(f, FAULT_TROUBLE, "a process that we can't see has a "
			  "lock on %ju:%ju: it is outside of this PID "
			  "namespace, or on another machine",
			  (uintmax_t)file->st_dev, (uintmax_t)file->st_ino);
		return fault_hint(f, "run holdfast where all processes are "
				  "seen: outside of the container");
	}
	fault_set(f, FAULT_TROUBLE, "process %d has a lock on %ju:%ju, and its "
		  "descriptors may not be read", pid, (uintmax_t)file->st_dev,
		  (uintmax_t)file->st_ino);
	if (proc_open((pid_t)pid, &p, &ignored))
		return fault_hint(f, "run as root: the process is not yours");
	rights_look(&p, RIGHTS_READ, &r);
	return rights_hint(&r, f);
}

static bool
S_is_seen(const struct holders *seen, pid_t pid)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->holder[i].pid == pid)
			return true;
	return false;
}

static int
S_refuse_rows(const struct stat *file, const struct holders *seen,
	      struct fault *f)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	struct lock_row row;
	int rc = 0;

	/* Without the table there is nothing to add to the notes. */
	if (!locks)
		return 0;
	while (rc == 0 && fgets(line, sizeof(line), locks))
		if (!S_parse(line, &row) && S_is_on(&row, file) &&
		    !S_is_seen(seen, row.pid))
			rc = S_refuse(row.pid, file, f);
	(void)fclose(locks);
	return rc;
}

int
unseen_refuse_lockers(const struct held *main, const struct holders *seen,
		      struct fault *f)
{
	int rc = S_refuse_rows(&main->st, seen, f);
	struct main_locks found;
	pid_t pid;

	/* One that a reader hides is found where it may write. */
	for (int write = 0; rc == 0 && write < 2; write++)
		if (locks_in_the_way(main->fd, write, &found, &pid) == 0 &&
		    !S_is_seen(seen, pid))
			rc = S_refuse(pid, &main->st, f);
	return rc;
}

static bool
S_is_unreadable(const struct holders *seen, pid_t pid)
{
	for (size_t i = 0; i < seen->unreadable_root; i++)
		if (seen->root_pid[i] == pid)
			return true;
	for (size_t i = 0; i < seen->unreadable_other; i++)
		if (seen->other_pid[i] == pid)
			return true;
	return pid <= 0 || seen->hidden;
}

int
unseen_refuse_writer(const struct held *main, const struct main_locks *ours,
		     const struct holders *seen, struct fault *f)
{
	struct main_locks all;
	pid_t pid;

	if (locks_in_the_way(main->fd, true, &all, &pid) ||
	    (all.pending <= ours->pending && all.reserved <= ours->reserved &&
	     all.exclusive <= ours->exclusive))
		return 0;
	if (S_is_unreadable(seen, pid))
		return S_refuse(pid, &main->st, f);
	return fault_set(f, FAULT_UNSTABLE, "process %d has taken a lock on "
			 "main while the others were stopped", (int)pid);
}
