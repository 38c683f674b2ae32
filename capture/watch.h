/*
 * watch.h - whether anybody opened a file since it was watched
 *
 * The kernel reports each open of an inode (inotify), by whatever name and
 * from whatever namespace. Who held it when it was watched is for a scan to
 * say (holders.h); as long as nothing is reported, no process that was there
 * has come to hold it. Not reported: a descriptor that is inherited, which
 * only a new process can do, or that is sent through a Unix socket.
 *
 * Lifecycle: watch_begin, a scan, watch_quiet before we open anything
 * ourselves, watch_end.
 */
#ifndef CAPTURE_WATCH_H
#define CAPTURE_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/role.h"
#include "capture/holders.h"
#include "capture/names.h"

struct watch {
	int fd;				/* owned; -1: nothing is watched */
	struct inode_id id[ROLE_COUNT];	/* what is */
	size_t count;
};

#define WATCH_INIT { .fd = -1 }

/*
 * Watches those of ids that the names show now. Never a fault: what can't be
 * watched is not covered.
 */
void
watch_begin(struct watch *w, const struct names *n, const struct inode_id *ids,
	    size_t nids);
void
watch_end(struct watch *w);

/* No open was reported of anything that is watched. */
bool
watch_quiet(const struct watch *w);

/* Each of ids is watched. */
bool
watch_covers(const struct watch *w, const struct inode_id *ids, size_t n);

#endif
