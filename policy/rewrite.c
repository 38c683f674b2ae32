/*
 * rewrite.c - is the new text of an object what declared steps make of it?
 */
#include "policy/rewrite.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/own.h"
#include "policy/rewrite_parts.h"

/* A CREATE TABLE in its parts: up to "(", between the commas, from ")" on. */
struct parts {
	struct span head, tail;
	struct span *item;	/* owned */
	size_t n;
};

static bool
S_split(const char *sql, struct parts *to)
{
	struct span s = rewrite_whole(sql);
	struct span item = { NULL, NULL };
	struct token t;
	int depth = 0;

	*to = (struct parts){ .head = rewrite_whole(sql) };
	while (rewrite_next(&s, &t)) {
		bool comma = depth == 1 && token_is(&t, ",");
		bool close = token_is(&t, ")") && --depth == 0;

		if (comma || close) {
			item.end = t.at;
			if (to->n == REWRITE_ITEMS_MAX)
				return false;
			to->item[to->n++] = item;
			item.at = s.at;
		}
		if (close) {
			to->tail = (struct span){ t.at, s.end };
			return true;
		}
		if (token_is(&t, "(") && depth++ == 0) {
			to->head.end = t.at;
			item.at = s.at;
			to->item = calloc(REWRITE_ITEMS_MAX,
					  sizeof(*to->item));
			if (!to->item)
				return false;
		}
		if (depth < 0)
			return false;
	}
	return false;
}

static bool
S_is_constraint(const struct token *t)
{
	return t->kind == TOKEN_WORD &&
	       (token_is(t, "constraint") || token_is(t, "primary") ||
		token_is(t, "unique") || token_is(t, "check") ||
		token_is(t, "foreign"));
}

static bool
S_is_column(struct span item)
{
	struct token t;

	return rewrite_next(&item, &t) && !S_is_constraint(&t);
}

/* The declaration in a list that this part of a CREATE TABLE is about. */
static const struct policy_column *
S_declared(const struct rewrite *w, enum policy_column_list which,
	   const char *table, struct span item)
{
	struct token t;

	if (!rewrite_next(&item, &t) || S_is_constraint(&t))
		return NULL;
	for (size_t i = 0; i < w->p->ncolumn[which]; i++) {
		const struct policy_column *c = &w->p->column[which][i];

		if (strcasecmp(c->table, table) == 0 &&
		    rewrite_names(&t, c->name, true))
			return c;
	}
	return NULL;
}

/* The tokens of text stand at s, which is moved behind them. */
static bool
S_take(struct span *s, const char *text)
{
	struct span want = rewrite_whole(text), at = *s;
	struct token tw, t;

	while (rewrite_next(&want, &tw)) {
		if (!rewrite_next(&at, &t) || t.kind != tw.kind ||
		    t.len != tw.len ||
		    (t.kind == TOKEN_WORD
		     ? strncasecmp(t.at, tw.at, t.len) != 0
		     : memcmp(t.at, tw.at, t.len) != 0))
			return false;
	}
	*s = at;
	return true;
}

/* With or without one pair of parentheses around it. */
static bool
S_take_default(struct span *s, const char *text)
{
	struct span at = *s;

	if (S_take(s, text))
		return true;
	if (!S_take(&at, "(") || !S_take(&at, text) || !S_take(&at, ")"))
		return false;
	*s = at;
	return true;
}

/* All of a column's definition is what was declared. */
static bool
S_defined_so(const struct policy_column *c, struct span item)
{
	bool notnull = false, dflt = false;
	struct span rest;
	struct token t;

	if (!rewrite_next(&item, &t) || !S_take(&item, c->type))
		return false;
	for (;;) {
		rest = item;
		if (!rewrite_next(&rest, &t))
			break;
		if (!notnull && S_take(&item, "not null")) {
			notnull = true;
		} else if (!dflt && c->dflt && S_take(&item, "default")) {
			if (!S_take_default(&item, c->dflt))
				return false;
			dflt = true;
		} else {
			return false;
		}
	}
	return notnull == c->notnull && dflt == (c->dflt != NULL);
}

/* The next part of BEFORE's text that was not dropped, or NULL. */
static const struct span *
S_kept(const struct rewrite *w, const struct parts *b, size_t *i)
{
	while (*i < b->n) {
		const struct span *s = &b->item[(*i)++];

		if (!S_declared(w, POLICY_DROP_COLUMN, w->o->name, *s))
			return s;
	}
	return NULL;
}

/* The next part of AFTER's text that was not added as declared, or NULL. */
static const struct span *
S_old(const struct rewrite *w, const struct parts *a, size_t *i)
{
	while (*i < a->n) {
		const struct span *s = &a->item[(*i)++];
		const struct policy_column *c =
			S_declared(w, POLICY_ADD_COLUMN, w->o->name, *s);

		if (!c || !S_defined_so(c, *s))
			return s;
	}
	return NULL;
}

static bool
S_same_parts(const struct rewrite *w, const struct parts *b,
	     const struct parts *a)
{
	size_t ib = 0, ia = 0;

	if (!rewrite_same(w, b->head, a->head, false) ||
	    !rewrite_same(w, b->tail, a->tail, false))
		return false;
	for (;;) {
		const struct span *sb = S_kept(w, b, &ib);
		const struct span *sa = S_old(w, a, &ia);

		if (!sb || !sa)
			return sb == sa;
		if (!rewrite_same(w, *sb, *sa, S_is_column(*sb)))
			return false;
	}
}

static bool
S_same_tables(const struct rewrite *w)
{
	struct parts b = { .item = NULL }, a = { .item = NULL };
	bool same = S_split(w->o->before, &b) && S_split(w->o->after, &a) &&
		    S_same_parts(w, &b, &a);

	free(b.item);
	free(a.item);
	return same;
}

/* A name of BEFORE is the same in AFTER, or a declared rename made it so. */
static bool
S_renamed(const struct policy *p, const char *before, const char *after)
{
	if (!before)
		return true;
	for (size_t i = 0; i < p->nrename; i++) {
		const struct policy_rename *r = &p->rename[i];

		if (!r->table && strcmp(r->to, after) == 0 &&
		    strcasecmp(r->from, before) == 0)
			return true;
	}
	return false;
}

static const cJSON *
S_column_claim(const struct policy *p, const struct changes_object *o)
{
	for (int k = 0; k < POLICY_COLUMN_LISTS; k++)
		for (size_t i = 0; i < p->ncolumn[k]; i++)
			if (strcasecmp(p->column[k][i].table, o->name) == 0)
				return p->column[k][i].at;
	return NULL;
}

int
rewrite_explained(const struct policy *p, const struct changes_object *o,
		  bool *explained, const cJSON **claim, struct fault *f)
{
	bool table = strcmp(o->type, "table") == 0;
	struct rewrite w = { .p = p, .o = o };
	OWN_MEM(bool, counts);

	*explained = false;
	*claim = NULL;
	if (!o->before || !o->after || strlen(o->before) > REWRITE_TEXT_MAX ||
	    strlen(o->after) > REWRITE_TEXT_MAX)
		return 0;
	/* No step changes the type, or leaves what SQLite does not read. */
	if (o->type_before || o->odd_before || o->odd_after)
		return 0;
	w.counts = counts = calloc(p->nrename + 1, sizeof(*counts));
	if (!counts)
		return fault_set(f, FAULT_TROUBLE, "out of memory: renames");
	for (size_t i = 0; i < p->nrename; i++) {
		counts[i] = rewrite_counts(&w, &p->rename[i]);
		if (counts[i] && !*claim)
			*claim = p->rename[i].at;
	}
	if (table && !*claim)
		*claim = S_column_claim(p, o);
	if (!*claim || !S_renamed(p, o->name_before, o->name) ||
	    !S_renamed(p, o->table_before, o->table))
		return 0;
	*explained = table && token_object(o->after) == TOKEN_OBJECT_TABLE
		     ? S_same_tables(&w)
		     : rewrite_same(&w, rewrite_whole(o->before), rewrite_whole(o->after),
				   false);
	return 0;
}
