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

#include "base/fault.h"
#include "capture/proc.h"

struct main_locks {
	bool shared;		/* a read lock on the SHARED range */
	bool reserved;		/* a write lock on the RESERVED byte */
	bool pending;		/* a write lock on the PENDING byte */
	bool exclusive;		/* a write lock on the SHARED range */
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

#endif
