/*
 * changes.h - the helper's delta, each frame's shape and each count checked
 *
 * Trust: the helper may have been taken over by one of the databases. Every
 * frame must have the cells that reply/wire.h promises, a table's counts
 * must be those of the rows that came, and the verdict must follow from what
 * was said; else FAULT_SANDBOX. Nothing but names and counts is kept.
 */
#ifndef CLI_CHANGES_H
#define CLI_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "cli/ask_run.h"
#include "reply/changes.h"

struct changes_total {
	char *name;		/* owned */
	struct changes_counts n;
};

struct changes {
	struct changes_total *table;	/* owned */
	size_t tables, room;
	uint64_t settings, objects, rows;	/* that differ */
	bool equal;
};

#define OWN_CHANGES(c) \
	struct changes c __attribute__((cleanup(changes_free))) = \
		{ .table = NULL }

/*
 * Reads the whole answer to ASK_DIFF that r has been started for, with these
 * renames (NULL: none).
 */
int
changes_read(struct ask_run *r, const struct renames *renames,
	     const struct changes_sink *sink, struct changes *c,
	     struct fault *f);
void
changes_free(struct changes *c);

#endif
