/*
 * locks.h - SQLite's locks on a main file, as /proc/PID/fdinfo shows them
 *
 * Not /proc/locks: its rows name an inode by a device that differs from
 * st_dev on some file systems. An fdinfo speaks of a descriptor whose
 * inode was looked at.
 *
 * Format: "lock:" lines of fdinfo (proc(5)); the byte ranges are those of
 * SQLite's os.h: PENDING_BYTE 0x40000000, RESERVED behind it, then SHARED.
 */
#ifndef CAPTURE_LOCKS_H
#define CAPTURE_LOCKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "capture/proc.h"

struct main_locks {
	bool shared;		/* a read lock on the SHARED range */
	bool reserved;		/* a write lock on the RESERVED byte */
	bool pending;		/* a write lock on the PENDING byte */
	bool exclusive;		/* a write lock on the SHARED range */
	pid_t exclusive_pid;	/* whose; 0: not known */
};

#define MAIN_LOCKS_INIT { .shared = false }

/*
 * Adds to *out the POSIX and OFD locks that were taken through descriptor
 * fd of the table of thread tid. The kernel shows a lock only at the descriptor that took it, and
 * SQLite may take it through any that it has: ask for every descriptor of
 * the inode, with one *out. FAULT_UNSTABLE: the descriptor is not open.
 */
int
locks_of_main(const struct proc *p, pid_t tid, int fd, struct main_locks *out,
	      struct fault *f);

static inline bool
locks_any(const struct main_locks *l)
{
	return l->shared || l->reserved || l->pending || l->exclusive;
}

/*
 * A lock that the kernel would not let us have, whoever holds it: also a
 * process that /proc does not show us. fd is a held main. Of those that write
 * with write_only, else of any. 0: there is one; *pid is 0 where the process
 * is of no PID namespace that we see, -1 for an OFD lock. 1: there is none,
 * or the file system can't say.
 */
int
locks_in_the_way(int fd, bool write_only, struct main_locks *found,
		 pid_t *pid);

#endif
