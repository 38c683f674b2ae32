/*
 * held.h - one file of the evidence, held by descriptor
 *
 * A held file is read-only, was opened below a held directory (a process's
 * descriptor table, or one of the file system), and is the inode that was
 * asked for: dev and ino are compared at the open. Its stat is kept, so
 * that a later look can say what moved.
 */
#ifndef CAPTURE_HELD_H
#define CAPTURE_HELD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "base/role.h"
#include "capture/holders.h"
#include "capture/proc.h"

struct held {
	int fd;			/* -1: nothing is held */
	enum role role;
	struct stat st;		/* when it was taken */
	pid_t pid;		/* whose descriptor it is; 0: taken by name */
	pid_t tid;		/* whose table: the pid, but for own tables */
	int pid_fd;		/* its number there */
};

#define HELD_INIT { .fd = -1 }

static inline bool
held_is(const struct held *h, dev_t dev, ino_t ino)
{
	return h->fd >= 0 && h->st.st_dev == dev && h->st.st_ino == ino;
}

/*
 * Takes a descriptor of a process, as a scan found it. The writer's own
 * open file description is not shared: the inode is opened anew, read-only.
 * FAULT_UNSTABLE: the descriptor is something else by now.
 */
int
held_from_process(struct held *h, const struct proc *p,
		  const struct holder_fd *e, struct fault *f);

/* 0: that descriptor of the process is still this inode. */
int
held_still_open(const struct held *h, const struct proc *p, struct fault *f);

/*
 * Takes the inode that an O_PATH descriptor (borrowed) names: no name is
 * looked up. FAULT_REFUSED where it is not a regular file.
 */
int
held_from_path_fd(struct held *h, int path_fd, struct fault *f);

/*
 * 0: size, mtime, ctime, inode and link count are what they were, else
 * FAULT_UNSTABLE, saying what moved.
 */
int
held_still(const struct held *h, struct fault *f);

void
held_free(struct held *h);

/* "regular file", "FIFO" ...: for refusals. */
const char *
held_type_name(mode_t mode);

#endif
