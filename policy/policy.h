/*
 * policy.h - what may differ, as a document says it
 *
 * Lifecycle: policy_parse, then the judge (policy/judge.h), policy_free. All
 * strings and items are borrowed from the document, which the policy owns.
 * The meaning of each sentence: docs/POLICY.md.
 *
 * Trust: the operator wrote the document; it is read strictly all the same,
 * since a mistake in it would weaken what it proves.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "json/json.h"
#include "reply/renames.h"

#define POLICY_FORMAT "holdfast-policy/1"
#define POLICY_BYTES_MAX (8u << 20)
#define POLICY_DEPTH_MAX 16u
#define POLICY_VALUES_MAX 500000u
#define POLICY_NAME_MAX 1024u		/* bytes of any name */
#define POLICY_PATTERNS_MAX 10000u	/* in all sections together */
#define POLICY_BINDS_MAX 1000u
/* Bytes: a match takes at most so many steps for each character of a text. */
#define POLICY_GLOB_MAX 1024u

struct policy_setting {
	const char *name;
	const cJSON *at;
	const char *from_text, *to_text;	/* or NULL: the integers */
	int64_t from, to;
	bool seen;
};

/* Here and below: seen is the judge's. */
struct policy_object {
	const char *type, *name;
	const char *sql;		/* or NULL: any */
	const cJSON *at;
	bool seen;
};

/* A column that is added (all of it) or dropped (table and name). */
struct policy_column {
	const char *table, *name;
	const char *type, *dflt;	/* "" and NULL where there is none */
	bool notnull;
	const cJSON *at;
	bool seen;
};

struct policy_rename {
	const char *table;		/* NULL: a table's */
	const char *from, *to;
	const cJSON *at;
	bool rewritten, seen;	/* the judge's: the text; text and name */
};

enum policy_matcher {
	POLICY_CELL,	/* exactly this cell */
	POLICY_TYPE,	/* a cell of a type, within bounds */
	POLICY_BIND,	/* the cell that a name stands for */
	POLICY_ADD,	/* an integer: before and so many */
	POLICY_SAME,	/* as before */
};

enum policy_type {
	POLICY_INT,
	POLICY_REAL,
	POLICY_TEXT,
	POLICY_BLOB,
	POLICY_NULL,
	POLICY_TYPES
};

/* What one column's cell must be. */
struct policy_rule {
	const char *column;
	const cJSON *at;
	enum policy_matcher kind;
	int32_t index;			/* the judge's; -1: no such column */
	unsigned char *cell;		/* owned: POLICY_CELL, encoded */
	size_t len;
	enum policy_type type;
	bool has_min, has_max, has_length;
	int64_t min, max, add;
	double real_min, real_max;
	uint64_t length_min, length_max;
	const char *pattern;		/* or NULL */
	uint32_t bind;
};

struct policy_rules {
	struct policy_rule *item;	/* owned */
	uint32_t n;
};

/* key is empty but in changed rows. */
struct policy_pattern {
	const cJSON *at;
	struct policy_rules key, cells;
};

/* added, removed or changed of a table; at NULL: the sentence is absent. */
struct policy_section {
	const cJSON *at, *count_at, *rows_at, *columns_at;
	uint64_t min, max;		/* where count_at */
	struct policy_pattern *pattern;	/* owned; where rows_at */
	uint32_t npattern;
	const char **column;		/* owned; where columns_at */
	uint32_t ncolumn;
	struct policy_rules each;
};

enum policy_kind { POLICY_ADDED, POLICY_REMOVED, POLICY_CHANGED, POLICY_KINDS };

struct policy_table {
	const char *name;
	const cJSON *at;
	bool any;
	struct policy_section section[POLICY_KINDS];
	bool seen;
};

struct policy_bind {
	const char *name;		/* borrowed */
	unsigned char *cell;		/* owned, encoded; NULL: free */
	size_t len;
	bool given;			/* by --bind */
	const cJSON *each_at;		/* an "each" that uses it, or NULL */
	const cJSON *bound_at;		/* the pattern that bound it */
};

enum policy_object_list { POLICY_ADD_LIST, POLICY_DROP, POLICY_CHANGE,
			  POLICY_OBJECT_LISTS };
enum policy_column_list { POLICY_ADD_COLUMN, POLICY_DROP_COLUMN,
			  POLICY_COLUMN_LISTS };

struct policy {
	struct json json;		/* owned */
	const cJSON *schema_at, *tables_at, *settings_at;	/* or NULL */
	struct policy_setting *setting;		/* owned */
	size_t nsetting;
	struct policy_object *object[POLICY_OBJECT_LISTS];	/* owned; by
							   type, then name */
	size_t nobject[POLICY_OBJECT_LISTS];
	struct policy_column *column[POLICY_COLUMN_LISTS];	/* owned */
	size_t ncolumn[POLICY_COLUMN_LISTS];
	struct policy_rename *rename;		/* owned */
	size_t nrename;
	struct policy_table *table;		/* owned */
	size_t ntable;
	struct policy_bind *bind;		/* owned */
	size_t nbind;
	size_t npattern;
	struct renames renames;			/* owned: for the helper */
};

/*
 * bind: nbind words NAME=CELL, borrowed as long as the policy. FAULT_USAGE
 * for anything wrong with the document or the words. *p is the caller's.
 */
int
policy_parse(struct policy **p, const void *bytes, size_t n,
	     const char *const *bind, size_t nbind, struct fault *f);
/* The policy that allows nothing. */
int
policy_empty(struct policy **p, struct fault *f);
void
policy_free(struct policy *p);

static inline void
own_policy_free(struct policy **p)
{
	policy_free(*p);
	*p = NULL;
}

#define OWN_POLICY(name) \
	struct policy *name __attribute__((cleanup(own_policy_free))) = NULL

#endif
