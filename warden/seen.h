/*
 * seen.h - the sandbox as the kernel shows it to the parent
 */
#ifndef WARDEN_SEEN_H
#define WARDEN_SEEN_H

#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "warden/warden.h"

/* What must be true of the child. */
struct seen_want {
	long uid, gid;
	bool root;		/* the caller is: then groups and the bounding
				   set must be empty too */
	int filters;		/* more than so many filters; -1: not shown */
	int descriptors;	/* numbers below this one, and no others */
};

/* What must be true of a child of this process. */
void
seen_want(struct seen_want *want, size_t evidence);

/*
 * Looks at every thread of pid (a child that is not reaped) and at its
 * descriptors. FAULT_SANDBOX names the field, what it must be and what it
 * is. Where the kernel does not let us look at the descriptors, or shows no
 * count of filters, *s says so (-1).
 */
int
seen_check(pid_t pid, const struct seen_want *want, struct warden_seen *s,
	   struct fault *f);

/*
 * One /proc/PID/task/TID/status, text NUL-terminated: the ids, groups,
 * capabilities, no_new_privs and filters of *s, or-ed where s->threads > 0.
 */
int
seen_status(const char *text, const struct seen_want *want,
	    struct warden_seen *s, struct fault *f);

#endif
