/*
 * walindex.c - SQLite's wal-index held against our own account
 */
#include "recover/walindex.h"

#include <string.h>

#include "recover/shm.h"

#define IN_FIRST 4062u
#define IN_OTHER 4096u
#define HASH_AT 16384u
#define HASH_SLOTS 8192u
#define HASH_FACTOR 383u

static int
S_differs(struct fault *f, const char *what, uint64_t ours, uint64_t theirs)
{
	return fault_set(f, FAULT_DAMAGED,
			 "wal-index disagrees on %s: our account says %llu, "
			 "SQLite says %llu", what, (unsigned long long)ours,
			 (unsigned long long)theirs);
}

static int
S_header(const struct wal *w, uint64_t frames, const struct shm_facts *s,
	 struct fault *f)
{
	const struct wal_account *a = wal_account(w);
	struct wal_commit c = { .frame = 0 };

	if (s->state != SHM_VALID)
		return fault_set(f, FAULT_DAMAGED,
				 "wal-index disagrees: SQLite's is %s",
				 shm_state_name(s->state));
	if (s->frames != frames)
		return S_differs(f, "the committed frames", frames, s->frames);
	if (frames == 0)
		return 0;
	if (wal_commit_at(w, frames, &c))
		return fault_set(f, FAULT_DAMAGED, "wal-index disagrees: "
				 "frame %llu is no commit of our account",
				 (unsigned long long)frames);
	if (s->pages != c.pages)
		return S_differs(f, "the database size", c.pages, s->pages);
	if (s->page_size != a->page_size)
		return S_differs(f, "the page size", a->page_size,
				 s->page_size);
	if (memcmp(s->checksum, c.checksum, sizeof(c.checksum)) != 0)
		return S_differs(f, "the last commit's checksum",
				 c.checksum[0], s->checksum[0]);
	if (memcmp(s->salt, a->salt, sizeof(a->salt)) != 0)
		return S_differs(f, "the salts", a->salt[0], s->salt[0]);
	return 0;
}

/* A frame's slot must be on the chain that a look-up of its page follows. */
static bool
S_hashed(const unsigned char *region, uint32_t pgno, uint32_t nth)
{
	uint32_t at = pgno * HASH_FACTOR % HASH_SLOTS;

	for (uint32_t i = 0; i < HASH_SLOTS; i++) {
		uint16_t slot;

		memcpy(&slot, region + HASH_AT + 2 * at, sizeof(slot));
		if (slot == 0)
			return false;
		if (slot == nth)
			return true;
		at = (at + 1) % HASH_SLOTS;
	}
	return false;
}

static int
S_entry(const struct wal *w, uint64_t frame, unsigned char *const *region,
	size_t nregion, struct fault *f)
{
	uint64_t block = frame <= IN_FIRST
		? 0 : 1 + (frame - 1 - IN_FIRST) / IN_OTHER;
	uint32_t nth = block == 0 ? (uint32_t)(frame - 1)
		: (uint32_t)((frame - 1 - IN_FIRST) % IN_OTHER);
	size_t start = block == 0 ? SHM_HEADER_BYTES : 0;
	uint32_t pgno;

	if (block >= nregion || !region[block])
		return fault_set(f, FAULT_DAMAGED,
				 "wal-index disagrees: it has no entry for "
				 "frame %llu", (unsigned long long)frame);
	memcpy(&pgno, region[block] + start + 4u * nth, sizeof(pgno));
	if (pgno != wal_pgno(w, frame))
		return fault_set(f, FAULT_DAMAGED,
				 "wal-index disagrees on frame %llu: our "
				 "account says page %u, SQLite says page %u",
				 (unsigned long long)frame, wal_pgno(w, frame),
				 pgno);
	if (!S_hashed(region[block], pgno, nth + 1))
		return fault_set(f, FAULT_DAMAGED,
				 "wal-index disagrees on frame %llu: page %u "
				 "does not lead to it",
				 (unsigned long long)frame, pgno);
	return 0;
}

int
walindex_check(const struct wal *w, uint64_t frames,
	       unsigned char *const *region, size_t nregion,
	       struct fault *f)
{
	struct shm_facts s;
	int rc;

	if (nregion == 0 && frames == 0)
		return 0;
	if (nregion == 0)
		return S_differs(f, "the committed frames", frames, 0);
	shm_decode(region[0], &s);
	rc = S_header(w, frames, &s, f);
	for (uint64_t i = 1; !rc && i <= frames; i++)
		rc = S_entry(w, i, region, nregion, f);
	return rc;
}
