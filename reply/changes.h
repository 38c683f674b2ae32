/*
 * changes.h - what differs between two states, as the front end takes it
 *
 * Lifecycle: a reader of frames (cli/changes.h) fills these and hands them
 * to a sink; all is borrowed for the call. changes_table_pair, once the
 * columns are known, says which are the same column.
 */
#ifndef REPLY_CHANGES_H
#define REPLY_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cell.h"
#include "base/fault.h"
#include "reply/renames.h"
#include "reply/wire.h"

/* Two values are the same exactly if their encoded bytes are. */
struct changes_cell {
	struct cell cell;
	const unsigned char *at;	/* borrowed, as cell.bytes */
	size_t len;
};

/* Column names of one role, and where the other side has the same column. */
struct changes_columns {
	char **name;		/* owned */
	int32_t *other;		/* owned: index on the other side, or -1 */
	bool *in_key;		/* owned: the key shows it already */
	uint32_t count;
};

/* What a row holds in a column of AFTER's own that nobody set. */
enum changes_own {
	CHANGES_SHARED,		/* no column of its own: BEFORE has it too */
	CHANGES_UNKNOWN,	/* no such value is known */
	CHANGES_DEFAULT,	/* dflt says it */
	CHANGES_FOLLOWS,	/* generated: it follows from the others */
};

struct changes_table {
	char *name;		/* as AFTER spells it, if it is there */
	enum wire_key kind;
	struct changes_columns key, before, after;
	enum changes_own *own;		/* owned; as wide as after */
	struct changes_cell *dflt;	/* owned; as wide as after */
	unsigned char *dflt_bytes;	/* owned: what dflt points to */
};

struct changes_row {
	enum wire_change change;
	const struct changes_cell *key;		/* as wide as table->key */
	const struct changes_cell *before;	/* NULL where added */
	const struct changes_cell *after;	/* NULL where removed */
};

/* As sqlite_schema has an object: type, name, tbl_name, sql. */
struct changes_stored {
	struct changes_cell cell[WIRE_STORED];
	bool there;		/* the object is on that side, and odd */
};

/*
 * Texts as SQLite takes them: of any bytes, up to a NUL. An object is odd
 * where they are not all that is stored.
 */
struct changes_object {
	enum wire_change change;
	char *type, *name, *table;
	char *type_before, *name_before, *table_before;	/* NULL: as in AFTER */
	char *before, *after;		/* SQL, or NULL */
	bool structure;			/* more than the text differs */
	struct changes_stored stored_before, stored_after;
	bool odd_name;		/* type, name or table of a side are more */
	bool odd_before, odd_after;	/* the SQL of that side is more */
};

struct changes_counts {
	uint64_t added, removed, changed;
	uint64_t rows_before, rows_after;
};

/* Each gives 0 or a filled fault. table and table_end may be NULL. */
struct changes_sink {
	void *arg;
	/* matters: it is inside the fingerprint */
	int (*setting)(void *arg, const char *name, const struct cell *before,
		       const struct cell *after, bool matters,
		       struct fault *f);
	int (*object)(void *arg, const struct changes_object *o,
		      struct fault *f);
	/* Every table comes, also one without a difference. */
	int (*table)(void *arg, const struct changes_table *t,
		     struct fault *f);
	int (*row)(void *arg, const struct changes_table *t,
		   const struct changes_row *row, struct fault *f);
	int (*table_end)(void *arg, const struct changes_table *t,
			 const struct changes_counts *n, struct fault *f);
};

void
changes_table_free(struct changes_table *t);

/* Room for the names of n columns, and what belongs to each. */
int
changes_columns_init(struct changes_columns *c, uint32_t n, struct fault *f);

/* As SQL compares names; -1: there is none. */
int32_t
changes_find(const struct changes_columns *c, const char *name);

/* Fills other and in_key of all columns, by name and the declared renames. */
void
changes_table_pair(struct changes_table *t, const struct renames *r);

/*
 * What the frame said of AFTER's own columns: known of them, in their order,
 * hold these n bytes of cells by default, the others follow; known < 0:
 * nothing is known. FAULT_SANDBOX where that can't be.
 */
int
changes_table_own(struct changes_table *t, int64_t known,
		  const unsigned char *cells, size_t n, struct fault *f);

/* Fills odd_* from what is stored. */
void
changes_object_weigh(struct changes_object *o);

/* A copy that owns all it has. */
int
changes_table_copy(const struct changes_table *t, struct changes_table *to,
		   struct fault *f);

static inline bool
changes_equal(const struct changes_cell *a, const struct changes_cell *b)
{
	return a->len == b->len && __builtin_memcmp(a->at, b->at, a->len) == 0;
}

/* Nothing to show: the cell is the same on both sides. i: column of after. */
static inline bool
changes_same(const struct changes_table *t, const struct changes_row *row,
	     uint32_t i)
{
	int32_t other = t->after.other[i];

	return other >= 0 && changes_equal(&row->before[other], &row->after[i]);
}

/* As changes_same, and so is what a row of BEFORE gets in a new column. */
static inline bool
changes_unchanged(const struct changes_table *t,
		  const struct changes_row *row, uint32_t i)
{
	int32_t other = t->after.other[i];

	if (other >= 0)
		return changes_equal(&row->before[other], &row->after[i]);
	return t->own[i] == CHANGES_FOLLOWS ||
	       (t->own[i] == CHANGES_DEFAULT &&
		changes_equal(&t->dflt[i], &row->after[i]));
}

#endif
