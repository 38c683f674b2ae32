/*
 * migrate.h - the rows of an older schema, with fences
 */
#ifndef LEASE_MIGRATE_H
#define LEASE_MIGRATE_H

#include <stdbool.h>

#include "base/fault.h"

struct store;

/*
 * Inside the transaction that made the schema: every row of old_leases once,
 * then the table goes. FAULT_REFUSED names a row that cannot be one of ours.
 *
 * The old times are wall times; what is left of a lease by the wall clock is
 * left of it by ours. A row may have been acquired before this boot: its
 * instant is then negative.
 */
int
migrate_rows(struct store *s, bool epochs, struct fault *f);

#endif
