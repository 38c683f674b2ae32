/*
 * publish.h - one new file that appears whole under its name, or not at all
 *
 * Lifecycle: publish_open, write to p->fd, publish_commit; publish_drop in
 * every case. Until the commit nothing of the file can be seen, on file
 * systems with O_TMPFILE not even its name.
 */
#ifndef BASE_PUBLISH_H
#define BASE_PUBLISH_H

#include <limits.h>
#include <stdbool.h>

#include "base/fault.h"

struct publish {
	int dir;			/* the folder, held */
	int fd;				/* read-write, mode 0600 */
	bool force;			/* the name may be taken: replace it */
	char name[NAME_MAX + 1];	/* below dir */
	char temp[NAME_MAX + 1];	/* a name to remove, or empty */
	int (*interrupted)(void);	/* asked before it appears; or NULL */
};

#define PUBLISH_INIT { .dir = -1, .fd = -1 }

/*
 * path: where the file shall appear. FAULT_TROUBLE where the folder can't be
 * written, and already here where the name is taken and force is false.
 */
int
publish_open(const char *path, bool force, struct publish *p, struct fault *f);

/*
 * Most of it is written: the disk may begin, so that the commit waits less.
 * Nothing rests on it.
 */
void
publish_begin_sync(const struct publish *p);

/* On disk and under its name, or a fault and no such name (an older file of
   that name is as it was). Only where the folder itself can't be synced, after
   the name appeared, the file stays. */
int
publish_commit(struct publish *p, struct fault *f);

void
publish_drop(struct publish *p);

#define OWN_PUBLISH(pub) \
	struct publish pub __attribute__((cleanup(publish_drop))) = PUBLISH_INIT

#endif
