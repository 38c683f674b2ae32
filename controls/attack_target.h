/*
 * attack_target.h - a stopped or running thread of the command, seen by us
 *
 * Trust: what is read from its memory and from /proc is true only if the
 * notification is still valid afterwards; who asks checks that.
 */
#ifndef CONTROLS_ATTACK_TARGET_H
#define CONTROLS_ATTACK_TARGET_H

#include <limits.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define TARGET_GAINED_MAX 64

/* One open, however it is spelled. */
struct target_open {
	const char *call;
	int dirfd;
	uint64_t flags;
	uint64_t resolve;	/* of openat2 */
	char path[PATH_MAX];
};

/* Where a thread was when its call was let go. */
struct target_mark {
	pid_t thread;
	int call;
	unsigned long ticks;	/* in user mode */
	struct timespec since;
	dev_t dev;		/* what the open shall get; 0: nothing */
	ino_t ino;
	int had[TARGET_GAINED_MAX];	/* descriptors of it before */
	size_t nhad;
};

/*
 * 0 and the open; 1: this is none; -1: its memory can't be read, errno. The
 * path is empty then.
 */
int
target_decode(const struct seccomp_notif *n, struct target_open *o);

/* The process of a thread; 0: gone. */
pid_t
target_process(pid_t thread);

/* From now on: sets the clocks of a mark that has thread and call. */
void
target_watch(struct target_mark *m);

void
target_mark(struct target_mark *m, const struct seccomp_notif *n, dev_t dev,
	    ino_t ino);

/* The descriptor that it got; -1: none. */
int
target_gained(const struct target_mark *m);

/* It has left the call, or does not live. */
bool
target_through(const struct target_mark *m);

#endif
