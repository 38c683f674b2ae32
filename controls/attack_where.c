/*
 * attack_where.c - which name the command's open arrives at
 *
 * A path is compared by the inode of the folder that it ends in and by its
 * last component, so its spelling does not matter. The walk takes one
 * component after the other from the thread's own root, directory or
 * descriptor, through symbolic links, and looks at each last component
 * before it follows that one: a link may be the named file itself.
 *
 * The links of /proc that lead to an open file are no names: what they
 * arrive at is told by its inode, and by_descriptor says so.
 */
#include "controls/attack_where.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define WHERE_LINKS_MAX 40	/* the kernel's own limit */
#define PROC_ROOT_INODE 1

struct walk {
	pid_t thread;
	const struct target_open *o;
	int at, root;		/* O_PATH */
	unsigned links;
	char rest[2 * PATH_MAX];
	char part[NAME_MAX + 1];
};

static int
S_open_of(pid_t thread, const char *link)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", thread, link);
	return open(path, O_PATH | O_CLOEXEC);
}

static void
S_go(struct walk *k, int fd)
{
	if (k->at >= 0)
		close(k->at);
	k->at = fd;
}

static bool
S_same(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static bool
S_start(struct walk *k)
{
	const struct target_open *o = k->o;
	bool absolute = o->path[0] == '/';
	char link[32] = "cwd";

	if (o->dirfd != AT_FDCWD)
		snprintf(link, sizeof(link), "fd/%d", o->dirfd);
	if (absolute && !(o->resolve & (RESOLVE_IN_ROOT | RESOLVE_BENEATH)))
		snprintf(link, sizeof(link), "root");
	else if (absolute && o->resolve & RESOLVE_BENEATH)
		return false;
	k->at = S_open_of(k->thread, link);
	k->root = o->resolve & (RESOLVE_IN_ROOT | RESOLVE_BENEATH) ?
		fcntl(k->at, F_DUPFD_CLOEXEC, 0) :
		S_open_of(k->thread, "root");
	strcpy(k->rest, o->path);
	return k->at >= 0 && k->root >= 0;
}

/* Takes the next component into part. 0: none; 1: the last; 2: more follow. */
static int
S_next(struct walk *k)
{
	char *from = k->rest + strspn(k->rest, "/");
	size_t n = strcspn(from, "/");
	bool more = from[n + strspn(from + n, "/")];

	if (!n || n > NAME_MAX)
		return 0;
	memcpy(k->part, from, n);
	k->part[n] = '\0';
	memmove(k->rest, from + n, strlen(from + n) + 1);
	return more ? 2 : 1;
}

static bool
S_named(const struct walk *k, struct where *w, struct swap *swaps,
	size_t nswaps)
{
	struct stat st;

	if (fstat(k->at, &st))
		return false;
	for (size_t i = 0; i < nswaps; i++)
		if (swaps[i].dir_dev == st.st_dev &&
		    swaps[i].dir_ino == st.st_ino &&
		    !strcmp(swaps[i].c.name, k->part))
			w->swap = &swaps[i];
	return w->swap;
}

/* A link of /proc to an open file: 1 followed, -1 it was the last. */
static int
S_magic(struct walk *k, bool last, struct where *w, struct swap *swaps,
	size_t nswaps)
{
	struct stat st, named;
	int fd;

	if (k->o->resolve & (RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT |
			     RESOLVE_BENEATH))
		return -1;
	fd = openat(k->at, k->part, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!last) {
		S_go(k, fd);
		return 1;
	}
	for (size_t i = 0; i < nswaps && !fstat(fd, &st); i++)
		if (!fstatat(swaps[i].c.dir, swaps[i].c.name, &named,
			     AT_SYMLINK_NOFOLLOW) &&
		    named.st_dev == st.st_dev && named.st_ino == st.st_ino)
			w->swap = &swaps[i];
	w->by_descriptor = w->swap;
	close(fd);
	return -1;
}

/*
 * /proc/self and /proc/thread-self are ours where we read them: the
 * thread's stand for them. True: link holds the text.
 */
static bool
S_proc_link(struct walk *k, char *link)
{
	struct stat st;
	pid_t process;

	if (fstat(k->at, &st) || st.st_ino != PROC_ROOT_INODE)
		return false;
	process = target_process(k->thread);
	if (!strcmp(k->part, "self"))
		snprintf(link, PATH_MAX, "%d", process);
	else if (!strcmp(k->part, "thread-self"))
		snprintf(link, PATH_MAX, "%d/task/%d", process, k->thread);
	return true;
}

/* 1: a link, and the walk goes on behind it; 0: none; -1: it ends here. */
static int
S_link(struct walk *k, bool last, struct where *w, struct swap *swaps,
       size_t nswaps)
{
	char link[PATH_MAX], rest[sizeof(k->rest)];
	ssize_t n = readlinkat(k->at, k->part, link, sizeof(link) - 1);
	struct statfs fs;
	int len;

	if (n < 0)
		return 0;
	link[n] = '\0';
	if (++k->links > WHERE_LINKS_MAX ||
	    k->o->resolve & RESOLVE_NO_SYMLINKS)
		return -1;
	if (!fstatfs(k->at, &fs) && fs.f_type == PROC_SUPER_MAGIC &&
	    !S_proc_link(k, link))
		return S_magic(k, last, w, swaps, nswaps);
	len = snprintf(rest, sizeof(rest), "%s%s", link, k->rest);
	if (len < 0 || (size_t)len >= sizeof(rest))
		return -1;
	strcpy(k->rest, rest);
	if (link[0] == '/')
		S_go(k, fcntl(k->root, F_DUPFD_CLOEXEC, 0));
	return k->at < 0 ? -1 : 1;
}

static bool
S_stops_at_links(const struct walk *k)
{
	uint64_t both = O_CREAT | O_EXCL;

	return k->rest[0] != '/' &&
	       (k->o->flags & O_NOFOLLOW || (k->o->flags & both) == both);
}

static void
S_walk(struct walk *k, struct where *w, struct swap *swaps, size_t nswaps)
{
	int more, rc;

	while ((more = S_next(k)) > 0) {
		bool last = more == 1;

		if (!strcmp(k->part, "."))
			continue;
		if (!strcmp(k->part, "..")) {
			if (!S_same(k->at, k->root))
				S_go(k, openat(k->at, "..",
					       O_PATH | O_CLOEXEC));
			continue;
		}
		if (last) {
			strcpy(w->last, k->part);
			if (S_named(k, w, swaps, nswaps) ||
			    S_stops_at_links(k))
				return;
		}
		rc = S_link(k, last, w, swaps, nswaps);
		if (rc < 0 || (!rc && last))
			return;
		if (!rc)
			S_go(k, openat(k->at, k->part,
				       O_PATH | O_NOFOLLOW | O_CLOEXEC));
		if (k->at < 0)
			return;
	}
}

void
where_find(struct where *w, pid_t thread, const struct target_open *o,
	   struct swap *swaps, size_t nswaps)
{
	struct walk k = { .thread = thread, .o = o, .at = -1, .root = -1 };

	*w = (struct where){ .dir = -1 };
	if (S_start(&k))
		S_walk(&k, w, swaps, nswaps);
	w->dir = k.at;
	if (k.root >= 0)
		close(k.root);
}

void
where_release(struct where *w)
{
	if (w->dir >= 0)
		close(w->dir);
	w->dir = -1;
}

bool
where_text(const struct where *w, char *text, size_t size)
{
	char link[64];
	ssize_t n;

	if (w->dir < 0 || !w->last[0])
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", w->dir);
	n = readlink(link, text, size - sizeof(w->last) - 2);
	if (n < 0)
		return false;
	text[n] = '\0';
	if (n > 1)
		text[n++] = '/';
	strcpy(text + n, w->last);
	return true;
}
