/*
 * plan.h - which columns, key and order compare a table of two states
 *
 * Lifecycle: plan_make, plan_spec for each side, plan_free. A table that is
 * there on one side only has a plan too: its rows are all removed or added.
 *
 * Columns common to both sides come first, as AFTER orders them, then each
 * side's own; of AFTER's own, generated ones come last, since they follow
 * from the others and make no row changed.
 */
#ifndef VERIFY_PLAN_H
#define VERIFY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fault.h"
#include "reply/wire.h"
#include "verify/catalog.h"
#include "verify/rows.h"

enum plan_side { PLAN_BEFORE, PLAN_AFTER };

/* How two rows are told apart while both sides are read side by side. */
enum plan_align {
	PLAN_ALIGN_NONE,	/* by their position only */
	PLAN_ALIGN_ROWID,
	PLAN_ALIGN_KEY,		/* by the key's cells */
};

struct plan_columns {
	struct rows_column *column;	/* names borrowed from the catalog */
	char **name;			/* the same, for the sink */
	uint32_t ncolumn;
	char *order;			/* ORDER BY terms, or NULL */
	bool present;			/* the table is there on this side */
	const struct catalog_table *table;	/* borrowed */
};

struct plan {
	enum wire_key kind;
	uint32_t ncommon;
	struct plan_columns side[2];
	uint32_t *key;		/* places of the key's cells in a row, lead
				   not counted (WIRE_KEY_DECLARED) */
	bool *desc;
	char **key_name;	/* borrowed */
	uint32_t nkey;
	bool lead;		/* rows start with their rowid */
	bool stream;		/* both sides come in the order of the key */
	enum value_use use;
	enum plan_align align;
	struct buf dflt;	/* cells of AFTER's own columns by default */
	uint32_t ndflt;		/* cells in dflt */
	bool dflt_known;
};

struct plan_inputs {
	struct catalog *catalog[2];
	const struct catalog_table *table[2];	/* NULL: not on that side */
	const struct renames *renames;		/* or NULL */
	bool ignore_rowid;
	bool no_declared;	/* the declared key is NULL somewhere */
};

int
plan_make(struct plan *p, const struct plan_inputs *in, struct fault *f);
void
plan_free(struct plan *p);

void
plan_spec(const struct plan *p, enum plan_side side, struct rows_spec *spec);

#endif
