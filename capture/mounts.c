/*
 * mounts.c - in which mounts the name of an open file is to be looked up
 */
#include "capture/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/own.h"

/* Directories between a root that chroot gave and that of the mounts. */
#define CLIMB_MAX 256

/* The id of the mount, or 0 where the kernel does not say. */
static uint64_t
S_mount_of(int dirfd, const char *name, int flags)
{
	struct statx st;

	if (statx(dirfd, name, flags | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		  STATX_MNT_ID, &st) != 0 || !(st.stx_mask & STATX_MNT_ID))
		return 0;
	return st.stx_mnt_id;
}

/* A single file may be a mount as well: then the directory is of another. */
static bool
S_leads_there(const struct names *n, uint64_t mount)
{
	return S_mount_of(n->dirfd, "", AT_EMPTY_PATH) == mount ||
	       S_mount_of(n->dirfd, n->base, AT_SYMLINK_NOFOLLOW) == mount;
}

static bool
S_same_place(int a, int b)
{
	struct stat sa, sb;

	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 &&
	       sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino &&
	       S_mount_of(a, "", AT_EMPTY_PATH) ==
	       S_mount_of(b, "", AT_EMPTY_PATH);
}

/*
 * The root of the mounts that the process is in. Its own root may lie below
 * (chroot), but the kernel shows paths as from the top.
 */
static int
S_open_root(pid_t pid, bool *climbed)
{
	char magic[48];
	OWN_FD(at);

	(void)snprintf(magic, sizeof(magic), "/proc/%d/root", (int)pid);
	at = open(magic, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*climbed = false;
	for (int i = 0; at >= 0 && i < CLIMB_MAX; i++) {
		OWN_FD(up);

		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0 || S_same_place(at, up))
			break;
		*climbed = true;
		own_fd_close(&at);
		at = TAKE_FD(up);
	}
	return TAKE_FD(at);
}

/* In messages the directory is to be one that the reader can look at. */
static int
S_respell(struct names *n, pid_t pid, struct fault *f)
{
	char *dir;

	if (asprintf(&dir, "/proc/%d/root%s", (int)pid, n->dir) < 0)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	free(n->dir);
	n->dir = dir;
	return 0;
}

/* 0: the text leads to the mount below the root of the process. */
static int
S_open_there(struct names *n, pid_t pid, const char *link, uint64_t mount,
	     struct fault *f)
{
	struct fault ignored = FAULT_INIT;
	bool climbed;
	OWN_FD(root);

	root = S_open_root(pid, &climbed);
	if (root < 0 || names_open_link(n, root, link, &ignored) != 0 ||
	    !S_leads_there(n, mount))
		return 1;
	return climbed ? 0 : S_respell(n, pid, f);
}

int
mounts_open_names(struct names *n, pid_t pid, const struct holder_fd *e,
		  struct fault *f)
{
	struct names there = NAMES_INIT;
	struct fault here = FAULT_INIT;
	char magic[64];
	uint64_t mount = 0;
	int rc, seen;

	(void)snprintf(magic, sizeof(magic), "/proc/%d/task/%d/fd/%d",
		       (int)pid, (int)e->tid, e->fd);
	if (e->fd >= 0)
		mount = S_mount_of(AT_FDCWD, magic, 0);
	rc = names_open_link(n, -1, e->link, &here);
	if (mount == 0 || (rc == 0 && S_leads_there(n, mount)))
		goto out;
	seen = S_open_there(&there, pid, e->link, mount, f);
	if (seen <= 0) {
		names_free(n);
		*n = there;
		return seen;
	}
	names_free(&there);
out:
	if (rc < 0)
		*f = here;
	return rc;
}

/* mountinfo writes blanks, newlines and backslashes as \\ and three digits. */
static void
S_unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		unsigned octal;

		if (*at == '\\' && sscanf(at + 1, "%3o", &octal) == 1) {
			*to++ = (char)octal;
			at += 3;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
}

/* ID PARENT MAJOR:MINOR ROOT POINT ...; a whole file system's root is "/". */
static bool
S_is_file_mount(char *line, dev_t dev, ino_t ino, char **point)
{
	char *rest = line, *field = NULL;
	struct statx st;

	for (int i = 0; i < 4; i++)
		field = strsep(&rest, " ");
	*point = strsep(&rest, " ");
	if (!field || !*point || strcmp(field, "/") == 0)
		return false;
	S_unescape(*point);
	return statx(AT_FDCWD, *point, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT |
		     AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st) == 0 &&
	       S_ISREG(st.stx_mode) && st.stx_ino == ino &&
	       makedev(st.stx_dev_major, st.stx_dev_minor) == dev;
}

int
mounts_of_file(dev_t dev, ino_t ino, char **where, struct fault *f)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	size_t room = 0;
	char *point;
	int rc = 1;
	OWN_MEM(char, line);

	if (!file)
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "open /proc/self/mountinfo");
	while (rc == 1 && getline(&line, &room, file) > 0) {
		if (!S_is_file_mount(line, dev, ino, &point))
			continue;
		*where = strdup(point);
		rc = *where ? 0 : fault_set(f, FAULT_TROUBLE, "out of memory");
	}
	(void)fclose(file);
	return rc;
}
