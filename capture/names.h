/*
 * names.h - what the names of a database and its sidecars name right now
 *
 * Names prove nothing; they are looked at to notice that they no longer
 * name what the writers hold. Nothing is ever opened through them here.
 */
#ifndef CAPTURE_NAMES_H
#define CAPTURE_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/role.h"
#include "capture/held.h"

struct name_entry {
	bool exists;
	mode_t mode;
	uid_t uid;
	dev_t dev;
	ino_t ino;
	off_t size;
};

/* One spelling of the database's name: a held directory, a last component. */
struct names {
	int dirfd;		/* O_PATH; -1: not open */
	char *dir;		/* for messages */
	char *base;
	bool gone;		/* the kernel showed it as deleted */
	struct name_entry entry[ROLE_COUNT];
};

#define NAMES_INIT { .dirfd = -1 }

/*
 * path is absolute or relative to here. Looks once.
 * 1: the directory is not there.
 */
int
names_open(struct names *n, const char *path, struct fault *f);

/*
 * As names_open, of a text by which the kernel shows an open file: the
 * " (deleted)" behind the name of an unlinked one is taken off and noted,
 * unless a file is really called so. The text is absolute and is looked up
 * below root, a directory; -1: our own.
 */
int
names_open_link(struct names *n, int root, const char *link, struct fault *f);

/* Does it end in the kernel's " (deleted)"? *kept: its length without. */
bool
names_link_gone(const char *link, size_t *kept);

/* Looks at the main and the sidecars, following no link. */
int
names_look(struct names *n, struct fault *f);

/* The file that an O_PATH descriptor names, links resolved. */
int
names_of_fd(char **path, int fd, struct fault *f);

/*
 * 0: every name that exists is the inode held in its role, or is absent or
 * empty where nothing is held, or the journal that is quiet (inode 0: none).
 * 1: a sidecar that exists and is not empty is held by nobody; *idle is its
 * role. FAULT_REFUSED names both inodes where
 * a name is another inode than the held one, or the held one has lost its
 * name.
 */
int
names_judge(const struct names *n, const struct held held[ROLE_COUNT],
	    const struct inode_id *quiet, enum role *idle, struct fault *f);

/* 0, or FAULT_UNSTABLE: a name changed between two looks. */
int
names_still(const struct names *before, struct fault *f);

void
names_free(struct names *n);

#endif
