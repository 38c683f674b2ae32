/*
 * wal.h - our own account of every frame of a WAL
 *
 * Format: https://www.sqlite.org/fileformat2.html#walformat; the wal-index
 * as in https://www.sqlite.org/walformat.html.
 */
#ifndef RECOVER_WAL_H
#define RECOVER_WAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* Frames are numbered from 1 as in SQLite. */
struct wal_account {
	bool present;		/* a WAL of more than 0 bytes */
	bool header_valid;
	bool header_damaged;	/* >= 32 bytes and its magic or checksum is off */
	bool big_endian;	/* checksums */
	uint32_t page_size;
	uint32_t checkpoint_seq;
	uint32_t salt[2];
	uint64_t frames;	/* whole frames in the file */
	uint64_t torn_bytes;	/* behind the last whole frame */
	uint64_t committed;	/* last valid commit frame, 0: none */
	uint64_t commits;
	uint64_t uncommitted;	/* valid, behind the last commit */
	uint64_t stale;		/* of an earlier generation */
	uint64_t damaged;	/* this generation's salt, checksum wrong */
	uint64_t first_damaged;	/* frame number, 0: none */
	uint32_t pages;		/* database size after the last commit */
	uint32_t checksum[2];	/* of the last committed frame */
};

#endif
