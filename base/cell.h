/*
 * cell.h - one typed SQL value as bytes
 *
 * Format (docs/FORMATS.md, "Cells"): one tag byte, then
 *   n            nothing
 *   i            8 bytes little endian, two's complement
 *   r            8 bytes little endian, IEEE 754 binary64 (the bits count)
 *   t T W b      8 bytes little endian length, then that many bytes
 *   B            8 bytes little endian size of the blob, its 32-byte SHA-256
 * t is text in strictly valid UTF-8 (it may hold NUL); T is the raw bytes of
 * invalid text in a UTF-8 database; W the raw bytes, little endian, of
 * invalid text in a UTF-16 database. Two values are the same value exactly
 * if their cells (b turned into B) are the same bytes. A row is its cells
 * one after another, so no row is a prefix of another of equal width.
 */
#ifndef BASE_CELL_H
#define BASE_CELL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/fault.h"

enum cell_tag {
	CELL_NULL = 'n',
	CELL_INT = 'i',
	CELL_REAL = 'r',
	CELL_TEXT = 't',
	CELL_TEXT8 = 'T',
	CELL_TEXT16 = 'W',
	CELL_BLOB = 'b',
	CELL_BLOBSUM = 'B',
};

/* bytes is borrowed: from the buffer that was decoded, or from the caller. */
struct cell {
	enum cell_tag tag;
	int64_t integer;		/* CELL_INT; CELL_BLOBSUM: the size */
	double real;			/* CELL_REAL */
	const unsigned char *bytes;	/* text, blob; CELL_BLOBSUM: 32 bytes */
	size_t len;			/* of bytes */
};

int
cell_put(struct buf *b, const struct cell *c, struct fault *f);
int
cell_put_null(struct buf *b, struct fault *f);
int
cell_put_int(struct buf *b, int64_t v, struct fault *f);
int
cell_put_real(struct buf *b, double v, struct fault *f);
/* text that is known to be valid UTF-8, NUL-terminated */
int
cell_put_text(struct buf *b, const char *text, struct fault *f);
/* CELL_TEXT where the bytes are valid UTF-8, else CELL_TEXT8 */
int
cell_put_utf8(struct buf *b, const void *bytes, size_t n, struct fault *f);
/*
 * units: n bytes of UTF-16 in the byte order of the machine. Strictly
 * converted: CELL_TEXT, or CELL_TEXT16 where a surrogate stands alone.
 */
int
cell_put_utf16(struct buf *b, const void *units, size_t n, struct fault *f);
int
cell_put_blob(struct buf *b, const void *bytes, size_t n, struct fault *f);
int
cell_put_blobsum(struct buf *b, const void *bytes, size_t n, struct fault *f);

/*
 * Decodes the cell at *at and moves *at behind it. FAULT_DAMAGED where the
 * bytes up to end are no whole cell, or text tagged t is not valid UTF-8.
 */
int
cell_get(const unsigned char **at, const unsigned char *end, struct cell *c,
	 struct fault *f);

/* 0: strictly valid UTF-8 (no surrogates, no over-long forms); else 1. */
int
cell_utf8_check(const void *bytes, size_t n);

#endif
