/*
 * unknown.h - collations that a schema names and SQLite does not have
 *
 * SQLite opens a table only if it knows the collations of its b-tree, though
 * reading from end to end compares nothing. Each unknown one gets a stand-in
 * that keeps account of being asked: what was read meanwhile then hangs on
 * an order that nobody here knows, and is no answer.
 *
 * Lifecycle: unknown_watch once for a connection that reads in no other way
 * than whole tables; unknown_asked after what may have asked; unknown_free
 * any time before or after the connection is closed.
 */
#ifndef VERIFY_UNKNOWN_H
#define VERIFY_UNKNOWN_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/fault.h"

struct unknown;

int
unknown_watch(struct unknown **u, sqlite3 *db, struct fault *f);

/* Whether the connection has a stand-in at all. u may be NULL. */
bool
unknown_any(const struct unknown *u);

/*
 * NULL, or SQLite's own sentence of the collation that was asked since the
 * last call; borrowed until the connection is closed. u may be NULL.
 */
const char *
unknown_asked(struct unknown *u);

void
unknown_free(struct unknown *u);

#endif
