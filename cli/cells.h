/*
 * cells.h - one SQL value as people read it
 */
#ifndef CLI_CELLS_H
#define CLI_CELLS_H

#include <stdio.h>

#include "base/cell.h"

enum cells_text {
	CELLS_SHOWN,	/* text escaped as escape_put does */
	CELLS_EXACT,	/* the bytes as they are */
};

#define CELLS_REAL_BYTES 40

/*
 * NULL, 42, 1.5, text, x'00ff', <3 bytes, sha256 …> (a blob that came as
 * its digest). Invalid UTF-16 is written with its lone surrogates as three
 * bytes each, which are no UTF-8: nothing of it is lost or replaced.
 */
void
cells_put(FILE *to, const struct cell *c, enum cells_text how);

/* As cells_put, with text between quotes that are doubled inside: 'it''s'. */
void
cells_put_quoted(FILE *to, const struct cell *c, char quote,
		 enum cells_text how);

/* The shortest decimal that reads back to the same bits, never as an integer:
   1.0, 1e+100, -0.0, Inf. */
void
cells_real(double v, char text[CELLS_REAL_BYTES]);

#endif
