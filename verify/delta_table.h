/*
 * delta_table.h - the rows that differ between two states of a table
 *
 * Both sides are read side by side in the order they are stored. Where that
 * is the order of the key, differences go out as they are met. Elsewhere
 * rows that are the same on both sides are dropped as they pass and the rest
 * is paired by its key in memory; where the rest passes the budget it is
 * paired a slice at a time, a slice being a range of the keys' hashes.
 */
#ifndef VERIFY_DELTA_TABLE_H
#define VERIFY_DELTA_TABLE_H

#include "base/fault.h"
#include "verify/catalog.h"
#include "verify/delta.h"
#include "verify/plan.h"
#include "verify/rows.h"

struct delta_job {
	struct catalog *catalog[2];
	const struct delta_options *options;
	const struct delta_sink *sink;
	bool equal;		/* cleared by each difference */
};

/*
 * table NULL: not on that side. range limits the rowids that are compared
 * and counted: rows outside it are known to be the same.
 */
int
delta_table_range(struct delta_job *job,
		  const struct catalog_table *before,
		  const struct catalog_table *after,
		  const struct key_range *range, struct fault *f);

#endif
