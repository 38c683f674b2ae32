/*
 * names.c - what the names of a database and its sidecars name right now
 */
#include "capture/names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"

#define DELETED_MARK " (deleted)"

bool
names_link_gone(const char *link, size_t *kept)
{
	size_t n = strlen(link), m = strlen(DELETED_MARK);
	bool gone = n > m && strcmp(link + n - m, DELETED_MARK) == 0;

	*kept = gone ? n - m : n;
	return gone;
}

static int
S_open_below(int root, const char *dir)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	if (root < 0)
		return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return (int)syscall(SYS_openat2, root, dir, &how, sizeof(how));
}

/* Opens the directory, and does not look yet. */
static int
S_open(struct names *n, int root, const char *path, struct fault *f)
{
	OWN_MEM(char, spelled);
	char *slash;

	spelled = strdup(path);
	if (!spelled)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	slash = strrchr(spelled, '/');
	n->base = strdup(slash ? slash + 1 : spelled);
	if (slash)
		slash[slash == spelled ? 1 : 0] = '\0';
	n->dir = strdup(slash ? spelled : ".");
	if (!n->base || !n->dir)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	n->dirfd = S_open_below(root, n->dir);
	if (n->dirfd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 1;
	if (n->dirfd < 0)
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "the directory %s can't be looked at",
				 n->dir);
	return 0;
}

int
names_open(struct names *n, const char *path, struct fault *f)
{
	int rc = S_open(n, -1, path, f);

	return rc ? rc : names_look(n, f);
}

int
names_open_link(struct names *n, int root, const char *link, struct fault *f)
{
	int rc = S_open(n, root, link, f);
	struct stat st;
	size_t kept;

	if (rc)
		return rc;
	if (names_link_gone(n->base, &kept) &&
	    fstatat(n->dirfd, n->base, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		n->base[kept] = '\0';
		n->gone = true;
	}
	return names_look(n, f);
}

static int
S_look(const struct names *n, enum role r, struct name_entry *e,
       struct fault *f)
{
	char name[NAME_MAX + 16];
	struct stat st;

	memset(e, 0, sizeof(*e));
	(void)snprintf(name, sizeof(name), "%s%s", n->base, role_suffix(r));
	if (fstatat(n->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		/* A sidecar of a longest possible name can't exist. */
		if (errno == ENOENT || errno == ENAMETOOLONG)
			return 0;
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "the %s's name can't be looked at",
				 role_name(r));
	}
	e->exists = true;
	e->mode = st.st_mode;
	e->uid = st.st_uid;
	e->dev = st.st_dev;
	e->ino = st.st_ino;
	e->size = st.st_size;
	return 0;
}

int
names_look(struct names *n, struct fault *f)
{
	int rc = 0;

	for (enum role r = 0; rc == 0 && r < ROLE_COUNT; r++)
		rc = S_look(n, r, &n->entry[r], f);
	return rc;
}

int
names_of_fd(char **path, int fd, struct fault *f)
{
	char magic[64], text[PATH_MAX + sizeof(DELETED_MARK)];
	ssize_t len;

	(void)snprintf(magic, sizeof(magic), "/proc/self/fd/%d", fd);
	len = readlink(magic, text, sizeof(text) - 1);
	if (len < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "readlink %s", magic);
	text[len] = '\0';
	*path = strdup(text);
	return *path ? 0 : fault_set(f, FAULT_TROUBLE, "out of memory");
}

/* The name of the role names something else than the held inode. */
static int
S_substituted(const struct names *n, const struct held *h,
	      const struct name_entry *e, struct fault *f)
{
	const char *suffix = role_suffix(h->role);

	/* Nobody's descriptor: it was opened by its name, a moment ago. */
	if (h->pid <= 0)
		return fault_set(f, FAULT_UNSTABLE, "the name %s/%s%s changed "
				 "while we looked: it was %ju:%ju, is %ju:%ju",
				 n->dir, n->base, suffix,
				 (uintmax_t)h->st.st_dev,
				 (uintmax_t)h->st.st_ino,
				 (uintmax_t)e->dev, (uintmax_t)e->ino);
	if (!e->exists)
		fault_set(f, FAULT_REFUSED, "displaced %s: process %d holds "
			  "%ju:%ju as descriptor %d, and nothing is named "
			  "%s/%s%s any more", role_name(h->role), (int)h->pid,
			  (uintmax_t)h->st.st_dev, (uintmax_t)h->st.st_ino,
			  h->pid_fd, n->dir, n->base, suffix);
	else
		fault_set(f, FAULT_REFUSED, "substituted %s: process %d holds "
			  "%ju:%ju as descriptor %d, but the name %s/%s%s is "
			  "the %s %ju:%ju", role_name(h->role), (int)h->pid,
			  (uintmax_t)h->st.st_dev, (uintmax_t)h->st.st_ino,
			  h->pid_fd, n->dir, n->base, suffix,
			  held_type_name(e->mode), (uintmax_t)e->dev,
			  (uintmax_t)e->ino);
	return fault_hint(f, "find out who moved the name; --displaced "
			  "captures the files that the writer itself has open,"
			  " and says so");
}

int
names_judge(const struct names *n, const struct held held[ROLE_COUNT],
	    const struct inode_id *quiet, enum role *idle, struct fault *f)
{
	int found = 0;

	for (enum role r = 0; r < ROLE_COUNT; r++) {
		const struct name_entry *e = &n->entry[r];

		if (held[r].fd >= 0) {
			if (!e->exists || !held_is(&held[r], e->dev, e->ino))
				return S_substituted(n, &held[r], e, f);
			continue;
		}
		/* An SHM that nobody maps says nothing that counts. */
		if (!e->exists || r == ROLE_SHM)
			continue;
		if (!S_ISREG(e->mode))
			return fault_set(f, FAULT_REFUSED, "where the %s "
					 "belongs, at %s/%s%s, stands a %s "
					 "(%ju:%ju)", role_name(r), n->dir,
					 n->base, role_suffix(r),
					 held_type_name(e->mode),
					 (uintmax_t)e->dev, (uintmax_t)e->ino);
		if (r == ROLE_JOURNAL && e->dev == quiet->dev &&
		    e->ino == quiet->ino)
			continue;
		if (e->size > 0 && !found) {
			*idle = r;
			found = 1;
		}
	}
	return found;
}

static bool
S_same(const struct name_entry *a, const struct name_entry *b)
{
	return a->exists == b->exists && a->dev == b->dev &&
	       a->ino == b->ino && a->mode == b->mode;
}

int
names_still(const struct names *before, struct fault *f)
{
	for (enum role r = 0; r < ROLE_COUNT; r++) {
		const struct name_entry *was = &before->entry[r];
		struct name_entry now;
		int rc = S_look(before, r, &now, f);

		if (rc)
			return rc;
		if (S_same(was, &now))
			continue;
		return fault_set(f, FAULT_UNSTABLE, "the name %s/%s%s changed "
				 "while we read: it was %ju:%ju, is %ju:%ju",
				 before->dir, before->base, role_suffix(r),
				 (uintmax_t)was->dev, (uintmax_t)was->ino,
				 (uintmax_t)now.dev, (uintmax_t)now.ino);
	}
	return 0;
}

void
names_free(struct names *n)
{
	own_fd_close(&n->dirfd);
	free(n->dir);
	free(n->base);
	n->dir = NULL;
	n->base = NULL;
}
