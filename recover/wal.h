/*
 * wal.h - our own account of every frame of a WAL
 *
 * Lifecycle: wal_read, then wal_view for the frames that count, wal_find
 * and wal_page for single pages, wal_free.
 *
 * Format: https://www.sqlite.org/fileformat2.html#walformat. A frame counts
 * exactly if SQLite's own recovery (walIndexRecover) takes it:
 *   1. The header's magic is 0x377f0682 or 0x377f0683 (checksums over big
 *      endian words), its page size a power of two in 512..65536, its
 *      checksum right.
 *   2. Both salts of the frame are those of the header; its page is not 0.
 *   3. Its checksum, which starts from that of the frame before it (the
 *      header's for the first), is right over 8 bytes of its head and over
 *      the page.
 *   4. No frame before it failed 2 or 3.
 *   5. A frame with a database size behind it commits all before it.
 */
#ifndef RECOVER_WAL_H
#define RECOVER_WAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "recover/images.h"

#define WAL_HEADER_BYTES 32u
#define WAL_FRAME_HEAD_BYTES 24u
#define WAL_VERSION 3007000u

/* Frames are numbered from 1 as in SQLite. */
struct wal_account {
	bool present;		/* a WAL of more than 0 bytes */
	bool header_valid;
	bool header_damaged;	/* >= 32 bytes, and magic or checksum is off */
	bool header_zero;	/* damaged: nothing but zeros */
	bool big_endian;	/* checksums */
	uint32_t version;
	uint32_t page_size;
	uint32_t checkpoint_seq;
	uint32_t salt[2];
	uint64_t frames;	/* whole frames in the file */
	uint64_t torn_bytes;	/* behind the last whole frame */
	uint64_t committed;	/* last valid commit frame, 0: none */
	uint64_t commits;
	uint64_t uncommitted;	/* valid, behind the last commit */
	uint64_t stale;		/* of an earlier generation */
	uint64_t damaged;	/* this generation's salt, checksum wrong, or
				   behind such a frame */
	uint64_t first_damaged;	/* frame number, 0: none */
	uint64_t first_bad;	/* where SQLite stops reading, 0: at the end */
	uint64_t lost_commits;	/* this generation's, behind first_bad */
	uint64_t last_lost;	/* frame number of the last of them */
	uint32_t pages;		/* database size after the last commit */
	uint32_t checksum[2];	/* of the last committed frame */
};

enum wal_kind {
	WAL_VALID,
	WAL_DAMAGED,
	WAL_STALE,
};

struct wal_frame {
	uint64_t number;
	enum wal_kind kind;
	uint32_t pgno;
	uint32_t truncate;	/* database size in pages, 0: no commit */
	uint32_t salt[2];
	bool chained;		/* its checksum follows from what the frame
				   before it stored */
};

struct wal_commit {
	uint32_t frame;
	uint32_t pages;		/* database size from here on */
	uint32_t checksum[2];
};

struct wal_options {
	uint32_t page_size;	/* for a damaged header; 0: unknown */
	uint64_t memory;	/* bytes that the account may take */
	/* Called for each whole frame; may be NULL. */
	int (*frame)(void *arg, const struct wal_frame *fr, struct fault *f);
	void *arg;
};

struct wal;

/*
 * r is borrowed for the call. What the bytes say never fails; a fault is
 * one of reading, or FAULT_CAP where the account would pass its memory.
 */
int
wal_read(struct images_reader *r, const struct wal_options *o,
	 struct wal **w, struct fault *f);
void
wal_free(struct wal *w);

/* Borrowed until wal_free. */
const struct wal_account *
wal_account(const struct wal *w);

/*
 * 0, or FAULT_DAMAGED: commits of this generation lie behind a bad frame
 * or a bad header, where SQLite would drop them in silence. (A transaction
 * that a crash cut off has no commit behind its last good frame. A header
 * of zeros with no frame behind it is a file that was never written.)
 */
int
wal_loss(const struct wal *w, struct fault *f);

/* 0 and *c, or 1: the frame is no valid commit. */
int
wal_commit_at(const struct wal *w, uint64_t frame, struct wal_commit *c);

/* The page that a valid frame holds; 1 <= frame <= committed + uncommitted. */
uint32_t
wal_pgno(const struct wal *w, uint64_t frame);

/* From now on wal_find looks at frames 1..frames, which are valid ones. */
int
wal_view(struct wal *w, uint64_t frames, struct fault *f);

/* The last frame of the view that holds the page, or 0. */
uint64_t
wal_find(const struct wal *w, uint32_t pgno);

/* The page image of a frame: page_size bytes. */
int
wal_page(const struct wal *w, struct images_reader *r, uint64_t frame,
	 void *bytes, struct fault *f);

/* What a WAL's header alone says; the counts are 0. */
void
wal_header(const unsigned char head[WAL_HEADER_BYTES], struct wal_account *a);

/* SQLite's checksum, carried on in sum; n is a multiple of 8. */
void
wal_checksum(bool big_endian, const void *bytes, size_t n, uint32_t sum[2]);

#endif
