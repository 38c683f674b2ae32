/*
 * judge_schema.c - settings and schema objects against a policy
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy/judge_parts.h"
#include "policy/rewrite.h"

static bool
S_is(const struct cell *c, int64_t v, const char *text)
{
	if (text)
		return c->tag == CELL_TEXT && c->len == strlen(text) &&
		       memcmp(c->bytes, text, c->len) == 0;
	return c->tag == CELL_INT && c->integer == v;
}

int
judge_setting(struct judge *j, const char *name, const struct cell *before,
	      const struct cell *after, bool matters, struct fault *f)
{
	struct changes_cell b = { .cell = *before }, a = { .cell = *after };
	struct policy_setting *s = j->p->setting;
	struct policy_setting *end = s + j->p->nsetting;
	struct violation_at at;

	while (s < end && strcmp(s->name, name))
		s++;
	at = judge_at(j, VIOLATION_SETTINGS,
		      s < end ? s->at : j->p->settings_at);
	at.column = name;
	at.before = &b;
	at.after = &a;
	if (s == end)
		return matters ? violations_add(&j->v, &at, f,
						"no setting of this name may"
						" change") : 0;
	s->seen = true;
	if (S_is(before, s->from, s->from_text) &&
	    S_is(after, s->to, s->to_text))
		return 0;
	return violations_add(&j->v, &at, f, "the declared change is another");
}

static int
S_compare(const struct policy_object *o, const struct changes_object *c)
{
	int d = strcmp(c->type, o->type);

	return d ? d : strcasecmp(c->name, o->name);
}

/* The declaration of this very object, or NULL. */
static struct policy_object *
S_find(const struct policy *p, enum policy_object_list which,
       const struct changes_object *c)
{
	size_t low = 0, high = p->nobject[which];

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		struct policy_object *o = &p->object[which][mid];
		int d = S_compare(o, c);

		if (d == 0)
			return strcmp(o->name, c->name) ? NULL : o;
		if (d < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

static struct violation_at
S_at(const struct judge *j, enum violation_rule rule, const cJSON *sentence,
     const struct changes_object *o)
{
	struct violation_at at =
		judge_at(j, rule, sentence ? sentence : j->p->schema_at);

	at.table = o->table;
	return at;
}

/* The object's text is this one, and that is all of it. */
static bool
S_is_text(const struct changes_object *o, const char *sql)
{
	return !o->odd_after && strcmp(sql, o->after) == 0;
}

/* A sentence names a text: what is more than that none can name. */
static int
S_nameless(struct judge *j, const struct changes_object *o, struct fault *f)
{
	static const enum violation_rule rule[] = {
		[WIRE_ADDED] = VIOLATION_ADD,
		[WIRE_REMOVED] = VIOLATION_DROP,
		[WIRE_CHANGED] = VIOLATION_CHANGE,
	};
	static const char *const verb[] = {
		[WIRE_ADDED] = "was added",
		[WIRE_REMOVED] = "was dropped",
		[WIRE_CHANGED] = "changed",
	};
	struct violation_at at = S_at(j, rule[o->change], NULL, o);

	return violations_add(&j->v, &at, f, "%s %s %s, and no sentence can"
			      " name it: its type, name or table holds a NUL or"
			      " is no text", o->type, o->name,
			      verb[o->change]);
}

/* Added or removed. */
static int
S_come_or_gone(struct judge *j, const struct changes_object *o,
	       enum policy_object_list which, struct fault *f)
{
	bool added = which == POLICY_ADD_LIST;
	struct policy_object *d = S_find(j->p, which, o);
	struct violation_at at = S_at(j, added ? VIOLATION_ADD
					       : VIOLATION_DROP,
				      d ? d->at : NULL, o);

	if (!d)
		return violations_add(&j->v, &at, f, "%s %s was %s, and no"
				      " sentence allows it", o->type, o->name,
				      added ? "added" : "dropped");
	d->seen = true;
	if (!d->sql || S_is_text(o, d->sql))
		return 0;
	return violations_add(&j->v, &at, f, "%s %s was added with another"
			      " text than the declared one", o->type, o->name);
}

static void
S_see_rename(struct judge *j, const struct changes_object *o)
{
	for (size_t i = 0; i < j->p->nrename; i++) {
		struct policy_rename *r = &j->p->rename[i];

		if (!r->table && o->name_before &&
		    strcmp(o->type, "table") == 0 &&
		    strcmp(r->from, o->name_before) == 0 &&
		    strcmp(r->to, o->name) == 0)
			r->seen = true;
		/* Values that changed places are no renaming. */
		if (r->table && strcmp(o->type, "table") == 0 &&
		    strcmp(r->table, o->name) == 0)
			r->rewritten |= strcmp(o->before, o->after) != 0;
	}
}

static int
S_changed(struct judge *j, const struct changes_object *o, struct fault *f)
{
	struct policy_object *d = S_find(j->p, POLICY_CHANGE, o);
	const cJSON *claim = NULL;
	struct violation_at at;
	bool explained = false;
	int rc;

	S_see_rename(j, o);
	if (d) {
		d->seen = true;
		at = S_at(j, VIOLATION_CHANGE, d->at, o);
		if (!d->sql || S_is_text(o, d->sql))
			return 0;
		return violations_add(&j->v, &at, f, "the new text of %s %s"
				      " is not the declared one", o->type,
				      o->name);
	}
	rc = rewrite_explained(j->p, o, &explained, &claim, f);
	if (rc || explained)
		return rc;
	at = S_at(j, VIOLATION_CHANGE, claim, o);
	if (claim)
		return violations_add(&j->v, &at, f, "%s %s changed by more"
				      " than the declared columns and names",
				      o->type, o->name);
	return violations_add(&j->v, &at, f, "%s %s changed%s, and no sentence"
			      " allows it", o->type, o->name,
			      o->structure ? "" : " in its text");
}

int
judge_object(struct judge *j, const struct changes_object *o, struct fault *f)
{
	violations_scope(&j->v);
	if (o->odd_name)
		return S_nameless(j, o, f);
	switch (o->change) {
	case WIRE_ADDED:
		return S_come_or_gone(j, o, POLICY_ADD_LIST, f);
	case WIRE_REMOVED:
		return S_come_or_gone(j, o, POLICY_DROP, f);
	case WIRE_CHANGED:
		break;
	}
	return S_changed(j, o, f);
}

/* The index of exactly this name, or -1. */
static int32_t
S_column(const struct changes_columns *c, const char *name)
{
	int32_t i = changes_find(c, name);

	return i >= 0 && strcmp(c->name[i], name) == 0 ? i : -1;
}

static void
S_see_column(struct policy_column *c, const struct changes_table *t,
	     const struct changes_columns *side)
{
	int32_t i;

	if (strcmp(c->table, t->name))
		return;
	i = S_column(side, c->name);
	c->seen |= i >= 0 && side->other[i] < 0;
}

void
judge_columns(struct judge *j, const struct changes_table *t)
{
	struct policy *p = j->p;

	/* A column of a new table is not added to it. */
	if (t->before.count == 0 || t->after.count == 0)
		return;
	for (size_t i = 0; i < p->ncolumn[POLICY_ADD_COLUMN]; i++)
		S_see_column(&p->column[POLICY_ADD_COLUMN][i], t, &t->after);
	for (size_t i = 0; i < p->ncolumn[POLICY_DROP_COLUMN]; i++)
		S_see_column(&p->column[POLICY_DROP_COLUMN][i], t,
			     &t->before);
	for (size_t i = 0; i < p->nrename; i++) {
		struct policy_rename *r = &p->rename[i];
		int32_t b, a;

		if (!r->table || strcmp(r->table, t->name))
			continue;
		b = S_column(&t->before, r->from);
		a = S_column(&t->after, r->to);
		r->seen |= r->rewritten && b >= 0 && a >= 0 &&
			   t->before.other[b] == a;
	}
}

static int
S_undone_objects(struct judge *j, enum policy_object_list which,
		 struct fault *f)
{
	static const enum violation_rule rule[] = {
		[POLICY_ADD_LIST] = VIOLATION_ADD,
		[POLICY_DROP] = VIOLATION_DROP,
		[POLICY_CHANGE] = VIOLATION_CHANGE,
	};
	static const char *const verb[] = {
		[POLICY_ADD_LIST] = "added",
		[POLICY_DROP] = "dropped",
		[POLICY_CHANGE] = "changed",
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < j->p->nobject[which]; i++) {
		const struct policy_object *o = &j->p->object[which][i];
		struct violation_at at = judge_at(j, rule[which], o->at);

		violations_scope(&j->v);
		if (!o->seen)
			rc = violations_add(&j->v, &at, f, "%s %s was not %s",
					    o->type, o->name, verb[which]);
	}
	return rc;
}

static int
S_undone_columns(struct judge *j, enum policy_column_list which,
		 struct fault *f)
{
	bool add = which == POLICY_ADD_COLUMN;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < j->p->ncolumn[which]; i++) {
		const struct policy_column *c = &j->p->column[which][i];
		struct violation_at at =
			judge_at(j, add ? VIOLATION_ADD_COLUMN
					: VIOLATION_DROP_COLUMN, c->at);

		violations_scope(&j->v);
		at.table = c->table;
		at.column = c->name;
		if (!c->seen)
			rc = violations_add(&j->v, &at, f,
					    "the column was not %s",
					    add ? "added" : "dropped");
	}
	return rc;
}

static int
S_undone_renames(struct judge *j, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < j->p->nrename; i++) {
		const struct policy_rename *r = &j->p->rename[i];
		struct violation_at at =
			judge_at(j, r->table ? VIOLATION_RENAME_COLUMN
					     : VIOLATION_RENAME_TABLE, r->at);

		violations_scope(&j->v);
		at.table = r->table;
		if (!r->seen)
			rc = violations_add(&j->v, &at, f, "%s did not become"
					    " %s", r->from, r->to);
	}
	return rc;
}

int
judge_undone(struct judge *j, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < j->p->nsetting; i++) {
		const struct policy_setting *s = &j->p->setting[i];
		struct violation_at at =
			judge_at(j, VIOLATION_SETTINGS, s->at);

		at.column = s->name;
		if (!s->seen)
			rc = violations_add(&j->v, &at, f,
					    "the setting did not change");
	}
	for (int i = 0; rc == 0 && i < POLICY_OBJECT_LISTS; i++)
		rc = S_undone_objects(j, (enum policy_object_list)i, f);
	for (int i = 0; rc == 0 && i < POLICY_COLUMN_LISTS; i++)
		rc = S_undone_columns(j, (enum policy_column_list)i, f);
	return rc ? rc : S_undone_renames(j, f);
}
