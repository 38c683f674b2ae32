/*
 * match.h - is a cell what a rule says?
 *
 * Binds are looked up in a trial: names that are free while a pattern is
 * held against a row get their cell there, and every other use in that row
 * must be equal.
 */
#ifndef POLICY_MATCH_H
#define POLICY_MATCH_H

#include <stdbool.h>

#include "policy/policy.h"
#include "reply/changes.h"

struct match_trial {
	const struct policy_bind *bind;	/* borrowed: what is known */
	const struct changes_cell **got;	/* owned; as wide as bind */
	uint32_t *touched;		/* owned: places of got in use */
	uint32_t n;
};

int
match_trial_init(struct match_trial *t, const struct policy *p,
		 struct fault *f);
void
match_trial_free(struct match_trial *t);
/* Forgets the row before. */
void
match_trial_reset(struct match_trial *t);

/* before: what it was, or NULL: it has no such cell. */
bool
match_cell(const struct policy_rule *r, const struct changes_cell *before,
	   const struct changes_cell *cell, struct match_trial *t);

/* What SQL's length() gives: characters of a text up to its first NUL, bytes
   of a blob. */
uint64_t
match_length(const struct cell *c);

#endif
