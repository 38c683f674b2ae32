/*
 * fingerprint_table.h - the fingerprint of one table
 */
#ifndef VERIFY_FINGERPRINT_TABLE_H
#define VERIFY_FINGERPRINT_TABLE_H

#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "verify/catalog.h"

/*
 * memory: bytes for the digests that are sorted. 0; 1 and *why (owned):
 * SQLite can't read the rows.
 */
int
fingerprint_table(struct catalog *c, const struct catalog_table *t,
		  uint64_t memory, uint64_t *rows,
		  unsigned char fp[DIGEST_BYTES], char **why,
		  struct fault *f);

#endif
