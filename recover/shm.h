/*
 * shm.h - what the header of a captured wal-index says
 *
 * Format: https://www.sqlite.org/walformat.html#the_wal_index_header. Two
 * copies of 48 bytes in the byte order of the machine, then at 96 the
 * checkpoint information. A writer changes the second copy first, so only
 * equal copies are one state.
 */
#ifndef RECOVER_SHM_H
#define RECOVER_SHM_H

#include <stdint.h>

#include "base/fault.h"
#include "recover/images.h"

enum shm_state {
	SHM_NONE,		/* no file, or too short for a header */
	SHM_UNINITIALISED,	/* isInit is 0 */
	SHM_TORN,		/* the copies differ, or the checksum is off */
	SHM_VALID,
};

struct shm_facts {
	enum shm_state state;
	/* The rest is 0 unless the state is SHM_VALID. */
	uint32_t page_size;
	uint32_t frames;	/* mxFrame: committed, as its readers see it */
	uint32_t pages;
	uint32_t checksum[2];	/* of the last committed frame */
	uint32_t salt[2];	/* as wal_account has them */
	uint32_t backfilled;	/* frames that are in main */
	uint32_t backfill_attempted;
};

#define SHM_HEADER_BYTES 136u

/* "none", "uninitialised", "torn", "valid" */
const char *
shm_state_name(enum shm_state s);

/* What the bytes say never fails; a fault is one of reading. */
int
shm_read(struct images_reader *r, struct shm_facts *s, struct fault *f);

/* The same of SHM_HEADER_BYTES bytes in memory. */
void
shm_decode(const unsigned char *bytes, struct shm_facts *s);

#endif
