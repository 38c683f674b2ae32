/*
 * structure.h - whether two texts of an object mean the same structure
 */
#ifndef VERIFY_STRUCTURE_H
#define VERIFY_STRUCTURE_H

#include <stdbool.h>

#include "base/fault.h"
#include "verify/catalog.h"

/*
 * Compares what SQLite has parsed: columns, types, collations, defaults,
 * keys, foreign keys, uniqueness, table options. What no PRAGMA shows
 * (CHECK, expressions, a view, a trigger) is compared by its tokens.
 */
int
structure_differs(struct catalog *before, const struct catalog_object *b,
		  struct catalog *after, const struct catalog_object *a,
		  bool *differs, struct fault *f);

#endif
