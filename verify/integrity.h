/*
 * integrity.h - SQLite's own checks, of all that it can check
 *
 * Where SQLite can't check the whole, since a schema names a collation or a
 * function that it does not have, the structure of all b-trees is checked
 * nonetheless, and then table by table: what can't be is said by name.
 *
 * Lifecycle: integrity_init, integrity_run, integrity_free. The run may be
 * in a thread of its own.
 */
#ifndef VERIFY_INTEGRITY_H
#define VERIFY_INTEGRITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fault.h"
#include "recover/state.h"

struct integrity {
	struct buf text;	/* messages, a line each; empty: none */
	bool damaged;		/* they tell of damage */
	bool partly;		/* something was not checked */
	int64_t foreign_keys;	/* violations */
	struct buf skip;	/* WHAT NUL WHY NUL ... */
	uint64_t skips, unnamed;
};

void
integrity_init(struct integrity *r);
void
integrity_free(struct integrity *r);

/*
 * Ends r->text with a NUL: the messages, or "ok", or WIRE_OK_PARTLY. Damage
 * that the messages tell of is no fault.
 */
int
integrity_run(struct integrity *r, struct state *s, struct fault *f);

/* Calls skip for each thing that was not checked. */
int
integrity_skips(const struct integrity *r,
		int (*skip)(void *arg, const char *what, const char *why,
			    struct fault *f),
		void *arg, struct fault *f);

#endif
