/*
 * sort.c - sorting in place, without a system call
 *
 * Quicksort on the median of three; where that goes deep (the items are
 * chosen by whoever wrote the database), heapsort.
 */
#include "verify/sort.h"

#include <string.h>

#include "base/fault.h"

#define SORT_SHORT 12	/* insertion sort up to here */

struct sorter {
	size_t size;
	int (*order)(const void *a, const void *b);
};

static void
S_swap(const struct sorter *s, unsigned char *a, unsigned char *b)
{
	unsigned char hold[SORT_ITEM_MAX];

	memcpy(hold, a, s->size);
	memcpy(a, b, s->size);
	memcpy(b, hold, s->size);
}

static void
S_insertion(const struct sorter *s, unsigned char *base, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		unsigned char *p = base + i * s->size;

		while (p > base && s->order(p - s->size, p) > 0) {
			S_swap(s, p - s->size, p);
			p -= s->size;
		}
	}
}

static void
S_sift(const struct sorter *s, unsigned char *base, size_t at, size_t n)
{
	size_t child;

	while ((child = 2 * at + 1) < n) {
		unsigned char *c = base + child * s->size;

		if (child + 1 < n && s->order(c, c + s->size) < 0) {
			child++;
			c += s->size;
		}
		if (s->order(base + at * s->size, c) >= 0)
			return;
		S_swap(s, base + at * s->size, c);
		at = child;
	}
}

static void
S_heap(const struct sorter *s, unsigned char *base, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		S_sift(s, base, i, n);
	for (size_t i = n; i-- > 1;) {
		S_swap(s, base, base + i * s->size);
		S_sift(s, base, 0, i);
	}
}

/* Moves the median of first, middle and last to the front. */
static void
S_pivot(const struct sorter *s, unsigned char *base, size_t n)
{
	unsigned char *mid = base + n / 2 * s->size;
	unsigned char *last = base + (n - 1) * s->size;

	if (s->order(mid, last) > 0)
		S_swap(s, mid, last);
	if (s->order(base, last) > 0)
		S_swap(s, base, last);
	if (s->order(mid, base) > 0)
		S_swap(s, mid, base);
}

/* The pivot's place at the end: none before it is above, none behind below. */
static size_t
S_split(const struct sorter *s, unsigned char *base, size_t n)
{
	size_t i = 0, j = n;

	S_pivot(s, base, n);
	for (;;) {
		do
			i++;
		while (i < n && s->order(base + i * s->size, base) < 0);
		do
			j--;
		while (s->order(base, base + j * s->size) < 0);
		if (i >= j)
			break;
		S_swap(s, base + i * s->size, base + j * s->size);
	}
	S_swap(s, base, base + j * s->size);
	return j;
}

/* Recurses into the smaller part only. */
static void
S_quick(const struct sorter *s, unsigned char *base, size_t n, int depth)
{
	while (n > SORT_SHORT) {
		size_t at, rest;

		if (depth-- == 0) {
			S_heap(s, base, n);
			return;
		}
		at = S_split(s, base, n);
		rest = n - at - 1;
		if (at < rest) {
			S_quick(s, base, at, depth);
			base += (at + 1) * s->size;
			n = rest;
		} else {
			S_quick(s, base + (at + 1) * s->size, rest, depth);
			n = at;
		}
	}
	S_insertion(s, base, n);
}

void
sort_items(void *base, size_t n, size_t size,
	   int (*order)(const void *a, const void *b))
{
	struct sorter s = { .size = size, .order = order };
	int depth = 0;

	MUST(size <= SORT_ITEM_MAX);
	for (size_t i = n; i > 0; i /= 2)
		depth += 2;
	S_quick(&s, base, n, depth);
}
