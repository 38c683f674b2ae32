/*
 * table.h - rows in columns for people
 *
 * Lifecycle: table_open, table_row for each, table_close. The first rows are
 * held back to find the widths; later ones that are wider bulge.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/cell.h"
#include "base/fault.h"

struct table {
	FILE *to;		/* borrowed */
	size_t columns;
	size_t *width;		/* owned */
	struct buf held;	/* cells as text, one after another */
	size_t rows_held;
	bool streaming;		/* the widths are settled */
	FILE *cell;		/* owned: one cell in text */
	char *cell_text;
	size_t cell_len;
};

/* head: the columns' names. */
int
table_open(struct table *t, FILE *to, const struct cell *head, size_t columns,
	   struct fault *f);
int
table_row(struct table *t, const struct cell *cells, struct fault *f);
/* Writes what was held back. */
void
table_close(struct table *t);
void
table_free(struct table *t);

#define OWN_TABLE(name) \
	struct table name __attribute__((cleanup(table_free))) = { .to = NULL }

#endif
