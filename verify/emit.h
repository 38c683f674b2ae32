/*
 * emit.h - the differences of one table, as the sink takes them
 *
 * Lifecycle: emit_init, then for one plan (emit_plan) emit_row and so on,
 * emit_end, emit_free. A table is announced before its first row or at its
 * end.
 */
#ifndef VERIFY_EMIT_H
#define VERIFY_EMIT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/fault.h"
#include "verify/delta.h"
#include "verify/plan.h"
#include "verify/pool.h"

struct emit {
	const struct delta_sink *sink;	/* borrowed */
	const struct plan *plan;	/* borrowed */
	struct delta_counts n;
	struct buf key, shown, out[2];	/* scratch */
	bool announced;
};

void
emit_init(struct emit *e, const struct delta_sink *sink,
	  const struct plan *plan);
void
emit_free(struct emit *e);

/* The key's cells of a row as read, borrowed in e->key until the next call. */
int
emit_key(struct emit *e, const struct pool_row *row, struct fault *f);

/* Counts it and hands it out. NULL: the row is not on that side. */
int
emit_row(struct emit *e, const struct pool_row *before,
	 const struct pool_row *after, struct fault *f);

/* why NULL: the whole table was read. */
int
emit_end(struct emit *e, const char *why, struct fault *f);

#endif
