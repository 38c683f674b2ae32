/*
 * scan.c - looks through the descriptors and mappings of one process
 */
#include "capture/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/own.h"

#define SCAN_TABLES 16		/* distinct tables that are told apart */
#define SCAN_MAPS_BYTES 65536	/* several times the longest line of maps */

struct scan {
	const struct inode_id *ids;
	size_t n;
	struct proc_list fds, tasks;
	pid_t table[SCAN_TABLES];	/* one thread of each table seen */
	size_t tables;
	bool apart;		/* the kernel says: a table of its own */
	char maps[SCAN_MAPS_BYTES];
};

int
scan_new(struct scan **s, const struct inode_id *ids, size_t n,
	 struct fault *f)
{
	struct scan *made = malloc(sizeof(*made));

	if (!made)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	made->ids = ids;
	made->n = n;
	made->tables = 0;
	made->apart = false;
	*s = made;
	return 0;
}

void
scan_free(struct scan *s)
{
	free(s);
}

static bool
S_denied(int err)
{
	return err == EACCES || err == EPERM;
}

/*
 * A process that ended holds nothing; what we could not look at for want of
 * a descriptor or memory may hold anything.
 */
static int
S_unseen(const struct proc *p, const char *name, int err, struct fault *f)
{
	if (S_denied(err))
		return SCAN_DENIED;
	if (err == ENOENT || err == ESRCH)
		return 0;
	return fault_sys(f, FAULT_TROUBLE, err, "look into /proc/%d/%s",
			 (int)p->pid, name);
}

/*
 * What a link below /proc leads to. Nothing is opened, and a server of a
 * network or FUSE file system is not asked, so that none can hold us up.
 */
static int
S_look(int dirfd, const char *name, int flags, struct statx *st)
{
	return statx(dirfd, name, flags | AT_STATX_DONT_SYNC,
		     STATX_TYPE | STATX_MODE | STATX_INO, st);
}

static bool
S_wanted(const struct scan *s, dev_t dev, ino_t ino)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->ids[i].ino == ino && s->ids[i].dev == dev)
			return true;
	return false;
}

static bool
S_match(const struct scan *s, const struct statx *st)
{
	if (!s->ids)
		return S_ISREG(st->stx_mode);
	return S_wanted(s, makedev(st->stx_dev_major, st->stx_dev_minor),
			st->stx_ino);
}

/*
 * The same descriptor in the copied table of a thread adds nothing, and
 * neither does another mapping of the same file.
 */
static bool
S_known(const struct holder *h, pid_t pid, const struct holder_fd *d)
{
	if (d->fd >= 0 && d->tid == pid)
		return false;
	for (size_t i = 0; i < h->nfds; i++)
		if (h->fd[i].fd == d->fd && h->fd[i].dev == d->dev
		    && h->fd[i].ino == d->ino
		    && h->fd[i].writable == d->writable)
			return true;
	return false;
}

static int
S_add(struct holder *h, const struct holder_fd *d, int dirfd, const char *name,
      struct fault *f)
{
	struct holder_fd *grown;
	char path[PATH_MAX];
	ssize_t n;
	OWN_MEM(char, link);

	n = readlinkat(dirfd, name, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	link = strdup(n > 0 ? path : "?");
	grown = link ? reallocarray(h->fd, h->nfds + 1, sizeof(*grown)) : NULL;
	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	h->fd = grown;
	grown[h->nfds] = *d;
	grown[h->nfds++].link = TAKE_MEM(link);
	h->writable = h->writable || d->writable;
	return 0;
}

static int
S_see_fd(const struct scan *s, const struct proc *p, pid_t tid, int dirfd,
	 const char *name, struct holder *h, struct fault *f)
{
	struct statx st, link;
	struct holder_fd d = { .fd = atoi(name), .tid = tid };

	if (S_look(dirfd, name, 0, &st) != 0)
		return S_denied(errno) ? SCAN_DENIED : 0;
	if (!S_match(s, &st))
		return 0;
	if (S_look(dirfd, name, AT_SYMLINK_NOFOLLOW, &link) != 0)
		return S_denied(errno) ? SCAN_DENIED : 0;
	if (!(link.stx_mode & (S_IRUSR | S_IWUSR)))
		return 0;
	d.dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	d.ino = st.stx_ino;
	d.mode = st.stx_mode;
	d.writable = link.stx_mode & S_IWUSR;
	/* Where all is asked for, locks are too: each table has its own. */
	if ((s->ids || !s->apart) && S_known(h, p->pid, &d))
		return 0;
	return S_add(h, &d, dirfd, name, f);
}

/* name is "fd" or "task/TID/fd". */
static int
S_see_table(struct scan *s, const struct proc *p, pid_t tid, const char *name,
	    struct holder *h, struct fault *f)
{
	const char *number;
	int rc = 0;
	OWN_FD(fd);

	fd = openat(p->dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return S_unseen(p, name, errno, f);
	proc_list_begin(&s->fds, fd);
	while (!rc && (number = proc_list_next(&s->fds)))
		rc = S_see_fd(s, p, tid, fd, number, h, f);
	if (!rc && s->fds.err)
		return S_unseen(p, name, s->fds.err, f);
	return rc;
}

struct mapping {
	unsigned long start, end;
	bool write, shared;
	ino_t ino;
};

/*
 * START-END rwxs OFFSET MAJOR:MINOR INODE PATH; 1: no file is mapped. A
 * process can have thousands of them, and sscanf takes longer than the
 * kernel does.
 */
static int
S_parse_mapping(const char *line, struct mapping *m)
{
	char *at;

	m->start = strtoul(line, &at, 16);
	if (*at != '-')
		return 1;
	m->end = strtoul(at + 1, &at, 16);
	if (*at != ' ' || strlen(at) < 6)
		return 1;
	m->write = at[2] == 'w';
	m->shared = at[4] == 's';
	/* permissions, offset, device */
	for (int skipped = 0; skipped < 3; skipped++) {
		at = strchr(at + 1, ' ');
		if (!at)
			return 1;
	}
	m->ino = strtoull(at + 1, NULL, 10);
	return m->ino == 0;
}

/*
 * The number in maps is a hint: some file systems show another one there
 * than stat does. So each shared mapping is looked at, which are few and
 * the only ones that can write; of the others those with a wanted number.
 */
static const struct inode_id *
S_number_wanted(const struct scan *s, ino_t ino)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->ids[i].ino == ino)
			return &s->ids[i];
	return NULL;
}

static int
S_see_mapping(const struct scan *s, const struct proc *p,
	      const struct mapping *m, struct holder *h, struct fault *f)
{
	const struct inode_id *id = S_number_wanted(s, m->ino);
	struct holder_fd d = { .fd = -1, .tid = p->pid };
	struct statx st, link;
	char name[64];

	if (!id && !m->shared)
		return 0;
	(void)snprintf(name, sizeof(name), "map_files/%lx-%lx", m->start,
		       m->end);
	if (S_look(p->dirfd, name, 0, &st) == 0) {
		if (!S_match(s, &st))
			return 0;
		d.dev = makedev(st.stx_dev_major, st.stx_dev_minor);
		d.ino = st.stx_ino;
		d.mode = st.stx_mode;
	} else if (id) {
		d.dev = id->dev;
		d.ino = id->ino;
		d.mode = S_IFREG;
	} else {
		return 0;
	}
	d.writable = m->shared
		&& (m->write
		    || (S_look(p->dirfd, name, AT_SYMLINK_NOFOLLOW, &link) == 0
			&& (link.stx_mode & S_IWUSR)));
	if (S_known(h, p->pid, &d))
		return 0;
	return S_add(h, &d, p->dirfd, name, f);
}

/* Whole lines of s->maps[0, len); *left: bytes of a line not ended yet. */
static int
S_see_lines(struct scan *s, const struct proc *p, size_t len, size_t *left,
	    struct holder *h, struct fault *f)
{
	char *line = s->maps, *end;

	while ((end = memchr(line, '\n', len))) {
		struct mapping m;
		int rc;

		*end = '\0';
		rc = S_parse_mapping(line, &m) ? 0 : S_see_mapping(s, p, &m, h,
								   f);
		if (rc)
			return rc;
		len -= (size_t)(end + 1 - line);
		line = end + 1;
	}
	memmove(s->maps, line, len);
	*left = len;
	return 0;
}

/* name is "maps" or "task/TID/maps"; *any: it has a mapping at all. */
static int
S_see_maps(struct scan *s, const struct proc *p, const char *name, bool *any,
	   struct holder *h, struct fault *f)
{
	size_t have = 0;
	OWN_FD(fd);

	*any = false;
	fd = openat(p->dirfd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return S_unseen(p, name, errno, f);
	for (;;) {
		ssize_t n = read(fd, s->maps + have, sizeof(s->maps) - have);
		int rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return S_unseen(p, name, errno, f);
		if (n == 0)
			return 0;
		*any = true;
		rc = S_see_lines(s, p, have + (size_t)n, &have, h, f);
		if (rc)
			return rc;
		if (have == sizeof(s->maps))
			return fault_set(f, FAULT_CAP,
					 "/proc/%d/%s: a line is longer than "
					 "%zu bytes", (int)p->pid, name, have);
	}
}

/* Where the kernel does not answer the tables count as different. */
static bool
S_same_table(struct scan *s, pid_t tid)
{
	s->apart = true;
	for (size_t i = 0; i < s->tables; i++) {
		long order = syscall(SYS_kcmp, s->table[i], tid, KCMP_FILES, 0,
				     0);

		if (order == 0)
			return true;
		s->apart = s->apart && order > 0;
	}
	return false;
}

static int
S_see_thread(struct scan *s, const struct proc *p, pid_t tid, bool *mapped,
	     struct holder *h, struct fault *f)
{
	size_t before = h->nfds;
	char name[40];
	int rc;

	if (!S_same_table(s, tid)) {
		if (s->tables < SCAN_TABLES)
			s->table[s->tables++] = tid;
		(void)snprintf(name, sizeof(name), "task/%d/fd", (int)tid);
		rc = S_see_table(s, p, tid, name, h, f);
		if (rc)
			return rc;
		h->split = h->split || h->nfds > before;
	}
	if (*mapped)
		return 0;
	(void)snprintf(name, sizeof(name), "task/%d/maps", (int)tid);
	return S_see_maps(s, p, name, mapped, h, f);
}

/* The number of links of the task directory is that of the threads, and 2. */
static bool
S_one_thread(const struct proc *p)
{
	struct statx st;

	return statx(p->dirfd, "task", AT_STATX_DONT_SYNC, STATX_NLINK, &st)
		       == 0
		&& st.stx_nlink == 3;
}

static int
S_see_threads(struct scan *s, const struct proc *p, bool mapped,
	      struct holder *h, struct fault *f)
{
	const char *number;
	int rc = 0;
	OWN_FD(fd);

	fd = openat(p->dirfd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return S_unseen(p, "task", errno, f);
	s->table[0] = p->pid;
	s->tables = 1;
	proc_list_begin(&s->tasks, fd);
	while (!rc && (number = proc_list_next(&s->tasks)))
		if (atoi(number) != p->pid)
			rc = S_see_thread(s, p, (pid_t)atoi(number), &mapped,
					  h, f);
	if (!rc && s->tasks.err)
		return S_unseen(p, "task", s->tasks.err, f);
	return rc;
}

/* Then its table is root's and empty; that of its threads need not be. */
static bool
S_leader_ended(const struct proc *p)
{
	struct fault ignored = FAULT_INIT;
	struct proc_stat st;

	return !proc_stat(p, 0, &st, &ignored) && st.state == 'Z';
}

int
scan_process(struct scan *s, const struct proc *p, struct holder *h,
	     struct fault *f)
{
	bool mapped = true;
	int rc = S_see_table(s, p, p->pid, "fd", h, f);

	if (rc == SCAN_DENIED && S_leader_ended(p))
		rc = 0;
	if (!rc && s->ids)
		rc = S_see_maps(s, p, "maps", &mapped, h, f);
	if (!rc && !S_one_thread(p))
		rc = S_see_threads(s, p, mapped, h, f);
	return rc;
}
