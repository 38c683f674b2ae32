/*
 * renames.h - which table and column of BEFORE is which one of AFTER
 *
 * A rename is a claim of the front end's caller. One whose old name is not in
 * BEFORE, or whose new name is not in AFTER, is not followed: names are then
 * paired as they are.
 *
 * Format (the text of ASK_DIFF): records one after another, each a letter
 * and strings, a string being its length in decimal digits, ':' and so many
 * bytes, which hold no NUL:
 *   t FROM TO		a table
 *   c TABLE FROM TO	a column; TABLE as AFTER names it
 */
#ifndef REPLY_RENAMES_H
#define REPLY_RENAMES_H

#include <stddef.h>

#include "base/buf.h"
#include "base/fault.h"

#define RENAMES_MAX 4096u
#define RENAMES_NAME_MAX 4096u

struct rename {
	char *table;		/* owned; NULL: it is a table's */
	char *from, *to;	/* owned */
};

struct renames {
	struct rename *item;	/* owned */
	size_t n, room;
};

#define OWN_RENAMES(name) \
	struct renames name __attribute__((cleanup(renames_free))) = \
		{ .item = NULL }

void
renames_free(struct renames *r);

/* Copies the names; table NULL: of a table. FAULT_CAP past RENAMES_MAX. */
int
renames_add(struct renames *r, const char *table, const char *from,
	    const char *to, struct fault *f);

/* As a NUL-terminated text at the end of b. */
int
renames_write(const struct renames *r, struct buf *b, struct fault *f);
/* FAULT_USAGE where the text is none. r is empty before and on failure. */
int
renames_read(struct renames *r, const char *text, struct fault *f);

/*
 * The other name of a column, or NULL; table as AFTER names it. r may be
 * NULL. Names are taken as SQL takes them, without regard to ASCII case.
 */
const char *
renames_column_to(const struct renames *r, const char *table,
		  const char *from);
const char *
renames_column_from(const struct renames *r, const char *table,
		    const char *to);

#endif
