/*
 * header.h - the database header: the first 100 bytes of page 1
 *
 * Format: https://www.sqlite.org/fileformat2.html#the_database_header
 */
#ifndef RECOVER_HEADER_H
#define RECOVER_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEADER_BYTES 100u
#define HEADER_AT_VERSIONS 18u	/* write and read version: 1 rollback, 2 WAL */
#define HEADER_LOCK_BYTE 0x40000000u

enum header_state {
	HEADER_EMPTY,		/* 0 bytes: an empty database */
	HEADER_SHORT,		/* fewer bytes than a header */
	HEADER_FOREIGN,		/* not SQLite's first bytes, or no page size */
	HEADER_OK,
};

struct header {
	enum header_state state;
	bool magic;		/* the first 16 bytes are SQLite's */
	uint32_t page_size;	/* 0 unless HEADER_OK */
	uint32_t pages;		/* as stored; counts only where it is trusted */
	bool trusted;		/* written by a SQLite that keeps it up */
	bool wal;		/* its readers must use a WAL */
	int encoding;		/* 1 UTF-8, 2 UTF-16le, 3 UTF-16be */
};

/* "empty", "short", "not-a-database", "ok" */
const char *
header_state_name(enum header_state s);

/* bytes: the first n of the database, at most HEADER_BYTES of them. */
void
header_decode(const unsigned char *bytes, size_t n, struct header *h);

/* The page that holds the lock bytes and nothing else. */
static inline uint32_t
header_lock_page(uint32_t page_size)
{
	return HEADER_LOCK_BYTE / page_size + 1;
}

#endif
