/*
 * pool.h - rows that are still to be paired, in bounded memory
 *
 * Lifecycle: pool_new, {pool_put…, pool_sort, pool_at…, pool_reset}…,
 * pool_free.
 *
 * Rows of the two sides meet in an entry where their keys are the same
 * bytes. As a multiset an entry counts how often each side has the key; else
 * it holds one row of each side, and a second one gets an entry of its own.
 */
#ifndef VERIFY_POOL_H
#define VERIFY_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct pool;

/* One row as it lies in a batch, without its leading rowid. */
struct pool_row {
	const unsigned char *bytes;	/* borrowed */
	size_t common;			/* length of the common columns */
	size_t len;			/* of the whole row */
};

struct pool_entry {
	uint64_t hash;
	const unsigned char *key;
	size_t key_len;
	struct pool_row row[2];		/* before, after; bytes may be NULL */
	uint64_t n[2];
};

/* budget: bytes; one entry is always taken. */
int
pool_new(struct pool **p, uint64_t budget, bool multiset, struct fault *f);
void
pool_free(struct pool *p);

/* The place of a key among all keys: spread evenly, the same everywhere. */
uint64_t
pool_hash(const unsigned char *key, size_t len);

/* All bytes are copied. 0; 1: it would pass the budget. */
int
pool_put(struct pool *p, int side, uint64_t hash, const unsigned char *key,
	 size_t key_len, const struct pool_row *row, struct fault *f);

/* Bytes that a put of these would take. */
uint64_t
pool_cost(size_t key_len, const struct pool_row *row);

/* By the order of the keys (verify/order.h); nothing is put afterwards. */
void
pool_sort(struct pool *p);

size_t
pool_count(const struct pool *p);
const struct pool_entry *
pool_at(const struct pool *p, size_t i);

void
pool_reset(struct pool *p);

#endif
