/*
 * proof.h - pages of a sidecar that its main must hold
 *
 * What counts, by page:
 *   1. The last frame that the checkpoint has copied (up to nBackfill of the
 *      SHM with these salts), if no later commit holds the page.
 *   2. If one does, a checkpoint may have passed the page over, since it
 *      copies only the newest image. Then each image up to
 *      nBackfillAttempted speaks for a main that holds it, and against none.
 *   3. What survives of the generation before (salts[0] one less): that one
 *      was copied as a whole before the WAL was restarted. Only frames whose
 *      checksum follows from the frame before, and that a commit follows.
 *   4. Without a SHM, as in EXCLUSIVE mode, all frames are as in 2.
 *   5. Of more than 16 images of a page the newest are looked at, and speak
 *      against none.
 *   Journal: the records with a good checksum; those of a last segment that
 *   was not synced too.
 */
#ifndef RECOVER_PROOF_H
#define RECOVER_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "recover/images.h"
#include "recover/shm.h"

struct proof_page {
	uint32_t pgno;
	bool newer;		/* an alternative image of the page before */
	bool optional;		/* counts only where some main has an image */
	unsigned char sha256[DIGEST_BYTES];
};

/* Ascending by page; the first of each page is not newer. */
struct proof {
	struct proof_page *page;	/* owned */
	size_t count, room;
	uint32_t page_size;		/* 0: the sidecar tells none */
};

/*
 * shm: that of this WAL, or NULL. max: pages that are enough. What the bytes
 * say never fails.
 */
int
proof_of_wal(struct images_reader *r, const struct shm_facts *shm,
		size_t max, uint64_t memory, struct proof *e,
		struct fault *f);
int
proof_of_journal(struct images_reader *r, size_t max, uint64_t memory,
		    struct proof *e, struct fault *f);
void
proof_free(struct proof *e);

#endif
