/*
 * stage.h - the two reads of a file into the packet, and the hashing after
 *
 * Lifecycle: stage_new before the pause; inside it stage_copy for each
 * file, then stage_compare for each; after the resume stage_hash;
 * stage_free. stage_copy and stage_compare allocate nothing, hash nothing
 * and print nothing. A stage has a thread of its own: what must be called
 * from one thread (ptrace) is not touched by it.
 */
#ifndef PACKET_STAGE_H
#define PACKET_STAGE_H

#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"

struct stage;

/*
 * foreseen: bytes of the largest file that will be staged. Where it turns
 * out larger only time is lost.
 */
int
stage_new(struct stage **s, uint64_t foreseen, struct fault *f);
void
stage_free(struct stage *s);

/*
 * Makes room for size bytes at offset of a file of ours and brings its pages
 * into memory, as far as memory is plenty: the copy inside the pause is then
 * three times as fast. Outside the pause; interrupted may be NULL here and
 * below, it is called from the calling thread only, and where it returns
 * non-zero the call ends with FAULT_INTERRUPTED.
 */
int
stage_prepare(struct stage *s, int to, uint64_t offset, uint64_t size,
	      int (*interrupted)(void), struct fault *f);

/*
 * The first read: size bytes of from, at to_offset of to. FAULT_UNSTABLE
 * where from ends early; FAULT_REFUSED past deadline_ns (CLOCK_MONOTONIC),
 * which is --max-pause.
 */
int
stage_copy(struct stage *s, int from, uint64_t size, int to,
	   uint64_t to_offset, uint64_t deadline_ns, int (*interrupted)(void),
	   struct fault *f);

/*
 * The second read, compared with what the first one staged: FAULT_UNSTABLE
 * names the first offset that differs.
 */
int
stage_compare(struct stage *s, int from, uint64_t size, int to,
	      uint64_t to_offset, uint64_t deadline_ns,
	      int (*interrupted)(void), struct fault *f);

/* Where stage_hash puts the SHA-256 of each block, 32 bytes each. */
struct stage_blocks {
	int fd;
	uint64_t offset;	/* of the next one; moved on */
	struct digest *digest;	/* takes the list's bytes; may be NULL */
};

/*
 * SHA-256 of size bytes at offset of fd, as a whole and for each BLOCK_BYTES
 * of them. progress (may be NULL) is told the bytes done.
 */
int
stage_hash(struct stage *s, int fd, uint64_t offset, uint64_t size,
	   struct stage_blocks *blocks, int (*interrupted)(void),
	   void (*progress)(void *arg, uint64_t bytes), void *arg,
	   unsigned char sha256[DIGEST_BYTES], struct fault *f);

static inline void
own_stage_free(struct stage **s)
{
	stage_free(*s);
	*s = NULL;
}

#define OWN_STAGE(name) \
	struct stage *name __attribute__((cleanup(own_stage_free))) = NULL

#endif
