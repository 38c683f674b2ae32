/*
 * cells.c - one SQL value as people read it
 */
#include "cli/cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cli/escape.h"

/* So much of a digest is shown: enough to tell two blobs apart by eye. */
#define CELLS_SHOWN_DIGEST 8u

void
cells_real(double v, char text[CELLS_REAL_BYTES])
{
	if (!isfinite(v)) {
		(void)strcpy(text, isnan(v) ? "NaN" : v < 0 ? "-Inf" : "Inf");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(text, CELLS_REAL_BYTES, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	if (!strpbrk(text, ".e"))
		(void)strcat(text, ".0");
}

static void
S_hex(FILE *to, const unsigned char *s, size_t n)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		(void)putc_unlocked(digit[s[i] >> 4], to);
		(void)putc_unlocked(digit[s[i] & 15], to);
	}
}

/* The code point or lone surrogate at *i of little endian units. */
static unsigned
S_unit(const unsigned char *s, size_t n, size_t *i)
{
	unsigned hi = s[*i] | (unsigned)s[*i + 1] << 8, lo;

	*i += 2;
	if (hi < 0xd800 || hi > 0xdbff || n - *i < 2)
		return hi;
	lo = s[*i] | (unsigned)s[*i + 1] << 8;
	if (lo < 0xdc00 || lo > 0xdfff)
		return hi;
	*i += 2;
	return 0x10000 + ((hi & 0x3ff) << 10 | (lo & 0x3ff));
}

static size_t
S_encode(unsigned c, unsigned char out[4])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; i > 1; i--, c >>= 6)
		out[i - 1] = (unsigned char)(0x80 | (c & 0x3f));
	out[0] = (unsigned char)(n == 1 ? c : (0xf00u >> n & 0xffu) | c);
	return n;
}

static void
S_put_bytes(FILE *to, const unsigned char *s, size_t n, enum cells_text how)
{
	if (how == CELLS_EXACT)
		(void)fwrite_unlocked(s, 1, n, to);
	else
		escape_put(to, s, n);
}

static void
S_put_quotable(FILE *to, const unsigned char *s, size_t n, int quote,
	       enum cells_text how)
{
	const unsigned char *hit;

	while (quote && (hit = memchr(s, quote, n)) != NULL) {
		size_t upto = (size_t)(hit - s) + 1;

		S_put_bytes(to, s, upto, how);
		(void)putc_unlocked(quote, to);
		s += upto;
		n -= upto;
	}
	S_put_bytes(to, s, n, how);
}

static void
S_put_text(FILE *to, const struct cell *c, int quote, enum cells_text how)
{
	unsigned char utf8[4];

	if (quote)
		(void)putc_unlocked(quote, to);
	if (c->tag != CELL_TEXT16)
		S_put_quotable(to, c->bytes, c->len, quote, how);
	for (size_t i = 0; c->tag == CELL_TEXT16 && i + 1 < c->len;)
		S_put_quotable(to, utf8,
			       S_encode(S_unit(c->bytes, c->len, &i), utf8),
			       quote, how);
	if (quote)
		(void)putc_unlocked(quote, to);
}

static void
S_put(FILE *to, const struct cell *c, int quote, enum cells_text how)
{
	char real[CELLS_REAL_BYTES];

	switch (c->tag) {
	case CELL_NULL:
		(void)fputs_unlocked("NULL", to);
		break;
	case CELL_INT:
		(void)fprintf(to, "%" PRId64, c->integer);
		break;
	case CELL_REAL:
		cells_real(c->real, real);
		(void)fputs_unlocked(real, to);
		break;
	case CELL_TEXT:
	case CELL_TEXT8:
	case CELL_TEXT16:
		S_put_text(to, c, quote, how);
		break;
	case CELL_BLOB:
		(void)fputs_unlocked("x'", to);
		S_hex(to, c->bytes, c->len);
		(void)putc_unlocked('\'', to);
		break;
	case CELL_BLOBSUM:
		(void)fprintf(to, "<%" PRIu64 " byte%s, sha256 ",
			      (uint64_t)c->integer,
			      plural_s((uint64_t)c->integer));
		S_hex(to, c->bytes, CELLS_SHOWN_DIGEST);
		(void)fputs_unlocked("...>", to);
		break;
	}
}

void
cells_put(FILE *to, const struct cell *c, enum cells_text how)
{
	S_put(to, c, 0, how);
}

void
cells_put_quoted(FILE *to, const struct cell *c, char quote,
		 enum cells_text how)
{
	S_put(to, c, quote, how);
}
