/*
 * judge.c - holds a delta against a policy, row by row
 */
#include "policy/judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/judge_parts.h"

static const enum violation_rule S_no_row[POLICY_KINDS] = {
	[POLICY_ADDED] = VIOLATION_ADDED,
	[POLICY_REMOVED] = VIOLATION_REMOVED,
	[POLICY_CHANGED] = VIOLATION_CHANGED,
};

static enum policy_kind
S_kind(enum wire_change change)
{
	return change == WIRE_ADDED ? POLICY_ADDED :
	       change == WIRE_REMOVED ? POLICY_REMOVED : POLICY_CHANGED;
}

int
judge_new(struct judge **j, struct policy *p, struct fault *f)
{
	OWN_JUDGE(got);
	int rc;

	got = calloc(1, sizeof(*got));
	if (!got)
		return fault_set(f, FAULT_TROUBLE, "out of memory: policy");
	got->p = p;
	rc = match_trial_init(&got->trial, p, f);
	got->table = calloc(p->ntable + 1, sizeof(*got->table));
	if (!rc && !got->table)
		rc = fault_set(f, FAULT_TROUBLE, "out of memory: policy");
	if (rc)
		return rc;
	*j = got;
	got = NULL;
	return 0;
}

void
judge_free(struct judge *j)
{
	if (!j)
		return;
	judge_rows_free(j);
	match_trial_free(&j->trial);
	violations_free(&j->v);
	free(j->table);
	free(j->allowed);
	free(j);
}

const struct violations *
judge_violations(const struct judge *j)
{
	return &j->v;
}

struct violation_at
judge_at(const struct judge *j, enum violation_rule rule,
	 const cJSON *sentence)
{
	return (struct violation_at){
		.rule = rule,
		.json = &j->p->json,
		.sentence = sentence,
	};
}

const struct changes_cell *
judge_before(const struct changes_table *t, const struct changes_row *row,
	     uint32_t i)
{
	int32_t other = t->after.other[i];

	if (!row->before)
		return NULL;
	if (other >= 0)
		return &row->before[other];
	return t->own[i] == CHANGES_DEFAULT ? &t->dflt[i] : NULL;
}

int32_t
judge_first_changed(const struct changes_table *t,
		    const struct changes_row *row)
{
	for (uint32_t i = 0; i < t->after.count; i++)
		if (!changes_unchanged(t, row, i))
			return (int32_t)i;
	return -1;
}

void
judge_show(struct violation_at *at, const struct changes_table *t,
	   const struct changes_row *row, int32_t i)
{
	if (i < 0)
		return;
	at->column = t->after.name[i];
	at->after = &row->after[i];
	if (row->before && t->after.other[i] >= 0)
		at->before = &row->before[t->after.other[i]];
}

/* The index of exactly this name; -1 and a violation: there is none. */
static int
S_resolve(struct judge *j, const struct changes_table *t,
	  const struct changes_columns *c, const char *name,
	  enum violation_rule rule, const cJSON *sentence, int32_t *index,
	  struct fault *f)
{
	struct violation_at at = judge_at(j, rule, sentence);

	*index = changes_find(c, name);
	if (*index >= 0 && strcmp(c->name[*index], name) == 0)
		return 0;
	*index = -1;
	at.t = t;
	at.column = name;
	return violations_add(&j->v, &at, f, c == &t->key
			      ? "it is no column of the table's key"
			      : "the table has no such column");
}

static int
S_resolve_rules(struct judge *j, const struct changes_table *t,
		const struct changes_columns *c, struct policy_rules *rules,
		enum violation_rule rule, struct fault *f)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < rules->n; i++) {
		struct policy_rule *r = &rules->item[i];

		rc = S_resolve(j, t, c, r->column, rule, r->at, &r->index, f);
	}
	return rc;
}

static int
S_resolve_columns(struct judge *j, const struct changes_table *t,
		  const struct policy_section *s, struct fault *f)
{
	int32_t index;
	int rc = 0;

	free(j->allowed);
	j->width = t->after.count;
	j->allowed = calloc(j->width + 1u, sizeof(*j->allowed));
	if (!j->allowed)
		return fault_set(f, FAULT_TROUBLE, "out of memory: policy");
	for (uint32_t i = 0; rc == 0 && i < s->ncolumn; i++) {
		rc = S_resolve(j, t, &t->after, s->column[i],
			       VIOLATION_COLUMNS, s->columns_at, &index, f);
		if (index >= 0)
			j->allowed[index] = true;
	}
	return rc;
}

static int
S_start_section(struct judge *j, const struct changes_table *t,
		enum policy_kind kind, struct fault *f)
{
	struct policy_section *s = &j->now->section[kind];
	const struct changes_columns *side =
		kind == POLICY_REMOVED ? &t->before : &t->after;
	int rc = S_resolve_rules(j, t, side, &s->each, VIOLATION_EACH, f);

	if (!rc && s->columns_at)
		rc = S_resolve_columns(j, t, s, f);
	for (uint32_t i = 0; rc == 0 && i < s->npattern; i++) {
		struct policy_pattern *p = &s->pattern[i];

		rc = S_resolve_rules(j, t, &t->key, &p->key, VIOLATION_ROWS,
				     f);
		if (!rc)
			rc = S_resolve_rules(j, t, side, &p->cells,
					     VIOLATION_ROWS, f);
	}
	if (!rc && s->rows_at && !j->state->table.name)
		rc = changes_table_copy(t, &j->state->table, f);
	return rc;
}

static int
S_table(void *arg, const struct changes_table *t, struct fault *f)
{
	struct judge *j = arg;
	struct violation_at at = judge_at(j, VIOLATION_TABLES, NULL);
	size_t i = 0;
	int rc = 0;

	violations_scope(&j->v);
	memset(j->count, 0, sizeof(j->count));
	judge_columns(j, t);
	j->now = NULL;
	while (i < j->p->ntable && strcmp(j->p->table[i].name, t->name))
		i++;
	if (i == j->p->ntable)
		return 0;
	if (j->p->table[i].seen) {
		at.sentence = j->p->table[i].at;
		at.t = t;
		return violations_add(&j->v, &at, f, "a second table is shown"
				      " under this name");
	}
	j->now = &j->p->table[i];
	j->state = &j->table[i];
	j->now->seen = true;
	for (int k = 0; rc == 0 && k < POLICY_KINDS; k++)
		if (j->now->section[k].at)
			rc = S_start_section(j, t, (enum policy_kind)k, f);
	return rc;
}

static int
S_forbidden(struct judge *j, const struct changes_table *t,
	    enum policy_kind kind, const struct changes_row *row,
	    struct fault *f)
{
	static const char *const what[POLICY_KINDS] = {
		[POLICY_ADDED] = "a row was added, and none may be",
		[POLICY_REMOVED] = "a row was removed, and none may be",
		[POLICY_CHANGED] = "a row changed, and none may",
	};
	struct violation_at at =
		judge_at(j, S_no_row[kind],
			 j->now ? j->now->at : j->p->tables_at);

	at.t = t;
	at.row = row;
	if (kind == POLICY_CHANGED)
		judge_show(&at, t, row, judge_first_changed(t, row));
	return violations_add(&j->v, &at, f, "%s", what[kind]);
}

/* The first row that is one too many is named. */
static int
S_too_many(struct judge *j, const struct changes_table *t,
	   const struct policy_section *s, enum policy_kind kind,
	   const struct changes_row *row, struct fault *f)
{
	struct violation_at at = judge_at(j, VIOLATION_COUNT, s->count_at);

	at.t = t;
	at.row = row;
	if (kind == POLICY_CHANGED)
		judge_show(&at, t, row, judge_first_changed(t, row));
	return violations_add(&j->v, &at, f, "one row more than may be");
}

static int
S_columns(struct judge *j, const struct changes_table *t,
	  const struct policy_section *s, const struct changes_row *row,
	  struct fault *f)
{
	struct violation_at at;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < j->width; i++) {
		if (j->allowed[i] || changes_unchanged(t, row, i))
			continue;
		at = judge_at(j, VIOLATION_COLUMNS, s->columns_at);
		at.t = t;
		at.row = row;
		judge_show(&at, t, row, (int32_t)i);
		rc = violations_add(&j->v, &at, f,
				    "the column may not change");
	}
	return rc;
}

static int
S_each(struct judge *j, const struct changes_table *t,
       const struct policy_section *s, enum policy_kind kind,
       const struct changes_row *row, struct fault *f)
{
	const struct changes_cell *cells = kind == POLICY_REMOVED
					   ? row->before : row->after;
	struct violation_at at;
	int rc = 0;

	for (uint32_t k = 0; rc == 0 && k < s->each.n; k++) {
		const struct policy_rule *r = &s->each.item[k];
		const struct changes_cell *before = NULL;

		if (r->index < 0)
			continue;
		if (kind == POLICY_CHANGED)
			before = judge_before(t, row, (uint32_t)r->index);
		if (match_cell(r, before, &cells[r->index], &j->trial))
			continue;
		at = judge_at(j, VIOLATION_EACH, r->at);
		at.t = t;
		at.row = row;
		at.column = r->column;
		if (kind == POLICY_REMOVED)
			at.before = &cells[r->index];
		else
			judge_show(&at, t, row, r->index);
		rc = violations_add(&j->v, &at, f, "the cell is not what each"
				    " row's must be");
	}
	return rc;
}

static int
S_row(void *arg, const struct changes_table *t, const struct changes_row *row,
      struct fault *f)
{
	struct judge *j = arg;
	enum policy_kind kind = S_kind(row->change);
	const struct policy_section *s;
	int rc = 0;

	j->count[kind]++;
	if (j->now && j->now->any)
		return 0;
	s = j->now ? &j->now->section[kind] : NULL;
	if (!s || !s->at)
		return S_forbidden(j, t, kind, row, f);
	if (s->count_at && j->count[kind] == s->max + 1)
		rc = S_too_many(j, t, s, kind, row, f);
	if (!rc && s->columns_at)
		rc = S_columns(j, t, s, row, f);
	if (!rc && s->each.n)
		rc = S_each(j, t, s, kind, row, f);
	if (!rc && s->rows_at)
		rc = judge_hold(j, t, kind, row, f);
	return rc;
}

static void
S_allowed(const struct policy_section *s, char *text, size_t room)
{
	if (s->min == s->max)
		(void)snprintf(text, room, "%" PRIu64 " must", s->min);
	else if (s->max == INT64_MAX)
		(void)snprintf(text, room, "%" PRIu64 " or more must", s->min);
	else
		(void)snprintf(text, room, "%" PRIu64 " to %" PRIu64 " must",
			       s->min, s->max);
}

static int
S_table_end(void *arg, const struct changes_table *t,
	    const struct changes_counts *n, struct fault *f)
{
	static const char *const verb[POLICY_KINDS] = {
		[POLICY_ADDED] = "were added",
		[POLICY_REMOVED] = "were removed",
		[POLICY_CHANGED] = "changed",
	};
	struct judge *j = arg;
	char allowed[64];
	int rc = 0;

	(void)n;
	for (int k = 0; rc == 0 && j->now && k < POLICY_KINDS; k++) {
		const struct policy_section *s = &j->now->section[k];
		struct violation_at at =
			judge_at(j, VIOLATION_COUNT, s->count_at);

		at.t = t;
		if (!s->count_at ||
		    (j->count[k] >= s->min && j->count[k] <= s->max))
			continue;
		S_allowed(s, allowed, sizeof(allowed));
		rc = violations_add(&j->v, &at, f, "%" PRIu64 " rows %s, and"
				    " %s", j->count[k], verb[k], allowed);
	}
	return rc;
}

static int
S_setting(void *arg, const char *name, const struct cell *before,
	  const struct cell *after, bool matters, struct fault *f)
{
	return judge_setting(arg, name, before, after, matters, f);
}

static int
S_object(void *arg, const struct changes_object *o, struct fault *f)
{
	return judge_object(arg, o, f);
}

struct changes_sink
judge_sink(struct judge *j)
{
	return (struct changes_sink){
		.arg = j,
		.setting = S_setting,
		.object = S_object,
		.table = S_table,
		.row = S_row,
		.table_end = S_table_end,
	};
}

int
judge_end(struct judge *j, struct fault *f)
{
	int rc = judge_patterns(j, f);

	for (size_t i = 0; rc == 0 && i < j->p->ntable; i++) {
		const struct policy_table *t = &j->p->table[i];
		struct violation_at at =
			judge_at(j, VIOLATION_TABLES, t->at);

		at.table = t->name;
		violations_scope(&j->v);
		if (!t->seen)
			rc = violations_add(&j->v, &at, f, "neither state has"
					    " such a table");
	}
	return rc ? rc : judge_undone(j, f);
}
