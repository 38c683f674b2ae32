/*
 * dflt.h - the value that a column's DEFAULT gives
 */
#ifndef VERIFY_DFLT_H
#define VERIFY_DFLT_H

#include "base/buf.h"
#include "base/fault.h"

/*
 * One cell (VALUE_COMPARE) at the end of b: what ALTER TABLE ADD COLUMN
 * gives the rows that are there already. type and dflt as the schema has
 * them; dflt NULL: no DEFAULT. 0; 1: the default is no literal, so no such
 * value is known.
 */
int
dflt_put(struct buf *b, const char *type, const char *dflt, struct fault *f);

#endif
