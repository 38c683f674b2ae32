/*
 * ask.h - what the front end asks of the recover helper
 *
 * Lifecycle: the front end starts the helper with the descriptors below and
 * no others, sees from outside that the sandbox stands, and only then
 * writes one struct ask and its text. The helper reads both, answers with
 * frames (reply/wire.h) and exits. Both ends are of one build: ask_check
 * refuses another size or version.
 *
 * Descriptors of the helper:
 *   ASK_FD	read	the ask
 *   REPLY_FD	write	the frames
 *   EVIDENCE_FD and above: the evidence, read-only, as the ask numbers them
 * 0, 1 and 2 are /dev/null.
 */
#ifndef REPLY_ASK_H
#define REPLY_ASK_H

#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/role.h"

#define ASK_FD 3
#define REPLY_FD 4
#define EVIDENCE_FD 5

#define ASK_MAGIC 0x48464153u	/* "HFAS" */
#define ASK_VERSION 1u
#define ASK_SIDES 2u		/* before, after */
#define ASK_EXTRAS 64u		/* candidates of ASK_BIND */
#define ASK_TEXT_MAX (1u << 20)

enum ask_op {
	ASK_RECOVER = 1,	/* side 0: account, checks, fingerprint */
	ASK_QUERY,		/* side 0, text is the SQL */
	ASK_EXPORT,		/* side 0: the recovered pages */
	ASK_DIFF,		/* sides 0 and 1, text is renames (renames.h) */
	ASK_INSPECT,		/* side 0: what capture must know; no SQL runs */
	ASK_BIND,		/* extras: which sidecar belongs to which main */
};

enum ask_flag {
	ASK_LIVE_VIEW = 1,	/* the SHM's mxFrame, not the WAL's last commit */
	ASK_IGNORE_ROWID = 2,	/* ASK_DIFF: keyless tables as multisets */
	ASK_RAW_BLOBS = 4,	/* ASK_QUERY: blobs as bytes, not digests */
};

/* One file of evidence: size bytes at offset of descriptor fd. */
struct ask_member {
	uint32_t present;
	uint32_t role;		/* enum role */
	int32_t fd;		/* in the helper: EVIDENCE_FD or above */
	uint32_t unused;	/* 0: aligns what follows */
	uint64_t offset;
	uint64_t size;
	uint64_t first_block;	/* index into the side's block list */
};

/*
 * One database. With blocks_count > 0 every byte read from a member is
 * checked against the list: 32-byte SHA-256 of each BLOCK_BYTES stretch of
 * a member (its last one may be shorter), members in order of role.
 */
#define BLOCK_BYTES 4096u

struct ask_side {
	struct ask_member member[ROLE_COUNT];
	int32_t blocks_fd;
	uint32_t in_place;	/* never copied into memory */
	uint64_t blocks_offset;
	uint64_t blocks_count;
	unsigned char blocks_sha256[DIGEST_BYTES];	/* of the whole list */
	uint64_t now_ns;	/* CLOCK_REALTIME of the capture: SQL's now */
};

struct ask {
	uint32_t magic;
	uint32_t version;
	uint32_t size;		/* sizeof(struct ask) */
	uint32_t op;		/* enum ask_op */
	uint32_t flags;		/* enum ask_flag, or-ed */
	uint32_t nsides;
	uint32_t nextras;
	uint32_t text_bytes;	/* text follows the struct */
	uint64_t memory_limit;	/* bytes of heap; 0: the default */
	uint64_t output_limit;	/* bytes of frames; 0: the default */
	struct ask_side side[ASK_SIDES];
	struct ask_member extra[ASK_EXTRAS];
};

#define ASK_MEMORY_DEFAULT (1024ull << 20)
#define ASK_OUTPUT_DEFAULT (64ull << 30)

/* A zeroed ask of this build. */
void
ask_init(struct ask *a, enum ask_op op);

/* FAULT_USAGE where it is not an ask of this build, or its counts are off. */
int
ask_check(const struct ask *a, struct fault *f);

#endif
