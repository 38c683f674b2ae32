/*
 * judge_parts.h - what the parts of the judge share
 */
#ifndef POLICY_JUDGE_PARTS_H
#define POLICY_JUDGE_PARTS_H

#include "policy/judge.h"
#include "policy/match.h"

#define JUDGE_HELD_EXTRA 64u		/* rows past one for each pattern */
#define JUDGE_HELD_BYTES_MAX (64u << 20)

/* A row that is kept for the patterns of its section. */
struct judge_held {
	struct changes_row row;
	struct changes_cell *cells;	/* owned: those of row */
	unsigned char *bytes;		/* owned: what they point to */
	uint32_t taken;			/* by so many patterns */
};

struct judge_section {
	struct judge_held *held;	/* owned */
	size_t nheld, room;
	uint64_t unheld;
};

/* Beside a table of the policy. */
struct judge_table {
	struct changes_table table;	/* owned: where patterns need it */
	struct judge_section section[POLICY_KINDS];
};

struct judge {
	struct policy *p;		/* borrowed */
	struct violations v;		/* owned */
	struct match_trial trial;	/* owned */
	struct judge_table *table;	/* owned; as wide as p->table */
	size_t held_bytes;
	/* Of the table that rows come from: */
	struct policy_table *now;	/* NULL: the policy does not name it */
	struct judge_table *state;
	uint64_t count[POLICY_KINDS];
	bool *allowed;			/* owned: columns that may change */
	uint32_t width;			/* of allowed */
};

/* at with the judge's document; sentence NULL: the next one around it. */
struct violation_at
judge_at(const struct judge *j, enum violation_rule rule,
	 const cJSON *sentence);

/* judge_schema.c */
int
judge_setting(struct judge *j, const char *name, const struct cell *before,
	      const struct cell *after, bool matters, struct fault *f);
int
judge_object(struct judge *j, const struct changes_object *o,
	     struct fault *f);
/* Columns that were declared as added, dropped or renamed, and are. */
void
judge_columns(struct judge *j, const struct changes_table *t);
/* Declared, and did not happen. */
int
judge_undone(struct judge *j, struct fault *f);

/* judge_rows.c */
int
judge_hold(struct judge *j, const struct changes_table *t,
	   enum policy_kind kind, const struct changes_row *row,
	   struct fault *f);
int
judge_patterns(struct judge *j, struct fault *f);
void
judge_rows_free(struct judge *j);

/* What a cell of AFTER was before: the cell, the column's default, or NULL. */
const struct changes_cell *
judge_before(const struct changes_table *t, const struct changes_row *row,
	     uint32_t i);

/* The first column of AFTER that changed, or -1. */
int32_t
judge_first_changed(const struct changes_table *t,
		    const struct changes_row *row);

/* Fills column, before and after of at with a column of AFTER. */
void
judge_show(struct violation_at *at, const struct changes_table *t,
	   const struct changes_row *row, int32_t i);

#endif
