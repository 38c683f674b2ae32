/*
 * parse.h - the parts of the policy's reader
 *
 * Each reads one value of the document; FAULT_USAGE with its JSON Pointer
 * for anything that the language does not have.
 */
#ifndef POLICY_PARSE_H
#define POLICY_PARSE_H

#include "policy/policy.h"

/* Where a rule stands: what it may ask for follows from that. */
enum parse_place {
	PARSE_ROW,	/* a pattern of an added or removed row */
	PARSE_KEY,	/* the key of a changed row */
	PARSE_SET,	/* what a changed row becomes */
	PARSE_EACH,	/* every added or removed row */
	PARSE_EACH_SET,	/* every changed row */
};

/* obj: {"column": matcher, …} */
int
parse_rules(struct policy *p, const cJSON *obj, enum parse_place place,
	    struct policy_rules *rules, struct fault *f);
void
parse_rules_free(struct policy_rules *rules);

int
parse_tables(struct policy *p, const cJSON *obj, struct fault *f);
void
parse_tables_free(struct policy *p);

int
parse_settings(struct policy *p, const cJSON *obj, struct fault *f);
int
parse_schema(struct policy *p, const cJSON *obj, struct fault *f);

/* A name of the database's: not empty, POLICY_NAME_MAX bytes at most. */
int
parse_name(const struct policy *p, const cJSON *obj, const char *key,
	   const char **name, struct fault *f);
/* The same of a key itself. */
int
parse_key_name(const struct policy *p, const cJSON *item, struct fault *f);

int
parse_no_memory(struct fault *f);

/* A whole number from 0, or {"min":…,"max":…}. */
int
parse_range(const struct policy *p, const cJSON *item, uint64_t *min,
	    uint64_t *max, struct fault *f);

#endif
