/*
 * rewrite.c - is the new text of an object what declared steps make of it?
 */
#include "policy/rewrite.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/own.h"
#include "base/token.h"

struct rewrite {
	const struct policy *p;
	const struct changes_object *o;
	bool *counts;		/* owned: which renames count here */
};

enum place_parent {
	PLACE_NONE,
	PLACE_NAME,		/* behind REFERENCES */
	PLACE_OPEN,		/* behind the table that it names */
	PLACE_COLUMNS,		/* those of that table */
};

/* Where in a text a token stands. */
struct place {
	bool table;		/* behind TABLE */
	bool column;		/* at a column's name, before its type */
	bool type, value;	/* of a column: no name of ours */
	bool verbatim;
	enum place_parent parent;
	struct token named;	/* the parent, in AFTER */
};

/* Tokens up to end. */
struct span {
	const char *at, *end;
};

static bool
S_next(struct span *s, struct token *t)
{
	const char *p = s->at;

	token_next(&p, t);
	if (t->kind == TOKEN_END || t->at >= s->end)
		return false;
	s->at = p;
	return true;
}

static struct span
S_whole(const char *sql)
{
	return (struct span){ sql, sql + strlen(sql) };
}

/* The identifier in a token is this name. */
static bool
S_names(const struct token *t, const char *name, bool exact)
{
	const char *s = t->at, *end = s + t->len;
	char quote = t->kind == TOKEN_WORD ? '\0' : *s == '[' ? ']' : *s;

	if (quote) {
		s++;
		end -= end > s && end[-1] == quote;
	}
	for (; s < end && *name; s++, name++) {
		if (exact ? *s != *name : strncasecmp(s, name, 1) != 0)
			return false;
		/* A doubled quote is one. */
		if (quote && *s == quote && s + 1 < end && s[1] == quote)
			s++;
	}
	return s >= end && !*name;
}

static bool
S_identifier(const struct token *t)
{
	return t->kind == TOKEN_WORD || t->kind == TOKEN_QUOTED;
}

static bool
S_mentions(const char *sql, const char *name)
{
	struct span s = S_whole(sql);
	struct token t;

	while (S_next(&s, &t)) {
		if ((S_identifier(&t) || t.kind == TOKEN_STRING) &&
		    S_names(&t, name, false))
			return true;
	}
	return false;
}

/* What AFTER calls a table of BEFORE is called so, and what it was. */
static const char *
S_old_table(const struct policy *p, const char *table)
{
	for (size_t i = 0; i < p->nrename; i++)
		if (!p->rename[i].table &&
		    strcasecmp(p->rename[i].to, table) == 0)
			return p->rename[i].from;
	return table;
}

static bool
S_counts(const struct rewrite *w, const struct policy_rename *r)
{
	const char *before = w->o->before;

	if (!r->table)
		return S_mentions(before, r->from);
	return strcasecmp(w->o->table, r->table) == 0 ||
	       S_mentions(before, S_old_table(w->p, r->table));
}

/* AFTER's table has a column again that is called as this one was. */
static bool
S_lives_on(const struct rewrite *w, const struct policy_rename *one)
{
	for (size_t i = 0; i < w->p->nrename; i++) {
		const struct policy_rename *r = &w->p->rename[i];

		if (r->table && strcasecmp(r->table, one->table) == 0 &&
		    r != one && strcasecmp(r->to, one->from) == 0)
			return true;
	}
	for (size_t i = 0; i < w->p->ncolumn[POLICY_ADD_COLUMN]; i++) {
		const struct policy_column *c =
			&w->p->column[POLICY_ADD_COLUMN][i];

		if (strcasecmp(c->table, one->table) == 0 &&
		    strcasecmp(c->name, one->from) == 0)
			return true;
	}
	return false;
}

/* The same word that means another column now is not the same. */
static bool
S_other_column(const struct rewrite *w, const struct token *t)
{
	if (!S_identifier(t))
		return false;
	for (size_t i = 0; i < w->p->nrename; i++) {
		const struct policy_rename *r = &w->p->rename[i];

		if (w->counts[i] && r->table && S_names(t, r->from, false) &&
		    S_lives_on(w, r))
			return true;
	}
	return false;
}

static bool
S_same_token(const struct rewrite *w, const struct token *b,
	     const struct token *a, const struct place *at)
{
	if (b->kind == a->kind && b->len == a->len &&
	    memcmp(b->at, a->at, a->len) == 0)
		return at->verbatim || !S_other_column(w, b);
	if (at->verbatim || !S_identifier(a) ||
	    !(S_identifier(b) || (at->table && b->kind == TOKEN_STRING)))
		return false;
	for (size_t i = 0; i < w->p->nrename; i++) {
		const struct policy_rename *r = &w->p->rename[i];

		if (w->counts[i] && S_names(b, r->from, false) &&
		    S_names(a, r->to, true) &&
		    (at->parent != PLACE_COLUMNS || !r->table ||
		     S_names(&at->named, r->table, false)))
			return true;
	}
	return false;
}

static bool
S_is_one_of(const struct token *t, const char *const *words)
{
	while (*words && !token_is(t, *words))
		words++;
	return t->kind == TOKEN_WORD && *words;
}

/* What ends the type of a column. */
static const char *const S_ends_type[] = {
	"constraint", "primary", "not", "null", "unique", "check", "default",
	"collate", "references", "generated", "as", NULL,
};

/* Where the token behind this pair stands. */
static void
S_step(struct place *at, const struct token *b, const struct token *a)
{
	static const char *const values[] = { "default", "collate", NULL };

	at->table = token_is(b, "table");
	at->type |= at->column;
	at->column = false;
	if (token_is(b, "references")) {
		at->parent = PLACE_NAME;
	} else if (at->parent == PLACE_NAME) {
		at->parent = PLACE_OPEN;
		at->named = *a;
	} else if (at->parent == PLACE_OPEN && token_is(b, "(")) {
		at->parent = PLACE_COLUMNS;
	} else if (at->parent == PLACE_OPEN || token_is(b, ")")) {
		at->parent = PLACE_NONE;
	}
	at->value = S_is_one_of(b, values);
}

/* column: it is the definition of one, whose type names nothing. */
static bool
S_same_span(const struct rewrite *w, struct span b, struct span a,
	    bool column)
{
	struct place at = { .column = column };
	struct token tb, ta;

	for (;;) {
		bool more_b = S_next(&b, &tb), more_a = S_next(&a, &ta);

		if (!more_b || !more_a)
			return more_b == more_a;
		if (at.type && S_is_one_of(&tb, S_ends_type))
			at.type = false;
		at.verbatim = at.type || at.value;
		if (!S_same_token(w, &tb, &ta, &at))
			return false;
		S_step(&at, &tb, &ta);
	}
}

/* A CREATE TABLE in its parts: up to "(", between the commas, from ")" on. */
struct parts {
	struct span head, tail;
	struct span *item;	/* owned */
	size_t n;
};

static bool
S_split(const char *sql, struct parts *to)
{
	struct span s = S_whole(sql);
	struct span item = { NULL, NULL };
	struct token t;
	int depth = 0;

	*to = (struct parts){ .head = S_whole(sql) };
	while (S_next(&s, &t)) {
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

	return S_next(&item, &t) && !S_is_constraint(&t);
}

/* The declaration in a list that this part of a CREATE TABLE is about. */
static const struct policy_column *
S_declared(const struct rewrite *w, enum policy_column_list which,
	   const char *table, struct span item)
{
	struct token t;

	if (!S_next(&item, &t) || S_is_constraint(&t))
		return NULL;
	for (size_t i = 0; i < w->p->ncolumn[which]; i++) {
		const struct policy_column *c = &w->p->column[which][i];

		if (strcasecmp(c->table, table) == 0 &&
		    S_names(&t, c->name, true))
			return c;
	}
	return NULL;
}

/* The tokens of text stand at s, which is moved behind them. */
static bool
S_take(struct span *s, const char *text)
{
	struct span want = S_whole(text), at = *s;
	struct token tw, t;

	while (S_next(&want, &tw)) {
		if (!S_next(&at, &t) || t.kind != tw.kind ||
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

	if (!S_next(&item, &t) || !S_take(&item, c->type))
		return false;
	for (;;) {
		rest = item;
		if (!S_next(&rest, &t))
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

	if (!S_same_span(w, b->head, a->head, false) ||
	    !S_same_span(w, b->tail, a->tail, false))
		return false;
	for (;;) {
		const struct span *sb = S_kept(w, b, &ib);
		const struct span *sa = S_old(w, a, &ia);

		if (!sb || !sa)
			return sb == sa;
		if (!S_same_span(w, *sb, *sa, S_is_column(*sb)))
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
		counts[i] = S_counts(&w, &p->rename[i]);
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
		     : S_same_span(&w, S_whole(o->before), S_whole(o->after),
				   false);
	return 0;
}
