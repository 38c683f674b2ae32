/*
 * holders.h - which processes hold an inode, by descriptor or by mapping
 *
 * Covered: every descriptor of every process in /proc, also of a thread
 * with a descriptor table of its own (unshare(CLONE_FILES)) or whose leader
 * ended; every mapping. Descriptors opened with O_PATH hold nothing: they
 * can neither read nor write. Not covered: files on their way through a
 * Unix socket, files registered with io_uring, loop devices, the kernel's
 * own NFS server, and processes that /proc does not show us (see hidden
 * and nested).
 *
 * A scan is a moving picture of processes that run: scan again when what it
 * found is paused, until a scan finds nothing new.
 *
 * Privilege: ptrace read access to each process that is to be seen.
 * Mappings are looked at through map_files, whose targets the kernel shows
 * with CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE only. Without it a mapping
 * whose inode number is equal counts as one of the inode: a holder too many
 * is better than one too few.
 */
#ifndef CAPTURE_HOLDERS_H
#define CAPTURE_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "capture/proc.h"

struct inode_id {
	dev_t dev;
	ino_t ino;
};

struct holder_fd {
	int fd;			/* -1: a mapping */
	pid_t tid;		/* whose table: the pid, but for own tables */
	dev_t dev;
	ino_t ino;
	mode_t mode;
	bool writable;		/* a mapping: shared, of a file opened so */
	char *link;		/* owned: a hint for people, never evidence */
};

struct holder {
	pid_t pid;
	uint64_t start_time;
	uid_t uid;		/* real */
	struct holder_fd *fd;
	size_t nfds;
	bool writable;		/* any of fd is */
	bool split;		/* a thread has a table of its own */
};

#define HOLDER_INIT { .pid = 0, .fd = NULL, .nfds = 0 }

/*
 * A process as /proc listed it. The number of its directory is given anew
 * for each process, so that a pid that was used again is not taken for it.
 */
struct holders_seen {
	pid_t pid;
	uint64_t dir;
};

struct holders {
	struct holder *holder;
	size_t count;
	struct holders_seen *seen;	/* by pid */
	size_t nseen;
	/* Tables that we may not read: of root alone, and of others. */
	pid_t *root_pid;
	size_t unreadable_root;
	pid_t *other_pid;
	size_t unreadable_other;
	bool hidden;		/* /proc leaves processes out (hidepid) */
	bool nested;		/* we see one PID namespace of several */
};

#define HOLDERS_INIT { .holder = NULL, .count = 0 }

/*
 * One scan of /proc: every process but ourselves that holds one of ids, with
 * those descriptors and mappings only. A process that ends meanwhile is left
 * out. *out is empty before, and on failure.
 */
int
holders_find(const struct inode_id *ids, size_t n, struct holders *out,
	     struct fault *f);

/*
 * h as holders_find made it becomes what it would find now for ids, which
 * are among those of then: processes that are new are looked at, and the
 * others are taken to hold what they held. The caller knows that none of
 * those has opened one of ids since (watch.h). Released on failure.
 */
int
holders_update(struct holders *h, const struct inode_id *ids, size_t n,
	       struct fault *f);

/*
 * All descriptors of regular files of one process; no mappings. FAULT_TROUBLE
 * where we may not look, FAULT_UNSTABLE where the process ended.
 */
int
holders_table(const struct proc *p, struct holder *out, struct fault *f);

void
holder_free(struct holder *h);
void
holders_free(struct holders *h);

#define OWN_HOLDER(name) \
	struct holder name __attribute__((cleanup(holder_free))) = HOLDER_INIT
#define OWN_HOLDERS(name) \
	struct holders name __attribute__((cleanup(holders_free))) = \
		HOLDERS_INIT

#endif
