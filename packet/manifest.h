/*
 * manifest.h - what a packet says about itself
 *
 * Format: docs/FORMATS.md, "Packet": one JSON object. The packet's id is
 * the SHA-256 of its bytes.
 *
 * Trust: when reading, the bytes may be the attacker's. Unknown, missing or
 * doubled keys, other types and values that contradict one another are
 * FAULT_DAMAGED with the JSON Pointer.
 *
 * Lifecycle: manifest_init, then fill it or manifest_read, manifest_free.
 */
#ifndef PACKET_MANIFEST_H
#define PACKET_MANIFEST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/fault.h"
#include "base/role.h"
#include "packet/notes.h"
#include "packet/writers.h"

#define MANIFEST_FORMAT "holdfast-packet/1"
#define MANIFEST_BYTES_MAX (16u << 20)
#define MANIFEST_WORD_MAX 64u	/* with the NUL */

/* One file of the database, as it was when it was read. */
struct manifest_member {
	bool present;
	uint64_t bytes;
	uint64_t dev, ino;
	uint64_t nlink;
	uint32_t mode;		/* permission bits */
	uint32_t uid, gid;
	int64_t mtime_ns, ctime_ns;	/* CLOCK_REALTIME */
	unsigned char sha256[DIGEST_BYTES];
};

/* What one step of the capture found: "names" "agree", "salts" "agree"... */
struct manifest_check {
	char name[MANIFEST_WORD_MAX];
	char outcome[MANIFEST_WORD_MAX];
};

struct manifest_processes {
	struct writer *item;	/* each exe is owned */
	size_t count;
};

struct manifest {
	char version[MANIFEST_WORD_MAX];	/* of holdfast */
	char database[NAME_MAX + 1];		/* base name, raw bytes */
	uint64_t utc_ns;			/* CLOCK_REALTIME */
	uint64_t boottime_ns;			/* CLOCK_BOOTTIME */
	char boot_id[CLOCK_BOOT_ID_BYTES];	/* empty: not known */
	char authority[MANIFEST_WORD_MAX];	/* "writers", "stopped" */
	char binding[MANIFEST_WORD_MAX];	/* "sole", "content", ... */
	bool displaced;
	uint64_t pause_ns;
	uint32_t attempts;
	struct manifest_processes writers;	/* that were paused */
	struct manifest_processes holders;	/* that need not be */
	struct manifest_check *check;
	size_t checks;
	struct manifest_member member[ROLE_COUNT];
	uint64_t blocks_count;
	unsigned char blocks_sha256[DIGEST_BYTES];
	struct notes not_checked;
};

void
manifest_init(struct manifest *m);
void
manifest_free(struct manifest *m);

/* 0, or FAULT_USAGE: not a base name (empty, ".", "..", '/', too long). */
int
manifest_name(struct manifest *m, const char *base, struct fault *f);

/* Copies w with its exe. */
int
manifest_process(struct manifest_processes *to, const struct writer *w,
		 struct fault *f);

/* name and outcome: words of a-z, 0-9, '-', '_' and '.'. */
int
manifest_check(struct manifest *m, const char *name, const char *outcome,
	       struct fault *f);

/* Blocks of BLOCK_BYTES that the present members have together. */
uint64_t
manifest_blocks(const struct manifest *m);

/* Appends the text to b. m must be what manifest_read takes. */
int
manifest_write(const struct manifest *m, struct buf *b, struct fault *f);

int
manifest_read(struct manifest *m, const void *bytes, size_t n,
	      struct fault *f);

#define OWN_MANIFEST(name) \
	struct manifest name __attribute__((cleanup(manifest_free))) = { 0 }

#endif
