/*
 * rewrite.h - is the new text of an object what declared steps make of it?
 *
 * ALTER TABLE rewrites the text of the table, and a rename that of every
 * index, trigger and view that names it. The texts are compared token by
 * token (base/token.h):
 *  1. a token is the same bytes, or an identifier of BEFORE that a declared
 *     rename turns into the one that stands there now, however quoted;
 *  2. a string is an identifier only where CREATE TABLE names the table;
 *  3. a column's rename counts in texts that name its table, and not behind
 *     "x." where x can't be that table;
 *  4. a type, a DEFAULT, a collation and a constraint's name are no names of
 *     columns, nor are the columns of a REFERENCES to another table;
 *  5. in the text of the table itself, its old name in double quotes is one;
 *  6. of the table itself, columns declared as dropped are left out of the
 *     old text; columns declared as added are left out of the new one, if
 *     all of their definition is what was declared.
 *
 * Trust: the texts are the evidence's.
 */
#ifndef POLICY_REWRITE_H
#define POLICY_REWRITE_H

#include <stdbool.h>

#include "policy/policy.h"
#include "reply/changes.h"

/* Longer texts, or more columns, are not looked into. */
#define REWRITE_TEXT_MAX (1u << 20)
#define REWRITE_ITEMS_MAX 4096u

/*
 * *explained: o, a changed object, is what the policy's renames, added and
 * dropped columns make of it. *claim: the first of them that concerns it, or
 * NULL.
 */
int
rewrite_explained(const struct policy *p, const struct changes_object *o,
		  bool *explained, const cJSON **claim, struct fault *f);

#endif
