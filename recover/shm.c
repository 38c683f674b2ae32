/*
 * shm.c - what the header of a captured wal-index says
 */
#include "recover/shm.h"

#include <string.h>

#include "base/bytes.h"
#include "recover/wal.h"

#define COPY_BYTES 48u
#define AT_INIT 12u
#define AT_PAGE_SIZE 14u
#define AT_FRAMES 16u
#define AT_PAGES 20u
#define AT_FRAME_SUM 24u
#define AT_SALT 32u
#define AT_SUM 40u
#define AT_BACKFILLED 96u
#define AT_ATTEMPTED 128u

static uint32_t
S_native(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

const char *
shm_state_name(enum shm_state s)
{
	switch (s) {
	case SHM_NONE:
		return "none";
	case SHM_UNINITIALISED:
		return "uninitialised";
	case SHM_TORN:
		return "torn";
	case SHM_VALID:
		return "valid";
	}
	return "unknown";
}

static enum shm_state
S_state(const unsigned char *b)
{
	uint32_t sum[2] = { 0, 0 };

	if (b[AT_INIT] == 0 && b[COPY_BYTES + AT_INIT] == 0)
		return SHM_UNINITIALISED;
	if (memcmp(b, b + COPY_BYTES, COPY_BYTES) != 0)
		return SHM_TORN;
	wal_checksum(BYTE_ORDER == BIG_ENDIAN, b, AT_SUM, sum);
	if (sum[0] != S_native(b + AT_SUM) ||
	    sum[1] != S_native(b + AT_SUM + 4) ||
	    S_native(b) != WAL_VERSION)
		return SHM_TORN;
	return SHM_VALID;
}

void
shm_decode(const unsigned char *b, struct shm_facts *s)
{
	uint16_t size;

	memset(s, 0, sizeof(*s));
	s->state = S_state(b);
	if (s->state != SHM_VALID)
		return;
	memcpy(&size, b + AT_PAGE_SIZE, sizeof(size));
	s->page_size = (size & 0xfe00u) | (size & 1u) << 16;
	s->frames = S_native(b + AT_FRAMES);
	s->pages = S_native(b + AT_PAGES);
	s->checksum[0] = S_native(b + AT_FRAME_SUM);
	s->checksum[1] = S_native(b + AT_FRAME_SUM + 4);
	/* Copied from the WAL's header as bytes. */
	s->salt[0] = bytes_be32(b + AT_SALT);
	s->salt[1] = bytes_be32(b + AT_SALT + 4);
	s->backfilled = S_native(b + AT_BACKFILLED);
	s->backfill_attempted = S_native(b + AT_ATTEMPTED);
}

int
shm_read(struct images_reader *r, struct shm_facts *s, struct fault *f)
{
	unsigned char bytes[SHM_HEADER_BYTES];
	int rc;

	memset(s, 0, sizeof(*s));
	if (images_reader_size(r, ROLE_SHM) < sizeof(bytes))
		return 0;
	rc = images_read(r, ROLE_SHM, 0, bytes, sizeof(bytes), f);
	if (!rc)
		shm_decode(bytes, s);
	return rc;
}
