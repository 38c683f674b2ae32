/*
 * overlay.c - main as a hot journal's rollback changes it, in memory
 */
#include "recover/overlay.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 4096u
#define SLOTS_MIN 64u

struct overlay_chunk {
	uint64_t index;			/* offset / CHUNK */
	unsigned char bytes[CHUNK];
};

struct overlay {
	struct images *im;
	uint64_t size;
	uint64_t base;		/* bytes of the image that still show */
	struct overlay_chunk **slot;	/* owned, and what it points to */
	size_t slots, chunks;
	uint64_t memory;
};

int
overlay_new(struct overlay **o, struct images *im, uint64_t memory,
	    struct fault *f)
{
	struct overlay *n = calloc(1, sizeof(*n));

	if (n)
		n->slot = calloc(SLOTS_MIN, sizeof(*n->slot));
	if (!n || !n->slot) {
		free(n);
		return fault_set(f, FAULT_TROUBLE, "out of memory: rollback");
	}
	n->slots = SLOTS_MIN;
	n->im = im;
	n->size = n->base = images_size(im, ROLE_MAIN);
	n->memory = memory;
	*o = n;
	return 0;
}

void
overlay_free(struct overlay *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->slots; i++)
		free(o->slot[i]);
	free(o->slot);
	free(o);
}

uint64_t
overlay_size(const struct overlay *o)
{
	return o->size;
}

static struct overlay_chunk **
S_find(struct overlay_chunk **slot, size_t slots, uint64_t index)
{
	size_t i = (size_t)(index * 0x9e3779b97f4a7c15ull >> 20);

	for (;; i++) {
		struct overlay_chunk **at = &slot[i & (slots - 1)];

		if (!*at || (*at)->index == index)
			return at;
	}
}

static int
S_grow(struct overlay *o)
{
	size_t slots = 2 * o->slots;
	struct overlay_chunk **grown = calloc(slots, sizeof(*grown));

	if (!grown)
		return 1;
	for (size_t i = 0; i < o->slots; i++)
		if (o->slot[i])
			*S_find(grown, slots, o->slot[i]->index) = o->slot[i];
	free(o->slot);
	o->slot = grown;
	o->slots = slots;
	return 0;
}

/* What the image shows of one chunk; zeros behind its end. */
static int
S_base(const struct overlay *o, struct images_reader *r, uint64_t offset,
       unsigned char *bytes, size_t n, struct fault *f)
{
	size_t have = 0;

	if (offset < o->base)
		have = o->base - offset < n ? (size_t)(o->base - offset) : n;
	memset(bytes + have, 0, n - have);
	return images_read(r, ROLE_MAIN, have ? offset : 0, bytes, have, f);
}

static int
S_chunk(struct overlay *o, struct images_reader *r, uint64_t index,
	struct overlay_chunk **chunk, struct fault *f)
{
	struct overlay_chunk **at = S_find(o->slot, o->slots, index), *c;
	int rc;

	if (*at) {
		*chunk = *at;
		return 0;
	}
	if ((o->chunks + 1) * sizeof(*c) > o->memory)
		return fault_set(f, FAULT_CAP, "the rollback of the journal "
				 "passes its memory: see --memory-limit");
	if (2 * o->chunks >= o->slots && S_grow(o))
		return fault_set(f, FAULT_TROUBLE, "out of memory: rollback");
	c = malloc(sizeof(*c));
	if (!c)
		return fault_set(f, FAULT_TROUBLE, "out of memory: rollback");
	c->index = index;
	rc = S_base(o, r, index * CHUNK, c->bytes, CHUNK, f);
	if (rc) {
		free(c);
		return rc;
	}
	*S_find(o->slot, o->slots, index) = c;
	o->chunks++;
	*chunk = c;
	return 0;
}

int
overlay_read(const struct overlay *o, struct images_reader *r,
	     uint64_t offset, void *bytes, size_t n, struct fault *f)
{
	unsigned char *to = bytes;
	int rc = 0;

	MUST(offset <= o->size && n <= o->size - offset);
	while (!rc && n > 0) {
		size_t in = (size_t)(offset % CHUNK);
		size_t take = CHUNK - in < n ? CHUNK - in : n;
		struct overlay_chunk *c =
			*S_find(o->slot, o->slots, offset / CHUNK);

		if (c)
			memcpy(to, c->bytes + in, take);
		else
			rc = S_base(o, r, offset, to, take, f);
		to += take;
		offset += take;
		n -= take;
	}
	return rc;
}

int
overlay_write(struct overlay *o, struct images_reader *r, uint64_t offset,
	      const void *bytes, size_t n, struct fault *f)
{
	const unsigned char *from = bytes;

	while (n > 0) {
		size_t in = (size_t)(offset % CHUNK);
		size_t take = CHUNK - in < n ? CHUNK - in : n;
		struct overlay_chunk *c;
		int rc = S_chunk(o, r, offset / CHUNK, &c, f);

		if (rc)
			return rc;
		memcpy(c->bytes + in, from, take);
		from += take;
		offset += take;
		n -= take;
		if (offset > o->size)
			o->size = offset;
	}
	return 0;
}

int
overlay_truncate(struct overlay *o, struct images_reader *r, uint64_t size,
		 struct fault *f)
{
	size_t in = (size_t)(size % CHUNK);

	if (size < o->base)
		o->base = size;
	/* Chunks stay where they are, so that look-ups find their way; what
	   is cut off must read as zeros if the file grows again. */
	for (size_t i = 0; size < o->size && i < o->slots; i++)
		if (o->slot[i] && o->slot[i]->index > size / CHUNK)
			memset(o->slot[i]->bytes, 0, CHUNK);
	if (size < o->size && in > 0) {
		struct overlay_chunk *c;
		int rc = S_chunk(o, r, size / CHUNK, &c, f);

		if (rc)
			return rc;
		memset(c->bytes + in, 0, CHUNK - in);
	} else if (size < o->size) {
		struct overlay_chunk *c =
			*S_find(o->slot, o->slots, size / CHUNK);

		if (c)
			memset(c->bytes, 0, CHUNK);
	}
	o->size = size;
	return 0;
}
