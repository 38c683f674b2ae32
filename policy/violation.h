/*
 * violation.h - what broke the policy, and where
 *
 * Of one rule and one table the first few are kept and the others counted,
 * and so many are kept in all: a flood hides nothing and takes no memory.
 */
#ifndef POLICY_VIOLATION_H
#define POLICY_VIOLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "json/json.h"
#include "reply/changes.h"

#define VIOLATION_ALIKE 3u	/* of one rule and table that are kept */
#define VIOLATION_MAX 10000u	/* that are kept in all */
#define VIOLATION_CELL_MAX 256u	/* bytes of a text that is kept */

/* Named as the policy's keys are. */
enum violation_rule {
	VIOLATION_SETTINGS,
	VIOLATION_ADD,
	VIOLATION_DROP,
	VIOLATION_CHANGE,
	VIOLATION_ADD_COLUMN,
	VIOLATION_DROP_COLUMN,
	VIOLATION_RENAME_COLUMN,
	VIOLATION_RENAME_TABLE,
	VIOLATION_TABLES,	/* a table that the policy names and none has */
	VIOLATION_ADDED,	/* a row where none may be added; … */
	VIOLATION_REMOVED,
	VIOLATION_CHANGED,
	VIOLATION_COUNT,
	VIOLATION_ROWS,
	VIOLATION_COLUMNS,
	VIOLATION_EACH,
	VIOLATION_BIND,
	VIOLATION_RULES
};

const char *
violation_rule_name(enum violation_rule r);

struct violation_cell {
	bool there;
	bool cut;		/* a text of which only the start is kept */
	struct cell cell;
};

struct violation_key {
	char *name;		/* owned */
	struct violation_cell value;
};

struct violation {
	enum violation_rule rule;
	char *table;		/* owned, or NULL */
	char *pointer;		/* owned: JSON Pointer of the sentence */
	char *detail;		/* owned: a clause, without values */
	char *column;		/* owned, or NULL */
	struct violation_key *key;	/* owned */
	uint32_t nkey;
	struct violation_cell before, after;
	bool one_row;		/* it is on one side only */
	uint64_t more;		/* alike, not kept */
	unsigned char *bytes;	/* owned: what the cells point to */
};

struct violations {
	struct violation *item;	/* owned */
	size_t n, room;
	uint64_t total;		/* those that are not kept as well */
	uint64_t dropped;	/* past VIOLATION_MAX, in nobody's more */
	uint32_t alike[VIOLATION_RULES];
	size_t last[VIOLATION_RULES];
};

/* Where and what; all borrowed. table NULL: that of t. */
struct violation_at {
	enum violation_rule rule;
	const struct json *json;
	const cJSON *sentence;	/* NULL: the document */
	const char *table;
	const char *column;
	const struct changes_table *t;	/* with row: for its key */
	const struct changes_row *row;
	const struct changes_cell *before, *after;
};

/* From here on another table's. */
void
violations_scope(struct violations *all);

int
violations_add(struct violations *all, const struct violation_at *at,
	       struct fault *f, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

void
violations_free(struct violations *all);

#endif
