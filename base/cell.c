/*
 * cell.c - one typed SQL value as bytes
 */
#include "base/cell.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

static int
S_put_sized(struct buf *b, enum cell_tag tag, const void *bytes, size_t n,
	    struct fault *f)
{
	unsigned char head[9], *at;
	int rc;

	head[0] = (unsigned char)tag;
	bytes_put_le64(head + 1, n);
	rc = buf_extend(b, sizeof(head) + n, &at, f);
	if (rc)
		return rc;
	memcpy(at, head, sizeof(head));
	if (n > 0)
		memcpy(at + sizeof(head), bytes, n);
	return 0;
}

static int
S_put_word(struct buf *b, enum cell_tag tag, uint64_t word, struct fault *f)
{
	unsigned char raw[9];

	raw[0] = (unsigned char)tag;
	bytes_put_le64(raw + 1, word);
	return buf_append(b, raw, sizeof(raw), f);
}

int
cell_put_null(struct buf *b, struct fault *f)
{
	return buf_u8(b, CELL_NULL, f);
}

int
cell_put_int(struct buf *b, int64_t v, struct fault *f)
{
	return S_put_word(b, CELL_INT, (uint64_t)v, f);
}

int
cell_put_real(struct buf *b, double v, struct fault *f)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return S_put_word(b, CELL_REAL, bits, f);
}

int
cell_put_text(struct buf *b, const char *text, struct fault *f)
{
	return S_put_sized(b, CELL_TEXT, text, strlen(text), f);
}

int
cell_put_utf8(struct buf *b, const void *bytes, size_t n, struct fault *f)
{
	return S_put_sized(b, cell_utf8_check(bytes, n) ? CELL_TEXT8
							: CELL_TEXT,
			   bytes, n, f);
}

int
cell_put_blob(struct buf *b, const void *bytes, size_t n, struct fault *f)
{
	return S_put_sized(b, CELL_BLOB, bytes, n, f);
}

int
cell_put_blobsum(struct buf *b, const void *bytes, size_t n, struct fault *f)
{
	unsigned char raw[9 + DIGEST_BYTES];

	raw[0] = CELL_BLOBSUM;
	bytes_put_le64(raw + 1, n);
	digest_of(bytes, n, raw + 9);
	return buf_append(b, raw, sizeof(raw), f);
}

int
cell_put(struct buf *b, const struct cell *c, struct fault *f)
{
	unsigned char *at;
	int rc;

	switch (c->tag) {
	case CELL_NULL:
		return cell_put_null(b, f);
	case CELL_INT:
		return cell_put_int(b, c->integer, f);
	case CELL_REAL:
		return cell_put_real(b, c->real, f);
	case CELL_TEXT:
	case CELL_TEXT8:
	case CELL_TEXT16:
	case CELL_BLOB:
		return S_put_sized(b, c->tag, c->bytes, c->len, f);
	case CELL_BLOBSUM:
		MUST(c->len == DIGEST_BYTES);
		rc = buf_extend(b, 9 + DIGEST_BYTES, &at, f);
		if (rc)
			return rc;
		at[0] = CELL_BLOBSUM;
		bytes_put_le64(at + 1, (uint64_t)c->integer);
		memcpy(at + 9, c->bytes, DIGEST_BYTES);
		return 0;
	}
	fault_must_failed("a cell has one of the tags", __FILE__, __LINE__);
}

/* The next code point, or -1 where the units at *i are no valid UTF-16. */
static int32_t
S_utf16_next(const unsigned char *units, size_t n, size_t *i)
{
	uint16_t hi, lo;

	memcpy(&hi, units + *i, 2);
	*i += 2;
	if (hi < 0xd800 || hi > 0xdfff)
		return hi;
	if (hi > 0xdbff || n - *i < 2)
		return -1;
	memcpy(&lo, units + *i, 2);
	if (lo < 0xdc00 || lo > 0xdfff)
		return -1;
	*i += 2;
	return 0x10000 + ((hi & 0x3ff) << 10 | (lo & 0x3ff));
}

static size_t
S_utf8_encode(int32_t c, unsigned char out[4])
{
	if (c < 0x80) {
		out[0] = (unsigned char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (unsigned char)(0xc0 | c >> 6);
		out[1] = (unsigned char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (unsigned char)(0xe0 | c >> 12);
		out[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (unsigned char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (unsigned char)(0xf0 | c >> 18);
	out[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (unsigned char)(0x80 | (c & 0x3f));
	return 4;
}

static int
S_put_raw16(struct buf *b, const unsigned char *units, size_t n,
	    struct fault *f)
{
	size_t at = b->len + 9;
	int rc = S_put_sized(b, CELL_TEXT16, units, n, f);

	for (size_t i = 0; rc == 0 && i + 1 < n; i += 2) {
		uint16_t u;

		memcpy(&u, b->data + at + i, 2);
		u = htole16(u);
		memcpy(b->data + at + i, &u, 2);
	}
	return rc;
}

int
cell_put_utf16(struct buf *b, const void *bytes, size_t n, struct fault *f)
{
	const unsigned char *units = bytes;
	size_t start = b->len, i = 0;
	unsigned char utf8[4];
	int rc;

	n &= ~(size_t)1;
	rc = S_put_word(b, CELL_TEXT, 0, f);
	while (rc == 0 && i < n) {
		int32_t c = S_utf16_next(units, n, &i);

		if (c < 0) {
			b->len = start;
			return S_put_raw16(b, units, n, f);
		}
		rc = buf_append(b, utf8, S_utf8_encode(c, utf8), f);
	}
	if (rc) {
		b->len = start;
		return rc;
	}
	bytes_put_le64(b->data + start + 1, b->len - start - 9);
	return 0;
}

static int
S_short(struct fault *f)
{
	return fault_set(f, FAULT_DAMAGED, "a cell ends early");
}

int
cell_get(const unsigned char **at, const unsigned char *end, struct cell *c,
	 struct fault *f)
{
	const unsigned char *p = *at;
	struct cell got = { .tag = CELL_NULL };
	uint64_t word = 0, need = 0;

	if (p >= end)
		return S_short(f);
	got.tag = (enum cell_tag)*p++;
	if (got.tag != CELL_NULL) {
		if ((size_t)(end - p) < 8)
			return S_short(f);
		word = bytes_le64(p);
		p += 8;
	}
	switch (got.tag) {
	case CELL_NULL:
		break;
	case CELL_INT:
		got.integer = (int64_t)word;
		break;
	case CELL_REAL:
		memcpy(&got.real, &word, sizeof(word));
		break;
	case CELL_TEXT:
	case CELL_TEXT8:
	case CELL_TEXT16:
	case CELL_BLOB:
		need = word;
		break;
	case CELL_BLOBSUM:
		got.integer = (int64_t)word;
		need = DIGEST_BYTES;
		break;
	default:
		return fault_set(f, FAULT_DAMAGED, "no cell has the tag 0x%02x",
				 (unsigned)got.tag);
	}
	if (need > (size_t)(end - p))
		return S_short(f);
	got.bytes = p;
	got.len = (size_t)need;
	if (got.tag == CELL_TEXT && cell_utf8_check(p, got.len))
		return fault_set(f, FAULT_DAMAGED,
				 "a text cell is not valid UTF-8");
	*at = p + need;
	*c = got;
	return 0;
}
