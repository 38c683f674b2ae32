/*
 * rewrite_parts.h - what the parts of the rewriting share
 */
#ifndef POLICY_REWRITE_PARTS_H
#define POLICY_REWRITE_PARTS_H

#include "base/token.h"
#include "policy/rewrite.h"

struct rewrite {
	const struct policy *p;
	const struct changes_object *o;
	bool *counts;		/* owned: which renames count here */
};

/* Tokens up to end. */
struct span {
	const char *at, *end;
};

/* rewrite_words.c */
struct span
rewrite_whole(const char *sql);
bool
rewrite_next(struct span *s, struct token *t);

/* The identifier in a token is this name. */
bool
rewrite_names(const struct token *t, const char *name, bool exact);

/* Whether a rename may have to do with the object. */
bool
rewrite_counts(const struct rewrite *w, const struct policy_rename *r);

/* a is b but for the renames that count. column: it is the definition of one,
   whose type names nothing. */
bool
rewrite_same(const struct rewrite *w, struct span b, struct span a,
	     bool column);

#endif
