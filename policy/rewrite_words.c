/*
 * rewrite_words.c - two texts token by token, but for declared renames
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy/rewrite_parts.h"

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
	bool behind_dot;	/* of what stands in front of it */
	struct token of;
	enum place_parent parent;
	struct token named;	/* the parent, in AFTER */
};

bool
rewrite_next(struct span *s, struct token *t)
{
	const char *p = s->at;

	token_next(&p, t);
	if (t->kind == TOKEN_END || t->at >= s->end)
		return false;
	s->at = p;
	return true;
}

struct span
rewrite_whole(const char *sql)
{
	return (struct span){ sql, sql + strlen(sql) };
}

bool
rewrite_names(const struct token *t, const char *name, bool exact)
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
	struct span s = rewrite_whole(sql);
	struct token t;

	while (rewrite_next(&s, &t)) {
		if ((S_identifier(&t) || t.kind == TOKEN_STRING) &&
		    rewrite_names(&t, name, false))
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

bool
rewrite_counts(const struct rewrite *w, const struct policy_rename *r)
{
	const char *before = w->o->before;

	if (!r->table)
		return S_mentions(before, r->from);
	return strcasecmp(w->o->table, r->table) == 0 ||
	       S_mentions(before, S_old_table(w->p, r->table));
}

/* The text calls the table so: "t AS x", "t x". */
static bool
S_is_alias(const char *sql, const char *table, const struct token *alias)
{
	struct span s = rewrite_whole(sql);
	struct token t;
	bool behind = false;

	while (rewrite_next(&s, &t)) {
		if (behind && t.len == alias->len &&
		    strncasecmp(t.at, alias->at, t.len) == 0)
			return true;
		behind = (behind && token_is(&t, "as")) ||
			 (S_identifier(&t) && rewrite_names(&t, table, false));
	}
	return false;
}

/* What stands in front of "." may be the table that the column is of. */
static bool
S_may_have(const struct rewrite *w, const struct token *of, const char *table)
{
	const char *old = S_old_table(w->p, table);

	if (rewrite_names(of, old, false) || token_is(of, "excluded"))
		return true;
	if (token_is(of, "new") || token_is(of, "old"))
		return strcasecmp(w->o->table, table) == 0;
	return S_is_alias(w->o->before, old, of);
}

/* A rename made b what a is. */
static bool
S_is_renamed(const struct rewrite *w, const struct policy_rename *r,
	     const struct token *b, const struct token *a,
	     const struct place *at)
{
	if (!rewrite_names(b, r->from, false) || !rewrite_names(a, r->to, true))
		return false;
	if (!r->table)
		return true;
	if (at->parent == PLACE_COLUMNS)
		return rewrite_names(&at->named, r->table, false);
	return !at->behind_dot || S_may_have(w, &at->of, r->table);
}

/*
 * In the table's own text a column's old name in double quotes is a string
 * once no column is called so: SQLite takes it, and it means nothing.
 */
static bool
S_is_left(const struct rewrite *w, const struct token *t,
	  const struct place *at)
{
	if (t->kind != TOKEN_QUOTED || *t->at != '"' || at->table ||
	    at->parent == PLACE_NAME || strcmp(w->o->type, "table") != 0)
		return false;
	for (size_t i = 0; i < w->p->nrename; i++) {
		const struct policy_rename *r = &w->p->rename[i];

		if (r->table && strcasecmp(w->o->table, r->table) == 0 &&
		    rewrite_names(t, r->from, false) &&
		    (at->parent != PLACE_COLUMNS ||
		     rewrite_names(&at->named, r->table, false)))
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
		return at->verbatim || !S_is_left(w, b, at);
	if (at->verbatim || !S_identifier(a) ||
	    !(S_identifier(b) || (at->table && b->kind == TOKEN_STRING)))
		return false;
	for (size_t i = 0; i < w->p->nrename; i++)
		if (w->counts[i] &&
		    S_is_renamed(w, &w->p->rename[i], b, a, at))
			return true;
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
	static const char *const values[] = { "default", "collate",
					      "constraint", NULL };

	at->behind_dot = token_is(b, ".");
	if (!at->behind_dot)
		at->of = *b;
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

bool
rewrite_same(const struct rewrite *w, struct span b, struct span a,
	     bool column)
{
	struct place at = { .column = column };
	struct token tb, ta;

	for (;;) {
		bool more_b = rewrite_next(&b, &tb);
		bool more_a = rewrite_next(&a, &ta);

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
