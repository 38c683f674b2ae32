/*
 * header.c - the database header: the first 100 bytes of page 1
 */
#include "recover/header.h"

#include <string.h>

#include "base/bytes.h"

#define AT_PAGE_SIZE 16u
#define AT_CHANGES 24u
#define AT_PAGES 28u
#define AT_ENCODING 56u
#define AT_VALID_FOR 92u

const char *
header_state_name(enum header_state s)
{
	switch (s) {
	case HEADER_EMPTY:
		return "empty";
	case HEADER_SHORT:
		return "short";
	case HEADER_FOREIGN:
		return "not-a-database";
	case HEADER_OK:
		return "ok";
	}
	return "unknown";
}

void
header_decode(const unsigned char *b, size_t n, struct header *h)
{
	static const char magic[16] = "SQLite format 3";
	uint32_t size;

	memset(h, 0, sizeof(*h));
	h->state = HEADER_EMPTY;
	if (n == 0)
		return;
	h->magic = n >= sizeof(magic) && memcmp(b, magic, sizeof(magic)) == 0;
	h->state = n < HEADER_BYTES ? HEADER_SHORT : HEADER_FOREIGN;
	if (h->state == HEADER_SHORT || !h->magic)
		return;
	/* 65536 does not fit and is written as 1. */
	size = (uint32_t)(b[AT_PAGE_SIZE] << 8 | b[AT_PAGE_SIZE + 1] << 16);
	if (size < 512 || size > 65536 || (size & (size - 1)) != 0)
		return;
	h->state = HEADER_OK;
	h->page_size = size;
	h->pages = bytes_be32(b + AT_PAGES);
	h->trusted = h->pages != 0 &&
		bytes_be32(b + AT_CHANGES) == bytes_be32(b + AT_VALID_FOR);
	h->wal = b[HEADER_AT_VERSIONS + 1] == 2;
	h->encoding = (int)(bytes_be32(b + AT_ENCODING) & 3);
	if (h->encoding == 0)
		h->encoding = 1;
}
