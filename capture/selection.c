/*
 * selection.c - the one inode that the caller's path selects
 */
#include "capture/selection.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "base/role.h"
#include "capture/held.h"
#include "capture/names.h"
#include "capture/proc.h"

/* Is this what the kernel shows of a descriptor that was opened as name? */
static bool
S_is_link_of(const char *link, const char *name)
{
	size_t kept;

	(void)names_link_gone(link, &kept);
	return strlen(name) == kept && memcmp(link, name, kept) == 0;
}

/* 0 and *st: process p has a regular file open by that name; else 1. */
static int
S_look_in(const struct proc *p, const char *name, struct stat *st)
{
	struct proc_list fds;
	const char *fd;
	OWN_FD(dir);

	dir = openat(p->dirfd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return 1;
	proc_list_begin(&fds, dir);
	while ((fd = proc_list_next(&fds))) {
		char link[PATH_MAX + 16];
		ssize_t n = readlinkat(dir, fd, link, sizeof(link) - 1);

		if (n < 0)
			continue;
		link[n] = '\0';
		if (S_is_link_of(link, name) && fstatat(dir, fd, st, 0) == 0 &&
		    S_ISREG(st->st_mode))
			return 0;
	}
	return 1;
}

/*
 * Whose descriptor still shows a name that has lost its file? The name only
 * selects: that the inode is the writer's own is seen at its descriptor.
 */
static int
S_select_displaced(struct selection *s, struct fault *f)
{
	struct proc_list pids;
	const char *pid;
	OWN_FD(dir);

	dir = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "open /proc");
	proc_list_begin(&pids, dir);
	while ((pid = proc_list_next(&pids))) {
		OWN_PROC(p);
		struct stat st;
		int rc = proc_open(atoi(pid), &p, f);

		if (rc < 0)
			return rc;
		if (rc || p.pid == getpid() || S_look_in(&p, s->path, &st))
			continue;
		if (st.st_dev == s->dev && st.st_ino == s->ino)
			continue;
		s->displaced = true;
		s->dev = st.st_dev;
		s->ino = st.st_ino;
		break;
	}
	return 0;
}

/* Does this path lead to what was opened? */
static bool
S_leads_to(const struct selection *s, const char *path, int flags)
{
	struct stat st;

	return fstatat(AT_FDCWD, path, &st, flags) == 0 &&
	       st.st_dev == s->dev && st.st_ino == s->ino;
}

/*
 * The kernel tells the path below the root of the mounts that the file is
 * in. Through /proc/PID/root these are not ours: then what the caller wrote
 * leads there.
 */
static int
S_path_from_here(struct selection *s, const char *db, struct fault *f)
{
	OWN_MEM(char, here);
	char *path;

	if (s->symlink || S_leads_to(s, s->path, AT_SYMLINK_NOFOLLOW))
		return 0;
	here = db[0] == '/' ? strdup("") : realpath(".", NULL);
	if (!here || asprintf(&path, "%s%s%s", here, *here ? "/" : "", db) < 0)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	free(s->path);
	s->path = path;
	return 0;
}

/* A link that is put there between the two opens only makes it a link. */
static int
S_open_path(const char *db, bool *symlink)
{
	int fd = open(db, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	*symlink = fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
	if (!*symlink)
		return fd;
	own_fd_close(&fd);
	return open(db, O_PATH | O_CLOEXEC);
}

/*
 * Somebody may have shown us another file at the very open, and put the name
 * back: then the kernel knows what we got by another name than we asked for.
 * Whoever keeps it exchanged until now fails at the comparison of names with
 * held inodes, or has given the name another file for good. In the mounts of
 * another process (/proc/PID/root) the kernel's name leads nowhere from
 * here, and what the caller wrote is all there is.
 */
static int
S_check_name(const struct selection *s, const char *db, struct fault *f)
{
	OWN_MEM(char, asked);

	asked = realpath(db, NULL);
	/* A link of /proc to a file that has lost its name. */
	if (!asked && s->symlink)
		return 0;
	if (asked && strcmp(asked, s->path) == 0)
		return 0;
	if (!S_leads_to(s, s->path, AT_SYMLINK_NOFOLLOW) &&
	    S_leads_to(s, db, 0))
		return 0;
	fault_set(f, FAULT_UNSTABLE, "the name %s changed while it was opened:"
		  " what was opened is %s (%ju:%ju)", db, s->path,
		  (uintmax_t)s->dev, (uintmax_t)s->ino);
	return fault_hint(f, "find out who exchanges the names in that "
			  "folder");
}

/* Where db ends as the sidecar of a main that is there: *main is its path. */
static bool
S_is_sidecar(const char *db, enum role *role, char main[PATH_MAX])
{
	size_t n = strlen(db);
	struct stat st;

	for (enum role r = ROLE_WAL; r < ROLE_COUNT; r++) {
		size_t tail = strlen(role_suffix(r));

		if (n <= tail || n - tail >= PATH_MAX ||
		    strcmp(db + n - tail, role_suffix(r)) != 0)
			continue;
		(void)snprintf(main, PATH_MAX, "%.*s", (int)(n - tail), db);
		*role = r;
		return stat(main, &st) == 0 && S_ISREG(st.st_mode);
	}
	return false;
}

int
selection_no_sidecar(const char *db, struct fault *f)
{
	char main[PATH_MAX];
	enum role role;

	if (!S_is_sidecar(db, &role, main))
		return 0;
	(void)fault_set(f, FAULT_REFUSED, "by its name it is the %s of the "
			"database %s", role_name(role), main);
	return fault_hint(f, "name the database itself, and its %s is taken "
			  "with it: %s", role_name(role), main);
}

/* Why the path was not opened, and where it is a sidecar's, what is main. */
static int
S_not_opened(const char *db, bool symlink, int err, struct fault *f)
{
	char main[PATH_MAX];
	enum role role;

	if (err == ENOENT && symlink)
		return fault_set(f, FAULT_TROUBLE, "it is a symbolic link, and "
				 "what it names is not there");
	if (err != ENOENT)
		return fault_sys(f, FAULT_TROUBLE, err, "it can't be opened");
	(void)fault_set(f, FAULT_TROUBLE, "not found");
	if (S_is_sidecar(db, &role, main))
		(void)fault_hint(f, "the database itself is there: %s", main);
	return -(int)f->code;
}

int
selection_make(const char *db, bool displaced, struct selection *s,
	    struct fault *f)
{
	struct stat st = { .st_dev = 0 };
	const char *slash;
	int rc = 0;

	s->path_fd = S_open_path(db, &s->symlink);
	if (s->path_fd < 0 && !(displaced && errno == ENOENT))
		return S_not_opened(db, s->symlink, errno, f);
	if (s->path_fd < 0) {
		OWN_MEM(char, here);

		here = db[0] == '/' ? strdup("") : realpath(".", NULL);
		if (!here || asprintf(&s->path, "%s%s%s", here,
				      *here ? "/" : "", db) < 0)
			return fault_set(f, FAULT_TROUBLE, "out of memory");
	} else {
		if (fstat(s->path_fd, &st) != 0)
			return fault_sys(f, FAULT_TROUBLE, errno, "fstat");
		if (!S_ISREG(st.st_mode))
			return fault_set(f, FAULT_REFUSED, "it is a %s, not a "
					 "regular file",
					 held_type_name(st.st_mode));
		rc = names_of_fd(&s->path, s->path_fd, f);
	}
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	if (!rc && s->path_fd >= 0)
		rc = S_check_name(s, db, f);
	if (!rc && displaced)
		rc = S_select_displaced(s, f);
	if (!rc && !s->displaced && s->path_fd >= 0)
		rc = S_path_from_here(s, db, f);
	if (rc)
		return rc;
	if (s->ino == 0)
		return fault_set(f, FAULT_TROUBLE, "no such file, and no "
				 "process has one of that name open");
	slash = strrchr(s->path, '/');
	s->base = strdup(slash ? slash + 1 : s->path);
	return s->base ? 0 : fault_set(f, FAULT_TROUBLE, "out of memory");
}

void
selection_free(struct selection *s)
{
	own_fd_close(&s->path_fd);
	free(s->path);
	free(s->base);
	s->path = NULL;
	s->base = NULL;
}
