/*
 * rows.h - the rows of a table as batches of cells
 *
 * Lifecycle: rows_open, rows_next_batch until it returns 1, rows_free.
 *
 * The table itself is read, never an index of it: a row that an index lost
 * is still there. One connection may be read by one thread at a time.
 */
#ifndef VERIFY_ROWS_H
#define VERIFY_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fault.h"
#include "verify/value.h"

struct rows_column {
	const char *name;	/* borrowed until rows_free */
	bool key;		/* a NULL in it is remembered */
};

/* Inclusive bounds of the rowid; has_* false: open. */
struct key_range {
	bool has_low, has_high;
	int64_t low, high;
};

#define KEY_RANGE_WHOLE { .has_low = false, .has_high = false }

struct rows_spec {
	const char *table;
	const char *rowid;	/* name that reaches it, or NULL */
	bool lead;		/* a row starts with its rowid as CELL_INT */
	enum value_use use;	/* VALUE_SORT: of the key columns; others are
				   VALUE_COMPARE then */
	const struct rows_column *column;
	uint32_t ncolumn;
	uint32_t ncommon;	/* the first ones, see rows_mark.common */
	const char *order;	/* ORDER BY terms, or NULL: as stored */
};

#define ROWS_LEAD_BYTES 9	/* the encoded rowid */
#define ROWS_BATCH_BYTES (1u << 20)

/* Where a row's parts end in the batch; it starts where the last ended. */
struct rows_mark {
	size_t common;
	size_t end;
};

/* Closed at the first row that fills ROWS_BATCH_BYTES. */
struct rows_batch {
	struct buf bytes;
	struct rows_mark *row;
	size_t nrow, room;
};

struct rows;

/* values is borrowed. 0; 1 and *why (owned): SQLite can't read the table. */
int
rows_open(struct rows **r, sqlite3 *db, struct value_reader *values,
	  const struct rows_spec *spec, const struct key_range *range,
	  char **why, struct fault *f);

void
rows_batch_init(struct rows_batch *b);
void
rows_batch_free(struct rows_batch *b);

/*
 * 0: at least one row; 1: no row is left; 2: SQLite could not compute a
 * value (rows_why), what comes after is not known; or a fault.
 */
int
rows_next_batch(struct rows *r, struct rows_batch *b, struct fault *f);

const char *
rows_why(const struct rows *r);

/* A key column held NULL in a row that was read. */
bool
rows_null_key(const struct rows *r);

void
rows_free(struct rows *r);

#endif
