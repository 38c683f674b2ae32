/*
 * pool.c - rows that are still to be paired, in bounded memory
 */
#include "verify/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "verify/order.h"
#include "verify/sort.h"

#define POOL_CHUNK_BYTES (1u << 20)

struct chunk {
	struct chunk *next;
	size_t used, room;
	unsigned char bytes[];
};

struct pool {
	uint64_t budget, used;
	bool multiset;
	struct chunk *chunk;
	struct pool_entry *entry;
	size_t nentry, room;
	size_t *slot;		/* entry number + 1, 0: free */
	size_t nslot;		/* a power of two */
};

/* An entry, its slots at the fullest, and growing them. */
#define POOL_ENTRY_COST (2 * sizeof(struct pool_entry) + 4 * sizeof(size_t))

int
pool_new(struct pool **out, uint64_t budget, bool multiset, struct fault *f)
{
	struct pool *p = calloc(1, sizeof(*p));

	if (!p)
		return fault_set(f, FAULT_TROUBLE, "out of memory: rows");
	p->budget = budget;
	p->multiset = multiset;
	*out = p;
	return 0;
}

void
pool_reset(struct pool *p)
{
	struct chunk *next;

	for (struct chunk *c = p->chunk; c; c = next) {
		next = c->next;
		free(c);
	}
	free(p->entry);
	free(p->slot);
	*p = (struct pool){ .budget = p->budget, .multiset = p->multiset };
}

void
pool_free(struct pool *p)
{
	if (!p)
		return;
	pool_reset(p);
	free(p);
}

uint64_t
pool_hash(const unsigned char *key, size_t len)
{
	unsigned char sum[DIGEST_BYTES];
	uint64_t h = 0;

	/* SHA-256: the keys are the evidence's, and must not be able to
	   crowd one slot or one slice. */
	digest_of(key, len, sum);
	for (int i = 0; i < 8; i++)
		h = h << 8 | sum[i];
	return h;
}

uint64_t
pool_cost(size_t key_len, const struct pool_row *row)
{
	return POOL_ENTRY_COST + key_len + row->len;
}

static int
S_copy(struct pool *p, const unsigned char *bytes, size_t n,
       const unsigned char **copy, struct fault *f)
{
	struct chunk *c = p->chunk;
	size_t room = n > POOL_CHUNK_BYTES / 4 ? n : POOL_CHUNK_BYTES;

	if (!c || c->room - c->used < n) {
		c = malloc(sizeof(*c) + room);
		if (!c)
			return fault_set(f, FAULT_TROUBLE,
					 "out of memory: rows");
		c->used = 0;
		c->room = room;
		c->next = p->chunk;
		p->chunk = c;
	}
	if (n > 0)
		memcpy(c->bytes + c->used, bytes, n);
	*copy = c->bytes + c->used;
	c->used += n;
	return 0;
}

static void
S_slot_add(struct pool *p, size_t i)
{
	size_t at = (size_t)p->entry[i].hash & (p->nslot - 1);

	while (p->slot[at])
		at = (at + 1) & (p->nslot - 1);
	p->slot[at] = i + 1;
}

static int
S_grow(struct pool *p, struct fault *f)
{
	size_t room = p->room ? p->room * 2 : 64;
	void *entry, *slot;

	if (p->nentry < p->room)
		return 0;
	entry = realloc(p->entry, room * sizeof(*p->entry));
	if (entry)
		p->entry = entry;
	slot = entry ? calloc(room * 2, sizeof(*p->slot)) : NULL;
	if (!slot)
		return fault_set(f, FAULT_TROUBLE, "out of memory: rows");
	free(p->slot);
	p->slot = slot;
	p->room = room;
	p->nslot = room * 2;
	for (size_t i = 0; i < p->nentry; i++)
		S_slot_add(p, i);
	return 0;
}

/* The entry with this key where the side has room, or NULL. */
static struct pool_entry *
S_find(struct pool *p, int side, uint64_t hash, const unsigned char *key,
       size_t len)
{
	size_t at = (size_t)hash & (p->nslot - 1);

	for (; p->nslot && p->slot[at]; at = (at + 1) & (p->nslot - 1)) {
		struct pool_entry *e = &p->entry[p->slot[at] - 1];

		if (e->hash == hash && e->key_len == len &&
		    memcmp(e->key, key, len) == 0 &&
		    (p->multiset || e->n[side] == 0))
			return e;
	}
	return NULL;
}

static int
S_add(struct pool *p, uint64_t hash, const unsigned char *key, size_t len,
      struct pool_entry **out, struct fault *f)
{
	struct pool_entry *e;
	int rc = S_grow(p, f);

	if (rc)
		return rc;
	e = &p->entry[p->nentry];
	*e = (struct pool_entry){ .hash = hash, .key_len = len };
	rc = S_copy(p, key, len, &e->key, f);
	if (rc)
		return rc;
	S_slot_add(p, p->nentry++);
	*out = e;
	return 0;
}

int
pool_put(struct pool *p, int side, uint64_t hash, const unsigned char *key,
	 size_t key_len, const struct pool_row *row, struct fault *f)
{
	struct pool_entry *e = S_find(p, side, hash, key, key_len);
	uint64_t cost = pool_cost(key_len, row);
	int rc = 0;

	if (e && e->n[side] > 0) {
		e->n[side]++;
		return 0;
	}
	if (p->nentry > 0 && p->used + cost > p->budget)
		return 1;
	if (!e)
		rc = S_add(p, hash, key, key_len, &e, f);
	if (rc == 0)
		rc = S_copy(p, row->bytes, row->len, &e->row[side].bytes, f);
	if (rc)
		return rc;
	e->row[side].common = row->common;
	e->row[side].len = row->len;
	e->n[side] = 1;
	p->used += cost;
	return 0;
}

static int
S_sort_order(const void *a, const void *b)
{
	const struct pool_entry *x = a, *y = b;

	return order_runs(x->key, x->key_len, y->key, y->key_len);
}

void
pool_sort(struct pool *p)
{
	sort_items(p->entry, p->nentry, sizeof(*p->entry), S_sort_order);
}

size_t
pool_count(const struct pool *p)
{
	return p->nentry;
}

const struct pool_entry *
pool_at(const struct pool *p, size_t i)
{
	return &p->entry[i];
}
