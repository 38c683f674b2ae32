/*
 * binding.c - which sidecar belongs to which main, by their content
 */
#include "recover/binding.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "recover/header.h"
#include "recover/images.h"
#include "recover/proof.h"
#include "recover/shm.h"
#include "recover/wal.h"

#define ACCOUNT_SHARE 8u

struct extra {
	enum role role;
	struct images *images;		/* owned */
	struct images_reader *reader;	/* owned */
	struct shm_facts shm;		/* ROLE_SHM */
	uint32_t salt[2];		/* ROLE_WAL */
	bool salted;			/* ROLE_WAL: its header is valid */
	uint32_t page_size;		/* ROLE_MAIN */
	bool header, wal_mode;		/* ROLE_MAIN */
};

struct binding {
	const struct ask *ask;
	int (*emit)(void *arg, const struct binding_match *m,
		    struct fault *f);
	void *arg;
	uint64_t memory;
	struct extra *extra;		/* owned; of ask->nextras */
	/* Of the sidecar in hand: is a page equal in a main? */
	unsigned char (*equal)[BINDING_PAGES_MAX];	/* owned */
};

static int
S_look_at_main(struct extra *x, struct fault *f)
{
	unsigned char head[HEADER_BYTES];
	uint64_t size = images_size(x->images, ROLE_MAIN);
	size_t n = size < sizeof(head) ? (size_t)size : sizeof(head);
	struct header h;
	int rc = images_read(x->reader, ROLE_MAIN, 0, head, n, f);

	if (rc)
		return rc;
	header_decode(head, n, &h);
	x->page_size = h.page_size;
	x->header = h.state == HEADER_OK;
	x->wal_mode = x->header && h.wal;
	return 0;
}

static int
S_look_at_wal(struct extra *x, struct fault *f)
{
	unsigned char head[WAL_HEADER_BYTES];
	struct wal_account a;
	int rc;

	if (images_size(x->images, ROLE_WAL) < sizeof(head))
		return 0;
	rc = images_read(x->reader, ROLE_WAL, 0, head, sizeof(head), f);
	if (rc)
		return rc;
	wal_header(head, &a);
	x->salted = a.header_valid;
	memcpy(x->salt, a.salt, sizeof(x->salt));
	return 0;
}

static int
S_look(struct extra *x, const struct ask_member *m, struct fault *f)
{
	struct ask_side side;
	int rc;

	if (m->role >= ROLE_COUNT)
		return fault_set(f, FAULT_USAGE, "an extra has no role");
	memset(&side, 0, sizeof(side));
	side.member[m->role] = *m;
	side.member[m->role].present = 1;
	x->role = (enum role)m->role;
	rc = images_open(&x->images, &side, f);
	if (!rc)
		rc = images_reader_new(&x->reader, x->images, f);
	if (rc)
		return rc;
	if (x->role == ROLE_MAIN)
		return S_look_at_main(x, f);
	if (x->role == ROLE_WAL)
		return S_look_at_wal(x, f);
	if (x->role == ROLE_SHM)
		return shm_read(x->reader, &x->shm, f);
	return 0;
}

/*
 * A WAL that was just restarted has its new salts in the SHM only: the
 * first one more than before, and no frames.
 */
static bool
S_salts_match(const struct shm_facts *s, const struct extra *wal)
{
	if (memcmp(s->salt, wal->salt, sizeof(wal->salt)) == 0)
		return true;
	return s->frames == 0 && s->salt[0] == wal->salt[0] + 1;
}

static int
S_pair_shm(struct binding *b, uint32_t i, struct fault *f)
{
	const struct shm_facts *s = &b->extra[i].shm;
	int rc = 0;

	for (uint32_t j = 0; !rc && j < b->ask->nextras; j++) {
		const struct extra *wal = &b->extra[j];
		struct binding_match m = { .sidecar = i, .main = j };

		if (wal->role != ROLE_WAL)
			continue;
		m.compared = s->state == SHM_VALID && wal->salted;
		m.equal = m.compared && S_salts_match(s, wal);
		rc = b->emit(b->arg, &m, f);
	}
	return rc;
}

/* Only a SHM with the very salts speaks of this generation's frames. */
static const struct shm_facts *
S_shm_of(const struct binding *b, const struct extra *wal)
{
	for (uint32_t i = 0; wal->salted && i < b->ask->nextras; i++) {
		const struct extra *x = &b->extra[i];

		if (x->role == ROLE_SHM && x->shm.state == SHM_VALID &&
		    memcmp(x->shm.salt, wal->salt, sizeof(wal->salt)) == 0)
			return &x->shm;
	}
	return NULL;
}

/* Marks in equal[nth] whether main's page is one of the images e[i..]. */
static int
S_compare_page(const struct extra *main, const struct proof *e, size_t i,
	       unsigned char *bytes, unsigned char *equal, struct fault *f)
{
	uint64_t at = (uint64_t)(e->page[i].pgno - 1) * e->page_size;
	uint64_t size = images_size(main->images, ROLE_MAIN);
	unsigned char sum[DIGEST_BYTES];
	int rc;

	*equal = 0;
	if (main->page_size != e->page_size || at >= size ||
	    size - at < e->page_size)
		return 0;
	rc = images_read(main->reader, ROLE_MAIN, at, bytes, e->page_size, f);
	if (rc)
		return rc;
	digest_of(bytes, e->page_size, sum);
	do {
		if (memcmp(sum, e->page[i].sha256, sizeof(sum)) == 0)
			*equal = 1;
	} while (++i < e->count && e->page[i].newer);
	return 0;
}

static int
S_compare(struct binding *b, const struct proof *e, uint32_t *pages,
	  struct fault *f)
{
	OWN_MEM(unsigned char, bytes);
	uint32_t nth = 0;
	bool any;
	int rc = 0;

	bytes = malloc(e->page_size ? e->page_size : 1);
	if (!bytes)
		return fault_set(f, FAULT_TROUBLE, "out of memory: binding");
	for (size_t i = 0; !rc && i < e->count; i++) {
		if (e->page[i].newer)
			continue;
		any = !e->page[i].optional;
		for (uint32_t j = 0; !rc && j < b->ask->nextras; j++) {
			if (b->extra[j].role != ROLE_MAIN)
				continue;
			rc = S_compare_page(&b->extra[j], e, i, bytes,
					    &b->equal[j][nth], f);
			any |= b->equal[j][nth];
		}
		nth += any;
	}
	*pages = nth;
	return rc;
}

static uint32_t
S_distinctive(const struct binding *b, uint32_t main, uint32_t pages)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < pages; p++) {
		bool alone = b->equal[main][p];

		for (uint32_t j = 0; alone && j < b->ask->nextras; j++)
			alone = j == main || !b->equal[j][p];
		n += alone;
	}
	return n;
}

static int
S_pair(struct binding *b, uint32_t i, const struct proof *e, struct fault *f)
{
	uint32_t pages = 0;
	int rc;

	memset(b->equal, 0, b->ask->nextras * sizeof(*b->equal));
	rc = S_compare(b, e, &pages, f);
	for (uint32_t j = 0; !rc && j < b->ask->nextras; j++) {
		struct binding_match m = {
			.sidecar = i, .main = j, .compared = pages
		};

		if (b->extra[j].role != ROLE_MAIN)
			continue;
		for (uint32_t p = 0; p < pages; p++)
			m.equal += b->equal[j][p];
		m.distinctive = S_distinctive(b, j, pages);
		rc = b->emit(b->arg, &m, f);
	}
	return rc;
}

static int
S_pair_sidecar(struct binding *b, uint32_t i, struct fault *f)
{
	struct extra *x = &b->extra[i];
	struct proof e;
	int rc;

	if (x->role == ROLE_WAL)
		rc = proof_of_wal(x->reader, S_shm_of(b, x),
				  BINDING_PAGES_MAX, b->memory, &e, f);
	else
		rc = proof_of_journal(x->reader, BINDING_PAGES_MAX,
				      b->memory, &e, f);
	if (rc)
		return rc;
	rc = S_pair(b, i, &e, f);
	proof_free(&e);
	return rc;
}

static int
S_tell_mode(struct binding *b, uint32_t i, struct fault *f)
{
	const struct binding_match m = {
		.sidecar = i, .main = i,
		.compared = b->extra[i].header,
		.equal = b->extra[i].wal_mode,
	};

	return b->emit(b->arg, &m, f);
}

static int
S_run(struct binding *b, struct fault *f)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < b->ask->nextras; i++) {
		rc = S_look(&b->extra[i], &b->ask->extra[i], f);
		if (rc)
			return fault_wrap(f, "candidate %u", i);
	}
	for (uint32_t i = 0; !rc && i < b->ask->nextras; i++) {
		if (b->extra[i].role == ROLE_MAIN)
			rc = S_tell_mode(b, i, f);
		else if (b->extra[i].role == ROLE_SHM)
			rc = S_pair_shm(b, i, f);
		else
			rc = S_pair_sidecar(b, i, f);
	}
	return rc;
}

int
binding_run(const struct ask *a,
	    int (*emit)(void *arg, const struct binding_match *m,
			struct fault *f),
	    void *arg, struct fault *f)
{
	struct binding b = { .ask = a, .emit = emit, .arg = arg };
	int rc;

	if (a->nextras == 0)
		return 0;
	MUST(a->nextras <= ASK_EXTRAS);
	b.memory = (a->memory_limit ? a->memory_limit : ASK_MEMORY_DEFAULT) /
		ACCOUNT_SHARE;
	b.extra = calloc(a->nextras, sizeof(*b.extra));
	b.equal = calloc(a->nextras, sizeof(*b.equal));
	if (!b.extra || !b.equal)
		rc = fault_set(f, FAULT_TROUBLE, "out of memory: binding");
	else
		rc = S_run(&b, f);
	for (uint32_t i = 0; b.extra && i < a->nextras; i++) {
		images_reader_free(b.extra[i].reader);
		images_free(b.extra[i].images);
	}
	free(b.extra);
	free(b.equal);
	return rc;
}
