/*
 * bed_watch.h - runs a command whose nth call of a kind meets its fate
 *
 * The kernel asks this process about each call of the kind (seccomp user
 * notification) that the command or a child of it makes, before it is
 * carried out. Nothing is loaded into the command. Only the calls of its
 * own threads count, or with `all` those of its children too.
 */
#ifndef CONTROLS_BED_WATCH_H
#define CONTROLS_BED_WATCH_H

#include "controls/bed.h"

struct bed_watch {
	int call;		/* SYS_... */
	bool all;
	unsigned long nth;	/* from 1; 0: all calls are carried out */
	int error;		/* what the nth gives instead, or 0 */
	bool kill;		/* SIGKILL in its place: the command, or with
				   `all` its whole process group */
	void (*before)(struct trial *t, void *arg);	/* or NULL */
	void *arg;

	unsigned long calls;	/* out: how many there were */
	bool met;		/* out: the nth was among them */
};

const struct bed_run *
bed_watch(struct trial *t, const char *const *argv, struct bed_watch *w);

#endif
