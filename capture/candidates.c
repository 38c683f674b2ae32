/*
 * candidates.c - the database files that the paused writers have open
 */
#include "capture/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/own.h"
#include "capture/names.h"

#define SNIFF_BYTES 16u

/*
 * The first bytes of each kind. The SHM's is its version, 3007000, in the
 * byte order of the machine; a journal that is not hot starts with zeros.
 */
static const unsigned char magic_main[16] = "SQLite format 3";
static const unsigned char magic_wal_le[4] = { 0x37, 0x7f, 0x06, 0x82 };
static const unsigned char magic_wal_be[4] = { 0x37, 0x7f, 0x06, 0x83 };
static const unsigned char magic_journal[8] = {
	0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7
};
static const uint32_t magic_shm = 3007000;

static const struct {
	enum role role;
	const void *bytes;
	size_t len;
} magic[] = {
	{ ROLE_MAIN, magic_main, sizeof(magic_main) },
	{ ROLE_WAL, magic_wal_le, sizeof(magic_wal_le) },
	{ ROLE_WAL, magic_wal_be, sizeof(magic_wal_be) },
	{ ROLE_JOURNAL, magic_journal, sizeof(magic_journal) },
	{ ROLE_SHM, &magic_shm, sizeof(magic_shm) },
};

/* 0 and *role, or 1: the bytes start no file of SQLite's. */
static int
S_role_of_bytes(const unsigned char *bytes, size_t n, enum role *role)
{
	for (size_t i = 0; i < sizeof(magic) / sizeof(magic[0]); i++) {
		if (n < magic[i].len ||
		    memcmp(bytes, magic[i].bytes, magic[i].len) != 0)
			continue;
		*role = magic[i].role;
		return 0;
	}
	return 1;
}

/* 0 and *role: the first n bytes of link are main's, with its suffix. */
static int
S_role_of_suffix(const char *link, size_t n, const char *main, size_t base,
		 enum role *role)
{
	for (enum role r = ROLE_WAL; r < ROLE_COUNT; r++) {
		const char *suffix = role_suffix(r);

		if (n == base + strlen(suffix) &&
		    memcmp(link, main, base) == 0 &&
		    memcmp(link + base, suffix, n - base) == 0) {
			*role = r;
			return 0;
		}
	}
	return 1;
}

/*
 * 0 and *role: link is one of the mains' links with a sidecar's suffix. A
 * main may be called so that its name ends as those of unlinked files do.
 */
static int
S_role_of_name(const struct holder *table, dev_t dev, ino_t ino,
	       const char *link, enum role *role)
{
	size_t n;

	(void)names_link_gone(link, &n);
	for (size_t i = 0; i < table->nfds; i++) {
		const struct holder_fd *m = &table->fd[i];
		size_t base;

		if (m->dev != dev || m->ino != ino)
			continue;
		if (names_link_gone(m->link, &base) &&
		    !S_role_of_suffix(link, n, m->link, base, role))
			return 0;
		if (!S_role_of_suffix(link, n, m->link, strlen(m->link), role))
			return 0;
	}
	return 1;
}

int
candidates_find(const struct candidates *c, dev_t dev, ino_t ino)
{
	for (size_t i = 0; i < c->count; i++)
		if (held_is(&c->list[i].held, dev, ino))
			return (int)i;
	return -1;
}

bool
candidate_has_content(const struct candidate *c)
{
	return c->held.role != ROLE_MAIN && !c->blank;
}

static struct candidate *
S_find(const struct candidates *c, dev_t dev, ino_t ino)
{
	int i = candidates_find(c, dev, ino);

	return i < 0 ? NULL : &c->list[i];
}

static int
S_keep(struct candidates *c, struct candidate *new, struct fault *f)
{
	struct candidate *grown;

	if (c->count == CANDIDATES_MAX)
		return fault_set(f, FAULT_CAP, "the writers have more than %u "
				 "database files open", CANDIDATES_MAX);
	grown = reallocarray(c->list, c->count + 1, sizeof(*grown));
	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	c->list = grown;
	grown[c->count++] = *new;
	new->held.fd = -1;
	return 0;
}

static int
S_look_at(struct candidates *c, const struct proc *p,
	  const struct holder *table, const struct holder_fd *e, dev_t dev,
	  ino_t ino, struct fault *f)
{
	struct candidate new = { .held = HELD_INIT };
	unsigned char first[SNIFF_BYTES];
	bool is_main = e->dev == dev && e->ino == ino;
	size_t got;
	int rc;

	rc = held_from_process(&new.held, p, e, f);
	if (!rc)
		rc = io_pread(new.held.fd, first, sizeof(first), 0, &got, f);
	if (rc)
		goto out;
	new.blank = got == 0 || first[0] == 0;
	new.own_name = !is_main && !S_role_of_name(table, dev, ino, e->link,
						   &new.held.role);
	if (is_main)
		new.held.role = ROLE_MAIN;
	else if (!new.own_name &&
		 S_role_of_bytes(first, got, &new.held.role))
		goto out;
	rc = S_keep(c, &new, f);
out:
	held_free(&new.held);
	return rc;
}

/* A file that several descriptors share is looked at once. */
static bool
S_seen_before(const struct holder *table, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (table->fd[k].fd >= 0 &&
		    table->fd[k].dev == table->fd[i].dev &&
		    table->fd[k].ino == table->fd[i].ino)
			return true;
	return false;
}

static int
S_add_table(struct candidates *c, const struct proc *p,
	    const struct holder *table, dev_t dev, ino_t ino, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < table->nfds; i++) {
		const struct holder_fd *e = &table->fd[i];

		if (e->fd < 0 || S_seen_before(table, i) ||
		    S_find(c, e->dev, e->ino))
			continue;
		rc = S_look_at(c, p, table, e, dev, ino, f);
	}
	return rc;
}

/* The kernel shows a lock at the descriptor that took it: ask them all. */
static int
S_add_locks(struct candidates *c, const struct proc *p,
	    const struct holder *table, struct main_locks *own,
	    struct fault *f)
{
	for (size_t i = 0; i < table->nfds; i++) {
		const struct holder_fd *e = &table->fd[i];
		struct candidate *main = S_find(c, e->dev, e->ino);
		int rc;

		if (e->fd < 0 || !main || main->held.role != ROLE_MAIN)
			continue;
		rc = locks_of_main(p, e->tid, e->fd, &main->locks, f);
		if (!rc && main == c->list)
			rc = locks_of_main(p, e->tid, e->fd, own, f);
		if (rc)
			return rc;
	}
	return 0;
}

static void
S_mark_locked(struct candidates *c, const struct holder *table)
{
	for (size_t i = 0; i < table->nfds; i++) {
		struct candidate *one = S_find(c, table->fd[i].dev,
					       table->fd[i].ino);

		if (table->fd[i].fd >= 0 && one)
			one->locked = true;
	}
}

int
candidates_add(struct candidates *c, const struct proc *p, dev_t main_dev,
	       ino_t main_ino, struct fault *f)
{
	struct main_locks own = MAIN_LOCKS_INIT;
	OWN_HOLDER(table);
	int rc = holders_table(p, &table, f);

	/* The main goes first, so that it is candidate 0. */
	for (size_t i = 0; rc == 0 && c->count == 0 && i < table.nfds; i++) {
		const struct holder_fd *e = &table.fd[i];

		if (e->fd >= 0 && e->dev == main_dev && e->ino == main_ino)
			rc = S_look_at(c, p, &table, e, main_dev, main_ino, f);
	}
	if (!rc)
		rc = S_add_table(c, p, &table, main_dev, main_ino, f);
	if (!rc)
		rc = S_add_locks(c, p, &table, &own, f);
	if (!rc && locks_any(&own))
		S_mark_locked(c, &table);
	return rc;
}

static bool
S_is_among(const struct holder_fd *e, const struct inode_id *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i].dev == e->dev && ids[i].ino == e->ino)
			return true;
	return false;
}

int
candidates_others(const struct proc *p, const struct inode_id *ids, size_t n,
		  bool *any, struct fault *f)
{
	OWN_CANDIDATES(c);
	OWN_HOLDER(table);
	int rc = holders_table(p, &table, f);

	for (size_t i = 0; rc == 0 && i < table.nfds; i++) {
		const struct holder_fd *e = &table.fd[i];

		if (e->fd >= 0 && !S_seen_before(&table, i) &&
		    !S_is_among(e, ids, n))
			rc = S_look_at(&c, p, &table, e, 0, 0, f);
	}
	*any = c.count > 0;
	return rc;
}

size_t
candidates_of(const struct candidates *c, enum role r)
{
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++)
		n += c->list[i].held.role == r;
	return n;
}

void
candidates_free(struct candidates *c)
{
	for (size_t i = 0; i < c->count; i++)
		held_free(&c->list[i].held);
	free(c->list);
	*c = (struct candidates)CANDIDATES_INIT;
}
