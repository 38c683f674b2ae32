/*
 * ops.h - what the helper can be asked, one function each
 *
 * Each sends its frames but for the last: END or FAULT is main's. The order
 * and the keys of the facts: docs/FORMATS.md, "Facts".
 */
#ifndef HELPER_OPS_H
#define HELPER_OPS_H

#include <stdint.h>

#include "base/fault.h"
#include "base/worker.h"
#include "recover/state.h"
#include "reply/ask.h"
#include "reply/wire.h"

struct op {
	const struct ask *ask;		/* checked; its limits are set */
	const char *text;		/* NUL-terminated */
	struct wire *wire;
	struct worker *worker;		/* idle */
	enum wire_verdict verdict;	/* the op's to set; WIRE_YES before */
};

int
op_recover(struct op *o, struct fault *f);
int
op_query(struct op *o, struct fault *f);
int
op_export(struct op *o, struct fault *f);
int
op_diff(struct op *o, struct fault *f);
int
op_inspect(struct op *o, struct fault *f);
int
op_bind(struct op *o, struct fault *f);

static inline void
own_state_free(struct state **s)
{
	state_free(*s);
	*s = NULL;
}

#define OWN_STATE(name) \
	struct state *name __attribute__((cleanup(own_state_free))) = NULL

static inline void
own_db_close(sqlite3 **db)
{
	(void)sqlite3_close(*db);
	*db = NULL;
}

#define OWN_DB(name) \
	sqlite3 *name __attribute__((cleanup(own_db_close))) = NULL

/* The side as recovered, in the view that the ask wants. */
int
op_open(const struct op *o, uint32_t side, struct state **s, struct fault *f);

#endif
