/*
 * delta.h - the logical difference of two recovered states
 *
 * Order and keys of the rows: docs/FORMATS.md, "Row keys and order of the
 * delta". Memory does not grow with the number of rows or of differences.
 * Names and texts are of any bytes but NUL. Objects are compared by all that
 * sqlite_schema holds of them.
 * TABLE and TABLE_END come for every table, also without a difference.
 */
#ifndef VERIFY_DELTA_H
#define VERIFY_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cell.h"
#include "base/fault.h"
#include "base/worker.h"
#include "recover/state.h"
#include "reply/renames.h"
#include "reply/wire.h"

struct delta_options {
	bool ignore_rowid;	/* keyless tables as multisets */
	uint64_t memory;	/* bytes that sorting may use */
	struct worker *worker;	/* idle; reads one side. NULL: no threads */
	const struct renames *renames;	/* or NULL: none */
};

/* A run of encoded cells (base/cell.h), borrowed for the call. */
struct delta_cells {
	const unsigned char *bytes;
	size_t len;
	uint32_t count;
};

struct delta_table {
	const char *name;	/* as AFTER spells it */
	enum wire_key key_kind;
	uint32_t nkey, nbefore, nafter;
	char **key, **before, **after;	/* column names */
	/* of the first columns that only AFTER has; NULL: not known */
	const struct delta_cells *dflt;
};

struct delta_object {
	enum wire_change change;
	const char *type, *name, *table;
	const char *type_before, *name_before, *table_before;	/* NULL: the
								   same */
	/* NULL: the object is not there on that side */
	const char *sql_before, *sql_after;
	/* more than the SQL text, or more of it than blanks */
	bool structure_differs;
	/* type, name, tbl_name and sql as they are stored, of each side that
	   has it; NULL: the texts above are all of it on both sides */
	const struct delta_cells *stored_before, *stored_after;
};

struct delta_counts {
	uint64_t added, removed, changed, rows_before, rows_after;
};

/* Each returns 0 or a filled fault, which ends the run. */
struct delta_sink {
	void *arg;
	int (*setting)(void *arg, const char *name,
		       const struct delta_cells *before,
		       const struct delta_cells *after, struct fault *f);
	int (*object)(void *arg, const struct delta_object *o,
		      struct fault *f);
	int (*table)(void *arg, const struct delta_table *t, struct fault *f);
	int (*row)(void *arg, enum wire_change change,
		   const struct delta_cells *key,
		   const struct delta_cells *before,
		   const struct delta_cells *after, struct fault *f);
	int (*table_end)(void *arg, const char *name,
			 const struct delta_counts *n, struct fault *f);
	int (*skip)(void *arg, const char *what, const char *why,
		    struct fault *f);
};

/* *equal: no setting inside the fingerprint, object or row differs. */
int
delta_run(struct state *before, struct state *after,
	  const struct delta_options *o, const struct delta_sink *sink,
	  bool *equal, struct fault *f);

#endif
