/*
 * walindex.h - SQLite's wal-index held against our own account
 *
 * Format: https://www.sqlite.org/walformat.html#the_wal_index_file_format.
 * Regions of 32768 bytes; the first holds the header and 4062 page numbers,
 * each other one 4096; behind them a hash table of 8192 16-bit slots.
 */
#ifndef RECOVER_WALINDEX_H
#define RECOVER_WALINDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "recover/wal.h"

#define WALINDEX_REGION_BYTES 32768u

/*
 * region: what SQLite has built in our memory from frames 1..frames, which
 * end with a commit (0: nothing is committed). 0, or FAULT_DAMAGED:
 * "wal-index disagrees ..." names the first thing that differs.
 */
int
walindex_check(const struct wal *w, uint64_t frames,
	       unsigned char *const *region, size_t nregion,
	       struct fault *f);

#endif
