/*
 * fingerprint.h - SHA-256 of all that SQL can see of a database
 *
 * Independent of page layout, page size, encoding and the rowids of tables
 * without INTEGER PRIMARY KEY. Definition: docs/FORMATS.md, "Fingerprint".
 */
#ifndef VERIFY_FINGERPRINT_H
#define VERIFY_FINGERPRINT_H

#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "recover/state.h"

struct fingerprint_sink {
	void *arg;
	int (*table)(void *arg, const char *name, uint64_t rows,
		     const unsigned char fp[DIGEST_BYTES], struct fault *f);
	int (*skip)(void *arg, const char *what, const char *why,
		    struct fault *f);
};

/* stat: the fingerprint of the sqlite_stat tables, apart from the whole. */
int
fingerprint_run(struct state *s, uint64_t memory,
		const struct fingerprint_sink *sink,
		unsigned char whole[DIGEST_BYTES],
		unsigned char stat[DIGEST_BYTES], struct fault *f);

#endif
