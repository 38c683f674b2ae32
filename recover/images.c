/*
 * images.c - the files of one database as bytes that were checked
 */
#include "recover/images.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/io.h"
#include "base/own.h"

/* Blocks that are read in part are kept: small pages share a block, and
   frames of a WAL straddle two. */
#define IMAGES_SLOTS 8u
#define IMAGES_STRETCH (64u * BLOCK_BYTES)

struct images {
	struct ask_member member[ROLE_COUNT];
	unsigned char *list;		/* owned; NULL: a plain file */
	uint64_t count;			/* blocks in it */
	_Atomic uint64_t *seen;		/* owned; a bit for each block */
	pthread_mutex_t lock;		/* of fault */
	atomic_bool faulted;
	struct fault fault;
};

struct images_slot {
	bool full;
	enum role role;
	uint64_t block;
	unsigned char bytes[BLOCK_BYTES];
};

struct images_reader {
	struct images *im;
	struct digest *digest;		/* owned */
	unsigned next;			/* the slot to be filled next */
	struct images_slot slot[IMAGES_SLOTS];
};

static uint64_t
S_blocks(uint64_t size)
{
	return size / BLOCK_BYTES + (size % BLOCK_BYTES != 0);
}

static size_t
S_block_len(const struct ask_member *m, uint64_t block)
{
	uint64_t left = m->size - block * BLOCK_BYTES;

	return left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
}

/* Every block of every member must have its place in the list. */
static int
S_covers(const struct ask_side *side, struct fault *f)
{
	for (int i = 0; i < ROLE_COUNT; i++) {
		const struct ask_member *m = &side->member[i];

		if (!m->present)
			continue;
		if (m->first_block > side->blocks_count ||
		    S_blocks(m->size) > side->blocks_count - m->first_block)
			return fault_set(f, FAULT_DAMAGED,
					 "blocks.sha256 does not cover the %s",
					 role_name((enum role)i));
	}
	return 0;
}

static int
S_load_list(struct images *im, const struct ask_side *side, struct fault *f)
{
	unsigned char sum[DIGEST_BYTES];
	uint64_t words = side->blocks_count / 64 + 1;
	size_t bytes;
	int rc = S_covers(side, f);

	if (rc)
		return rc;
	if (side->blocks_count > SIZE_MAX / DIGEST_BYTES / 2)
		return fault_set(f, FAULT_CAP, "blocks.sha256 has %llu blocks",
				 (unsigned long long)side->blocks_count);
	bytes = (size_t)side->blocks_count * DIGEST_BYTES;
	im->list = malloc(bytes);
	im->seen = calloc((size_t)words, sizeof(*im->seen));
	if (!im->list || !im->seen)
		return fault_set(f, FAULT_CAP,
				 "out of memory for blocks.sha256 "
				 "(%zu bytes): see --memory-limit", bytes);
	rc = io_pread_all(side->blocks_fd, im->list, bytes,
			  side->blocks_offset, f);
	if (rc)
		return fault_wrap(f, "read blocks.sha256");
	digest_of(im->list, bytes, sum);
	if (memcmp(sum, side->blocks_sha256, sizeof(sum)) != 0)
		return fault_set(f, FAULT_DAMAGED,
				 "blocks.sha256 differs from the manifest");
	im->count = side->blocks_count;
	return 0;
}

int
images_open(struct images **im, const struct ask_side *side, struct fault *f)
{
	struct images *n;
	int rc = digest_setup(f);

	if (rc)
		return rc;
	n = calloc(1, sizeof(*n));
	if (!n)
		return fault_set(f, FAULT_TROUBLE, "out of memory: images");
	memcpy(n->member, side->member, sizeof(n->member));
	MUST(pthread_mutex_init(&n->lock, NULL) == 0);
	if (side->blocks_count > 0)
		rc = S_load_list(n, side, f);
	if (rc) {
		images_free(n);
		return rc;
	}
	*im = n;
	return 0;
}

void
images_free(struct images *im)
{
	if (!im)
		return;
	(void)pthread_mutex_destroy(&im->lock);
	free(im->list);
	free(im->seen);
	free(im);
}

bool
images_has(const struct images *im, enum role role)
{
	return im->member[role].present != 0;
}

uint64_t
images_size(const struct images *im, enum role role)
{
	return images_has(im, role) ? im->member[role].size : 0;
}

int
images_reader_new(struct images_reader **r, struct images *im,
		  struct fault *f)
{
	struct images_reader *n = calloc(1, sizeof(*n));
	int rc;

	if (!n)
		return fault_set(f, FAULT_TROUBLE, "out of memory: reader");
	n->im = im;
	rc = digest_new(&n->digest, f);
	if (rc) {
		free(n);
		return rc;
	}
	*r = n;
	return 0;
}

void
images_reader_free(struct images_reader *r)
{
	if (!r)
		return;
	digest_free(r->digest);
	free(r);
}

bool
images_reader_has(const struct images_reader *r, enum role role)
{
	return images_has(r->im, role);
}

uint64_t
images_reader_size(const struct images_reader *r, enum role role)
{
	return images_size(r->im, role);
}

void
images_keep(struct images *im, const struct fault *what)
{
	MUST(what->code != FAULT_NONE);
	(void)pthread_mutex_lock(&im->lock);
	if (!atomic_load(&im->faulted)) {
		im->fault = *what;
		atomic_store(&im->faulted, true);
	}
	(void)pthread_mutex_unlock(&im->lock);
}

int
images_fault(struct images *im, struct fault *f)
{
	if (!atomic_load(&im->faulted))
		return 0;
	(void)pthread_mutex_lock(&im->lock);
	*f = im->fault;
	(void)pthread_mutex_unlock(&im->lock);
	return -(int)f->code;
}

/* The block's bytes are in our own memory already. */
static int
S_check(struct images_reader *r, enum role role, uint64_t block,
	const unsigned char *bytes, struct fault *f)
{
	struct images *im = r->im;
	const struct ask_member *m = &im->member[role];
	uint64_t at = m->first_block + block;
	unsigned char sum[DIGEST_BYTES];

	digest_bytes(r->digest, bytes, S_block_len(m, block));
	digest_final(r->digest, sum);
	if (memcmp(sum, im->list + at * DIGEST_BYTES, DIGEST_BYTES) != 0)
		return fault_set(f, FAULT_DAMAGED,
				 "%s block %llu (offset %llu): "
				 "digest differs", role_name(role),
				 (unsigned long long)block,
				 (unsigned long long)(block * BLOCK_BYTES));
	(void)atomic_fetch_or(&im->seen[at / 64], 1ull << (at % 64));
	return 0;
}

static int
S_pread(const struct images *im, enum role role, uint64_t offset, void *bytes,
	size_t n, struct fault *f)
{
	const struct ask_member *m = &im->member[role];
	int rc = io_pread_all(m->fd, bytes, n, m->offset + offset, f);

	return rc ? fault_wrap(f, "read the %s", role_name(role)) : 0;
}

/* Whole blocks, straight to where they are wanted. */
static int
S_read_blocks(struct images_reader *r, enum role role, uint64_t block,
	      unsigned char *bytes, size_t n, struct fault *f)
{
	int rc = S_pread(r->im, role, block * BLOCK_BYTES, bytes, n, f);

	for (size_t at = 0; !rc && at < n; at += BLOCK_BYTES)
		rc = S_check(r, role, block++, bytes + at, f);
	return rc;
}

/* The slot that holds a block, filled where it has to be. */
static int
S_slot(struct images_reader *r, enum role role, uint64_t block,
       const struct images_slot **slot, struct fault *f)
{
	struct images_slot *s;
	int rc;

	for (unsigned i = 0; i < IMAGES_SLOTS; i++) {
		s = &r->slot[i];
		if (s->full && s->role == role && s->block == block) {
			*slot = s;
			return 0;
		}
	}
	s = &r->slot[r->next++ % IMAGES_SLOTS];
	s->full = false;
	rc = S_read_blocks(r, role, block, s->bytes,
			   S_block_len(&r->im->member[role], block), f);
	if (rc)
		return rc;
	s->role = role;
	s->block = block;
	s->full = true;
	*slot = s;
	return 0;
}

static int
S_read_checked(struct images_reader *r, enum role role, uint64_t offset,
	       unsigned char *bytes, size_t n, struct fault *f)
{
	const struct ask_member *m = &r->im->member[role];
	int rc = 0;

	while (!rc && n > 0) {
		uint64_t block = offset / BLOCK_BYTES;
		size_t in = (size_t)(offset % BLOCK_BYTES);
		size_t len = S_block_len(m, block), take;
		const struct images_slot *slot;

		if (in == 0 && n >= len) {
			take = offset + n == m->size
				? n : n - n % BLOCK_BYTES;
			rc = S_read_blocks(r, role, block, bytes, take, f);
		} else {
			take = len - in < n ? len - in : n;
			rc = S_slot(r, role, block, &slot, f);
			if (!rc)
				memcpy(bytes, slot->bytes + in, take);
		}
		bytes += take;
		offset += take;
		n -= take;
	}
	return rc;
}

int
images_read(struct images_reader *r, enum role role, uint64_t offset,
	    void *bytes, size_t n, struct fault *f)
{
	uint64_t size = images_size(r->im, role);
	int rc;

	MUST(offset <= size && n <= size - offset);
	if (n == 0)
		return 0;
	if (r->im->list)
		rc = S_read_checked(r, role, offset, bytes, n, f);
	else
		rc = S_pread(r->im, role, offset, bytes, n, f);
	if (rc)
		images_keep(r->im, f);
	return rc;
}

static bool
S_seen(const struct images *im, uint64_t at)
{
	return atomic_load(&im->seen[at / 64]) >> (at % 64) & 1;
}

/* The blocks of one member that nobody has asked for. */
static int
S_finish_member(struct images_reader *r, enum role role, unsigned char *bytes,
		struct fault *f)
{
	struct images *im = r->im;
	const struct ask_member *m = &im->member[role];
	uint64_t blocks = S_blocks(m->size);
	int rc = 0;

	for (uint64_t b = 0; !rc && b < blocks; ) {
		uint64_t from = b, at = b * BLOCK_BYTES;
		size_t n = 0;

		while (b < blocks && n < IMAGES_STRETCH &&
		       !S_seen(im, m->first_block + b))
			n += S_block_len(m, b++);
		if (n > 0)
			rc = images_read(r, role, at, bytes, n, f);
		else
			b = from + 1;
	}
	return rc;
}

int
images_finish(struct images *im, struct fault *f)
{
	struct images_reader *r = NULL;
	OWN_MEM(unsigned char, bytes);
	int rc = images_fault(im, f);

	if (rc || !im->list)
		return rc;
	bytes = malloc(IMAGES_STRETCH);
	if (!bytes)
		return fault_set(f, FAULT_TROUBLE, "out of memory: blocks");
	rc = images_reader_new(&r, im, f);
	for (int i = 0; !rc && i < ROLE_COUNT; i++)
		if (im->member[i].present)
			rc = S_finish_member(r, (enum role)i, bytes, f);
	images_reader_free(r);
	return rc;
}
