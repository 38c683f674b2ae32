/*
 * order.h - how SQLite sorts values, on cells
 *
 * NULL, then numbers by value (an integer and a real are compared exactly),
 * then text by the bytes of its UTF-8, then blobs by their bytes. This is
 * the order of SQLite's BINARY collation in a UTF-8 database. A digest of a
 * blob sorts by size, then digest.
 */
#ifndef VERIFY_ORDER_H
#define VERIFY_ORDER_H

#include <stdint.h>

#include "base/cell.h"

/* Below, at or above 0, as memcmp. */
int
order_cells(const struct cell *a, const struct cell *b);

/* The cell at *at, which we wrote ourselves; moves *at behind it. */
void
order_next(const unsigned char **at, struct cell *c);

/* Behind n cells that start at at. */
const unsigned char *
order_skip(const unsigned char *at, uint32_t n);

/* Runs of cells, cell by cell, then by their bytes; 0: the same bytes. */
int
order_runs(const unsigned char *a, size_t alen, const unsigned char *b,
	   size_t blen);

#endif
