/*
 * selection.h - the one inode that the caller's path selects
 *
 * The path is looked up once, to an O_PATH descriptor; what it resolves to
 * is kept as text for the names and the messages. That must be the path that
 * was asked for: a file that was there for the open alone is refused.
 */
#ifndef CAPTURE_SELECTION_H
#define CAPTURE_SELECTION_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

struct selection {
	int path_fd;		/* O_PATH; -1: the path names nothing now */
	dev_t dev;
	ino_t ino;
	char *path;		/* links resolved; for names and messages */
	char *base;		/* its last component */
	bool symlink;		/* the path's last component is a link */
	bool displaced;		/* a process has another inode by that name */
};

#define SELECTION_INIT { .path_fd = -1 }

/*
 * With displaced, a file that a process has open by this name, but that has
 * lost it, is preferred to the one that bears it now. FAULT_REFUSED: not a
 * regular file. FAULT_TROUBLE: no such file. FAULT_UNSTABLE: another file was
 * there when it was opened.
 */
int
selection_make(const char *db, bool displaced, struct selection *s,
	       struct fault *f);
/*
 * FAULT_REFUSED: the name ends like a sidecar's, and the main that it would
 * belong to is there. Who named it meant that one.
 */
int
selection_no_sidecar(const char *db, struct fault *f);
void
selection_free(struct selection *s);

static inline void
own_selection_free(struct selection *s)
{
	selection_free(s);
}

#define OWN_SELECTION(name) \
	struct selection name __attribute__((cleanup(own_selection_free))) = \
		SELECTION_INIT

#endif
