/*
 * changes_text.h - a delta for people
 *
 * Lifecycle: changes_text_sink, changes_read with it, changes_text_end,
 * changes_text_free.
 *
 * Settings and schema come first, then the counts of each table, then the
 * rows. Rows come from the helper before their counts, so a first stretch of
 * them is held back; where there are more, they are printed as they come and
 * the counts follow them.
 */
#ifndef CLI_CHANGES_TEXT_H
#define CLI_CHANGES_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/fault.h"
#include "cli/changes.h"

struct changes_text {
	FILE *out;		/* borrowed */
	bool full;
	FILE *held;		/* owned; NULL once rows go to out */
	char *held_text;
	size_t held_len;
};

int
changes_text_open(struct changes_text *t, FILE *out, bool full,
		  struct fault *f);
struct changes_sink
changes_text_sink(struct changes_text *t);
int
changes_text_end(struct changes_text *t, const struct changes *c,
		 struct fault *f);
void
changes_text_free(struct changes_text *t);

/* "a=1 b='x'": the key of a row, or nothing for a multiset. */
void
changes_text_key(FILE *to, const struct changes_table *t,
		 const struct changes_row *row);

#endif
