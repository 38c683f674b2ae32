/*
 * order.c - how SQLite sorts values, on cells
 */
#include "verify/order.h"

#include <string.h>

#include "base/bytes.h"

void
order_next(const unsigned char **at, struct cell *c)
{
	const unsigned char *p = *at;
	uint64_t word;

	*c = (struct cell){ .tag = (enum cell_tag)*p++ };
	if (c->tag != CELL_NULL) {
		word = bytes_le64(p);
		p += 8;
		c->integer = (int64_t)word;
		if (c->tag == CELL_REAL)
			memcpy(&c->real, &word, sizeof(word));
		else if (c->tag == CELL_BLOBSUM)
			c->len = DIGEST_BYTES;
		else if (c->tag != CELL_INT)
			c->len = (size_t)word;
	}
	c->bytes = p;
	*at = p + c->len;
}

const unsigned char *
order_skip(const unsigned char *at, uint32_t n)
{
	struct cell c;

	while (n-- > 0)
		order_next(&at, &c);
	return at;
}

static int
S_class(const struct cell *c)
{
	switch (c->tag) {
	case CELL_NULL:
		return 0;
	case CELL_INT:
	case CELL_REAL:
		return 1;
	case CELL_TEXT:
	case CELL_TEXT8:
	case CELL_TEXT16:
		return 2;
	case CELL_BLOB:
	case CELL_BLOBSUM:
		break;
	}
	return 3;
}

/* Exact: a double can't hold every integer, nor an integer every double. */
static int
S_int_real(int64_t i, double r)
{
	int64_t whole;

	if (r >= 9223372036854775808.0)
		return -1;
	if (r < -9223372036854775808.0)
		return 1;
	whole = (int64_t)r;
	if (i != whole)
		return i < whole ? -1 : 1;
	return ((double)whole < r) ? -1 : ((double)whole > r);
}

static int
S_numbers(const struct cell *a, const struct cell *b)
{
	if (a->tag == CELL_INT && b->tag == CELL_INT)
		return (a->integer > b->integer) - (a->integer < b->integer);
	if (a->tag == CELL_REAL && b->tag == CELL_REAL)
		return (a->real > b->real) - (a->real < b->real);
	if (a->tag == CELL_INT)
		return S_int_real(a->integer, b->real);
	return -S_int_real(b->integer, a->real);
}

static int
S_bytes(const unsigned char *a, size_t alen, const unsigned char *b,
	size_t blen)
{
	int d = memcmp(a, b, alen < blen ? alen : blen);

	return d ? d : (alen > blen) - (alen < blen);
}

int
order_cells(const struct cell *a, const struct cell *b)
{
	int ca = S_class(a), cb = S_class(b);

	if (ca != cb)
		return ca - cb;
	if (ca == 0)
		return 0;
	if (ca == 1)
		return S_numbers(a, b);
	if (a->tag == CELL_BLOBSUM && b->tag == CELL_BLOBSUM &&
	    a->integer != b->integer)
		return a->integer < b->integer ? -1 : 1;
	return S_bytes(a->bytes, a->len, b->bytes, b->len);
}

int
order_runs(const unsigned char *a, size_t alen, const unsigned char *b,
	   size_t blen)
{
	const unsigned char *pa = a, *pb = b;
	struct cell ca, cb;
	int d;

	while (pa < a + alen && pb < b + blen) {
		order_next(&pa, &ca);
		order_next(&pb, &cb);
		d = order_cells(&ca, &cb);
		if (d)
			return d;
	}
	return S_bytes(a, alen, b, blen);
}
