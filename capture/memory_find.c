/*
 * memory_find.c - looks for SQLite's structures in all of a process's memory
 *
 * Speed matters more here than elsewhere: a word is looked at further only
 * where it could be the pMethod of a main's unixFile, and most are not.
 */
#include "capture/memory_sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/own.h"

#define WORD sizeof(uint64_t)
#define CHUNK_BYTES (256u << 10)

/* pMethod, pVfs, pInode, h: so much is looked at together. */
#define LOOK_WORDS 4u

/* More connections than that in one process are not told apart. */
#define FILES_MAX 4096u

/* A descriptor above is looked for no further, and no answer comes. */
#define FD_MAX 65536u

/* eFileLock, behind h: from NO_LOCK to EXCLUSIVE_LOCK. */
#define LOCK_MAX 4u

struct search {
	const struct memory_view *view;
	const struct memory_fds *fds;
	struct memory_budget *budget;
	struct memory_found *found;
	size_t room;
	uint64_t low, span;		/* where method tables can be */
	uint64_t wanted[FD_MAX / 64];	/* descriptors of mains */
	unsigned char chunk[CHUNK_BYTES] __attribute__((aligned(8)));
	int err;
};

static bool
S_is_wanted(const struct search *s, uint32_t fd)
{
	return fd < FD_MAX && (s->wanted[fd / 64] >> fd % 64 & 1);
}

static enum memory_end
S_keep(struct search *s, uint64_t at)
{
	struct memory_file file;

	if (memory_sqlite_file(s->view, s->fds, at, &file))
		return MEMORY_ALL;
	if (s->found->count == FILES_MAX)
		return MEMORY_TOO_MUCH;
	if (s->found->count == s->room) {
		size_t more = s->room ? s->room * 2 : 16;
		uint64_t *grown = reallocarray(s->found->at, more,
					       sizeof(*grown));

		if (!grown)
			return MEMORY_TOO_MUCH;
		s->found->at = grown;
		s->room = more;
	}
	s->found->at[s->found->count++] = at;
	return MEMORY_ALL;
}

static enum memory_end
S_look(struct search *s, uint64_t at, size_t bytes)
{
	const uint64_t *w = (const uint64_t *)(const void *)s->chunk;
	size_t n = bytes / WORD;
	enum memory_end end = MEMORY_ALL;

	for (size_t i = 0; end == MEMORY_ALL && i + LOOK_WORDS <= n; i++) {
		if (w[i] - s->low >= s->span)
			continue;
		if (!S_is_wanted(s, (uint32_t)w[i + 3]) ||
		    (w[i + 3] >> 32 & 0xff) > LOCK_MAX || w[i + 2] == 0)
			continue;
		end = S_keep(s, at + i * WORD);
	}
	return end;
}

/* A page of it that can't be read holds nothing for its owner either. */
static enum memory_end
S_look_at_pages(struct search *s, uint64_t at, size_t bytes)
{
	const struct memory_view *v = s->view;
	enum memory_end end = MEMORY_ALL;

	for (size_t i = 0; end == MEMORY_ALL && i < bytes; i += MEMORY_PAGE) {
		size_t n = bytes - i < MEMORY_PAGE ? bytes - i : MEMORY_PAGE;

		if (v->read(v->arg, at + i, s->chunk + i, n))
			memset(s->chunk + i, 0, n);
	}
	return S_look(s, at, bytes);
}

/* What lies across the end of a chunk is read with the next one again. */
static enum memory_end
S_search_stretch(struct search *s, uint64_t at, uint64_t to)
{
	const struct memory_view *v = s->view;
	enum memory_end end = MEMORY_ALL;

	while (end == MEMORY_ALL && at < to) {
		size_t n = to - at < CHUNK_BYTES ? (size_t)(to - at)
						 : CHUNK_BYTES;
		int err;

		if (s->budget->bytes < n ||
		    clock_left_ns(s->budget->deadline_ns) == 0)
			return MEMORY_TOO_MUCH;
		s->budget->bytes -= n;
		err = v->read(v->arg, at, s->chunk, n);
		if (err == EPERM || err == ENOSYS || err == ESRCH) {
			s->err = err;
			return MEMORY_DENIED;
		}
		end = err ? S_look_at_pages(s, at, n) : S_look(s, at, n);
		if (at + n == to)
			break;
		at += n - (LOOK_WORDS - 1) * WORD;
	}
	return end;
}

static enum memory_end
S_search_region(struct search *s, const struct memory_region *r)
{
	/* The table of its pages is read as well. */
	uint64_t pages = (r->to - r->from) / MEMORY_PAGE * WORD;
	uint64_t at = r->from, from, to;
	enum memory_end end = MEMORY_ALL;

	if (s->budget->bytes < pages)
		return MEMORY_TOO_MUCH;
	s->budget->bytes -= pages;
	while (end == MEMORY_ALL && at < r->to &&
	       s->view->touched(s->view->arg, at, r->to, &from, &to) == 0) {
		end = S_search_stretch(s, from, to);
		at = to;
	}
	return end;
}

static bool
S_prepare(struct search *s)
{
	const struct memory_map *m = &s->view->map;
	uint64_t high = 0;

	s->low = UINT64_MAX;
	for (size_t i = 0; i < m->count; i++) {
		const struct memory_region *r = &m->region[i];

		if (r->ino == 0 || r->shared || r->exec || !r->read)
			continue;
		s->low = r->from < s->low ? r->from : s->low;
		high = r->to > high ? r->to : high;
	}
	s->span = high > s->low ? high - s->low : 0;
	for (size_t i = 0; i < s->fds->count; i++) {
		const struct memory_fd *fd = &s->fds->list[i];

		if (!fd->main)
			continue;
		if (fd->fd < 0 || (uint32_t)fd->fd >= FD_MAX)
			return false;
		s->wanted[fd->fd / 64] |= 1ull << fd->fd % 64;
	}
	return true;
}

/* SQLite allocates them all: they are in private memory of no file. */
static bool
S_may_hold(const struct memory_region *r)
{
	return r->read && r->write && !r->shared && r->ino == 0;
}

enum memory_end
memory_sqlite_find(const struct memory_view *v, const struct memory_fds *fds,
		   struct memory_budget *b, struct memory_found *found,
		   int *err)
{
	enum memory_end end = MEMORY_ALL;
	OWN_MEM(struct search, s);

	*err = 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return MEMORY_TOO_MUCH;
	s->view = v;
	s->fds = fds;
	s->budget = b;
	s->found = found;
	if (!S_prepare(s))
		return MEMORY_TOO_MUCH;
	for (size_t i = 0; end == MEMORY_ALL && i < v->map.count; i++) {
		struct memory_region run = v->map.region[i];

		if (!S_may_hold(&run))
			continue;
		/* An allocation can reach from one mapping into the next. */
		while (i + 1 < v->map.count &&
		       v->map.region[i + 1].from == run.to &&
		       S_may_hold(&v->map.region[i + 1]))
			run.to = v->map.region[++i].to;
		end = S_search_region(s, &run);
	}
	*err = s->err;
	return end;
}

void
memory_found_free(struct memory_found *found)
{
	free(found->at);
	*found = (struct memory_found)MEMORY_FOUND_INIT;
}
