/*
 * proof.c - pages of a sidecar that its main must hold
 */
#include "recover/proof.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "recover/journal.h"
#include "recover/wal.h"

#define IMAGES_MAX 16u		/* of one page: the newest ones */

/* One image of a page, in the order in which it was written. */
struct proof_image {
	uint32_t pgno;
	bool current;		/* of the generation that the header names */
	uint64_t at;		/* frame number; journal: record number */
};

/* What survives of the generation before. */
struct proof_tail {
	struct proof_image *image;	/* owned */
	size_t count, committed, room, max;
	bool begun, ended;
	uint64_t next;		/* frame number that carries on the chain */
	uint32_t salt[2];
	uint32_t pages;		/* database size after its last commit */
};

void
proof_free(struct proof *e)
{
	free(e->page);
	memset(e, 0, sizeof(*e));
}

static int
S_memory(struct fault *f)
{
	return fault_set(f, FAULT_CAP, "out of memory for the binding: "
			 "see --memory-limit");
}

static int
S_add(struct proof *e, const struct proof_page *what,
      const unsigned char *bytes, struct fault *f)
{
	struct proof_page *p;

	if (e->count == e->room) {
		size_t room = e->room ? 2 * e->room : 64;
		struct proof_page *grown =
			realloc(e->page, room * sizeof(*grown));

		if (!grown)
			return S_memory(f);
		e->page = grown;
		e->room = room;
	}
	p = &e->page[e->count++];
	*p = *what;
	digest_of(bytes, e->page_size, p->sha256);
	return 0;
}

static int
S_order(const void *left, const void *right)
{
	const struct proof_image *l = left, *r = right;

	if (l->pgno != r->pgno)
		return l->pgno < r->pgno ? -1 : 1;
	if (l->current != r->current)
		return l->current ? 1 : -1;
	return l->at < r->at ? -1 : l->at > r->at;
}

static int
S_tail_add(struct proof_tail *t, const struct wal_frame *fr, struct fault *f)
{
	if (t->count == t->room) {
		size_t room = t->room ? 2 * t->room : 256;
		struct proof_image *grown;

		if (room > t->max)
			return S_memory(f);
		grown = realloc(t->image, room * sizeof(*grown));
		if (!grown)
			return S_memory(f);
		t->image = grown;
		t->room = room;
	}
	t->image[t->count++] = (struct proof_image) {
		.pgno = fr->pgno, .at = fr->number
	};
	return 0;
}

/*
 * The first stale frame has lost its predecessor, so nothing shows that it
 * is whole; the chain starts behind it and ends where it breaks.
 */
static int
S_tail(void *arg, const struct wal_frame *fr, struct fault *f)
{
	struct proof_tail *t = arg;
	int rc;

	if (fr->kind == WAL_VALID || t->ended)
		return 0;
	if (!t->begun) {
		t->begun = true;
		t->ended = fr->kind != WAL_STALE;
		t->next = fr->number + 1;
		memcpy(t->salt, fr->salt, sizeof(t->salt));
		return 0;
	}
	t->ended = fr->kind != WAL_STALE || !fr->chained ||
		fr->pgno == 0 || fr->number != t->next++ ||
		memcmp(fr->salt, t->salt, sizeof(t->salt)) != 0;
	if (t->ended)
		return 0;
	rc = S_tail_add(t, fr, f);
	if (!rc && fr->truncate) {
		t->committed = t->count;
		t->pages = fr->truncate;
	}
	return rc;
}

/* What is known of the checkpoints of the generation at hand. */
struct proof_extent {
	bool known;		/* by a SHM */
	uint64_t backfilled, attempted;
};

/*
 * A run of images of one page, oldest first: which of them main may hold.
 * *from..*to are those; *optional: or it may hold none.
 */
static void
S_choose(const struct proof_image *g, size_t n, const struct proof_extent *x,
	 size_t *from, size_t *to, bool *optional)
{
	size_t before = 0, copied, attempted;

	while (before < n && !g[before].current)
		before++;
	for (copied = before; copied < n && g[copied].at <= x->backfilled; )
		copied++;
	for (attempted = copied; attempted < n &&
	     g[attempted].at <= x->attempted; )
		attempted++;
	*to = attempted;
	/* No later commit, or none that a checkpoint knew. */
	*optional = copied < n && (copied > before || before == 0 ||
				   !x->known);
	if (!*optional)
		*from = copied - 1;
	else
		*from = before ? before - 1 : 0;
	/* What is left out may be the one that main holds. */
	if (*to - *from > IMAGES_MAX) {
		*from = *to - IMAGES_MAX;
		*optional = true;
	}
}

static int
S_group(const struct wal *w, struct images_reader *r,
	const struct proof_image *g, size_t n, const struct proof_extent *x,
	unsigned char *bytes, struct proof *e, struct fault *f)
{
	struct proof_page p = { .pgno = g[0].pgno };
	size_t from, to;
	int rc = 0;

	S_choose(g, n, x, &from, &to, &p.optional);
	for (size_t i = from; !rc && i < to; i++) {
		rc = wal_page(w, r, g[i].at, bytes, f);
		if (!rc)
			rc = S_add(e, &p, bytes, f);
		p.newer = true;
	}
	return rc;
}

static uint64_t
S_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int
S_wal_pages(const struct wal *w, struct images_reader *r,
	    const struct proof_image *g, size_t n,
	    const struct proof_extent *x, uint32_t last, size_t max,
	    struct proof *e, struct fault *f)
{
	OWN_MEM(unsigned char, bytes);
	size_t groups = 0, run;
	int rc = 0;

	bytes = malloc(e->page_size);
	if (!bytes)
		return S_memory(f);
	for (size_t i = 0; !rc && i < n && groups < max; i += run) {
		size_t before = e->count;

		for (run = 1; i + run < n && g[i + run].pgno == g[i].pgno; )
			run++;
		/* What a commit has cut off need not be in main. */
		if (g[i].pgno > last)
			continue;
		rc = S_group(w, r, g + i, run, x, bytes, e, f);
		groups += e->count > before;
	}
	return rc;
}

static int
S_wal(const struct wal *w, struct images_reader *r,
      const struct proof_tail *t, const struct shm_facts *shm, size_t max,
      struct proof *e, struct fault *f)
{
	const struct wal_account *a = wal_account(w);
	struct proof_extent x = { .attempted = a->committed };
	bool before = t->salt[0] == a->salt[0] - 1;
	size_t n = before ? t->committed : 0;
	uint32_t last = a->committed ? a->pages : t->pages;
	OWN_MEM(struct proof_image, image);

	if (shm) {
		x.known = true;
		x.backfilled = S_min(shm->backfilled, a->committed);
		x.attempted = S_min(shm->backfill_attempted, a->committed);
	}
	if (a->committed > t->max)
		return S_memory(f);
	image = calloc(n + (size_t)a->committed + 1, sizeof(*image));
	if (!image)
		return S_memory(f);
	for (size_t i = 0; i < n; i++)
		image[i] = t->image[i];
	for (uint64_t i = 1; i <= a->committed; i++)
		image[n++] = (struct proof_image) {
			.pgno = wal_pgno(w, i), .current = true, .at = i
		};
	qsort(image, n, sizeof(*image), S_order);
	return S_wal_pages(w, r, image, n, &x, last, max, e, f);
}

int
proof_of_wal(struct images_reader *r, const struct shm_facts *shm,
	     size_t max, uint64_t memory, struct proof *e, struct fault *f)
{
	struct proof_tail t = { .max = memory / sizeof(struct proof_image) };
	struct wal_options o = {
		.memory = memory, .frame = S_tail, .arg = &t
	};
	struct wal *w = NULL;
	int rc = wal_read(r, &o, &w, f);

	memset(e, 0, sizeof(*e));
	if (!rc && wal_account(w)->header_valid) {
		e->page_size = wal_account(w)->page_size;
		rc = S_wal(w, r, &t, shm, max, e, f);
	}
	wal_free(w);
	free(t.image);
	if (rc)
		proof_free(e);
	return rc;
}

static int
S_journal(const struct journal *j, struct images_reader *r, size_t max,
	  struct proof *e, struct fault *f)
{
	uint64_t n = journal_account(j)->records;
	OWN_MEM(struct proof_image, image);
	OWN_MEM(unsigned char, bytes);
	int rc = 0;

	bytes = malloc(e->page_size);
	image = calloc((size_t)n + 1, sizeof(*image));
	if (!bytes || !image)
		return S_memory(f);
	for (uint64_t i = 0; i < n; i++)
		image[i] = (struct proof_image) {
			.pgno = journal_record(j, i).pgno, .at = i
		};
	qsort(image, (size_t)n, sizeof(*image), S_order);
	for (uint64_t i = 0; !rc && i < n && e->count < max; i++) {
		struct journal_record rec = journal_record(j, image[i].at);
		struct proof_page p = { .pgno = rec.pgno };

		if (i + 1 < n && image[i + 1].pgno == rec.pgno)
			continue;
		rc = images_read(r, ROLE_JOURNAL, rec.offset, bytes,
				 e->page_size, f);
		if (!rc)
			rc = S_add(e, &p, bytes, f);
	}
	return rc;
}

int
proof_of_journal(struct images_reader *r, size_t max, uint64_t memory,
		 struct proof *e, struct fault *f)
{
	struct journal *j = NULL;
	int rc = journal_read_unsynced(r, memory, &j, f);

	memset(e, 0, sizeof(*e));
	if (!rc && journal_hot(j)) {
		e->page_size = journal_account(j)->page_size;
		rc = S_journal(j, r, max, e, f);
	}
	journal_free(j);
	if (rc)
		proof_free(e);
	return rc;
}
