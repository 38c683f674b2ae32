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

#include "base/cell.h"
#include "base/fault.h"
#include "cli/ask_run.h"
#include "reply/wire.h"

/* Two values are the same exactly if their encoded bytes are. */
struct changes_cell {
	struct cell cell;
	const unsigned char *at;	/* borrowed, as cell.bytes */
	size_t len;
};

/* Column names of one role, and where the other side has the same name. */
struct changes_columns {
	char **name;		/* owned */
	int32_t *other;		/* owned: index on the other side, or -1 */
	bool *in_key;		/* owned: the key shows it already */
	uint32_t count;
};

struct changes_table {
	char *name;
	enum wire_key kind;
	struct changes_columns key, before, after;
};

struct changes_row {
	enum wire_change change;
	const struct changes_cell *key;		/* as wide as table->key */
	const struct changes_cell *before;	/* NULL where added */
	const struct changes_cell *after;	/* NULL where removed */
};

struct changes_object {
	enum wire_change change;
	char *type, *name, *table;
	char *before, *after;		/* SQL, or NULL */
	bool structure;			/* more than the text differs */
};

struct changes_counts {
	uint64_t added, removed, changed;
	uint64_t rows_before, rows_after;
};

/* All is borrowed for the call; each gives 0 or a filled fault. */
struct changes_sink {
	void *arg;
	/* matters: it is inside the fingerprint */
	int (*setting)(void *arg, const char *name, const struct cell *before,
		       const struct cell *after, bool matters,
		       struct fault *f);
	int (*object)(void *arg, const struct changes_object *o,
		      struct fault *f);
	int (*row)(void *arg, const struct changes_table *t,
		   const struct changes_row *row, struct fault *f);
};

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
 * Reads the whole answer to ASK_DIFF that r has been started for. While rows
 * come, c->tables is the index that their table will have in c->table.
 */
int
changes_read(struct ask_run *r, const struct changes_sink *sink,
	     struct changes *c, struct fault *f);
void
changes_free(struct changes *c);

/* Nothing to show: the cell is the same on both sides. i: column of after. */
bool
changes_same(const struct changes_table *t, const struct changes_row *row,
	     uint32_t i);

#endif
