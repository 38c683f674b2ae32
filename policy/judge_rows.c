/*
 * judge_rows.c - patterns against rows, and the names that patterns bind
 *
 * 1. A pattern that is like exactly one row binds its free names to that
 *    row's cells. All patterns are looked at before any name is bound, so
 *    the order of tables and patterns changes nothing.
 * 2. Two patterns that give one name two values break the policy.
 * 3. Patterns with names are looked at again, until no name is bound anew.
 * 4. Then each pattern is like exactly one row, and each row like exactly
 *    one pattern, or the policy is broken.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "policy/judge_parts.h"

static int
S_no_memory(struct fault *f)
{
	return fault_set(f, FAULT_TROUBLE, "out of memory: rows");
}

static void
S_copy_cells(const struct changes_cell *from, uint32_t n,
	     struct changes_cell **to, unsigned char **room)
{
	for (uint32_t i = 0; i < n; i++) {
		struct changes_cell *c = (*to)++;

		*c = from[i];
		c->at = *room;
		if (from[i].cell.bytes)
			c->cell.bytes = *room + (from[i].cell.bytes -
						 from[i].at);
		memcpy(*room, from[i].at, from[i].len);
		*room += from[i].len;
	}
}

static size_t
S_bytes(const struct changes_cell *c, uint32_t n)
{
	size_t sum = 0;

	for (uint32_t i = 0; c && i < n; i++)
		sum += c[i].len;
	return sum;
}

static int
S_keep(struct judge *j, const struct changes_table *t,
       const struct changes_row *row, struct judge_held *h, struct fault *f)
{
	uint32_t nkey = t->key.count;
	uint32_t nbefore = row->before ? t->before.count : 0;
	uint32_t nafter = row->after ? t->after.count : 0;
	size_t n = S_bytes(row->key, nkey) + S_bytes(row->before, nbefore) +
		   S_bytes(row->after, nafter);
	struct changes_cell *to;
	unsigned char *room;

	*h = (struct judge_held){ .row = { .change = row->change } };
	h->cells = to = calloc((size_t)nkey + nbefore + nafter + 1,
			       sizeof(*to));
	h->bytes = room = malloc(n + 1);
	if (!to || !room)
		return S_no_memory(f);
	j->held_bytes += n;
	h->row.key = to;
	S_copy_cells(row->key, nkey, &to, &room);
	if (row->before)
		h->row.before = to;
	S_copy_cells(row->before, nbefore, &to, &room);
	if (row->after)
		h->row.after = to;
	S_copy_cells(row->after, nafter, &to, &room);
	return 0;
}

int
judge_hold(struct judge *j, const struct changes_table *t,
	   enum policy_kind kind, const struct changes_row *row,
	   struct fault *f)
{
	struct judge_section *s = &j->state->section[kind];
	size_t most = j->now->section[kind].npattern + JUDGE_HELD_EXTRA;
	size_t room = s->room ? 2 * s->room : 8;
	struct judge_held *grown;

	if (s->nheld == most || j->held_bytes > JUDGE_HELD_BYTES_MAX) {
		s->unheld++;
		return 0;
	}
	if (s->nheld == s->room) {
		grown = reallocarray(s->held, room, sizeof(*grown));
		if (!grown)
			return S_no_memory(f);
		s->held = grown;
		s->room = room;
	}
	return S_keep(j, t, row, &s->held[s->nheld++], f);
}

void
judge_rows_free(struct judge *j)
{
	for (size_t i = 0; j->table && i < j->p->ntable; i++) {
		struct judge_table *t = &j->table[i];

		for (int k = 0; k < POLICY_KINDS; k++) {
			struct judge_section *s = &t->section[k];

			for (size_t n = 0; n < s->nheld; n++) {
				free(s->held[n].cells);
				free(s->held[n].bytes);
			}
			free(s->held);
		}
		changes_table_free(&t->table);
	}
}

/* How far a pattern and a row went together, and what parted them. */
struct miss {
	uint32_t depth;
	int32_t column;		/* of AFTER, or of BEFORE in removed rows */
	bool in_key;
};

static bool
S_asked_for(const struct policy_rules *rules, uint32_t column)
{
	for (uint32_t i = 0; i < rules->n; i++)
		if (rules->item[i].index == (int32_t)column)
			return true;
	return false;
}

static bool
S_key_like(const struct policy_pattern *p, const struct changes_row *row,
	   struct match_trial *trial, struct miss *m)
{
	for (uint32_t i = 0; i < p->key.n; i++, m->depth++) {
		const struct policy_rule *r = &p->key.item[i];

		m->in_key = true;
		if (r->index < 0 ||
		    !match_cell(r, NULL, &row->key[r->index], trial))
			return false;
	}
	m->in_key = false;
	return true;
}

static bool
S_like(const struct changes_table *t, const struct policy_pattern *p,
       const struct changes_row *row, struct match_trial *trial,
       struct miss *m)
{
	bool changed = row->change == WIRE_CHANGED;
	const struct changes_cell *cells = row->after ? row->after
						      : row->before;

	*m = (struct miss){ .column = -1 };
	match_trial_reset(trial);
	if (!S_key_like(p, row, trial, m))
		return false;
	for (uint32_t i = 0; i < p->cells.n; i++, m->depth++) {
		const struct policy_rule *r = &p->cells.item[i];
		const struct changes_cell *before = NULL;

		m->column = r->index;
		if (r->index < 0)
			return false;
		if (changed)
			before = judge_before(t, row, (uint32_t)r->index);
		if (!match_cell(r, before, &cells[r->index], trial))
			return false;
	}
	for (uint32_t i = 0; changed && i < t->after.count; i++) {
		m->column = (int32_t)i;
		if (!changes_unchanged(t, row, i) && !S_asked_for(&p->cells, i))
			return false;
	}
	return true;
}

/* The name that some pattern would bind, and where. */
struct proposal {
	const struct changes_cell *cell;
	const cJSON *at;
};

static bool
S_has_free_names(const struct judge *j, const struct policy_rules *rules)
{
	for (uint32_t i = 0; i < rules->n; i++)
		if (rules->item[i].kind == POLICY_BIND &&
		    !j->p->bind[rules->item[i].bind].cell)
			return true;
	return false;
}

static int
S_propose(struct judge *j, const struct policy_pattern *p, const char *table,
	  struct proposal *all, struct fault *f)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < j->trial.n; i++) {
		uint32_t bind = j->trial.touched[i];
		const struct changes_cell *cell = j->trial.got[bind];
		char former[JSON_POINTER_MAX];
		struct violation_at at = judge_at(j, VIOLATION_BIND, p->at);

		if (!all[bind].cell) {
			all[bind] = (struct proposal){ cell, p->at };
			continue;
		}
		if (changes_equal(all[bind].cell, cell))
			continue;
		json_pointer(&j->p->json, all[bind].at, former);
		at.table = table;
		at.column = j->p->bind[bind].name;
		at.before = all[bind].cell;
		at.after = cell;
		violations_scope(&j->v);
		rc = violations_add(&j->v, &at, f, "the name stands for two"
				    " values, the former by %s", former);
	}
	return rc;
}

/* Looks for the one row that the pattern is like. */
static int
S_try_pattern(struct judge *j, const struct judge_table *t, int kind,
	      const struct policy_pattern *p, struct proposal *all,
	      struct fault *f)
{
	const struct judge_section *s = &t->section[kind];
	const struct judge_held *one = NULL;
	struct miss m;

	if (!S_has_free_names(j, &p->key) && !S_has_free_names(j, &p->cells))
		return 0;
	for (size_t i = 0; i < s->nheld; i++) {
		if (!S_like(&t->table, p, &s->held[i].row, &j->trial, &m))
			continue;
		if (one)
			return 0;
		one = &s->held[i];
	}
	if (!one)
		return 0;
	(void)S_like(&t->table, p, &one->row, &j->trial, &m);
	return S_propose(j, p, t->table.name, all, f);
}

/* *more: a name was bound, so patterns may be like other rows now. */
static int
S_accept(struct judge *j, const struct proposal *all, bool *more,
	 struct fault *f)
{
	*more = false;
	for (size_t i = 0; i < j->p->nbind; i++) {
		struct policy_bind *b = &j->p->bind[i];

		if (!all[i].cell || b->cell)
			continue;
		b->cell = malloc(all[i].cell->len);
		if (!b->cell)
			return S_no_memory(f);
		b->len = all[i].cell->len;
		b->bound_at = all[i].at;
		memcpy(b->cell, all[i].cell->at, b->len);
		*more = true;
	}
	return 0;
}

/* Calls fn for each pattern of each section that was met. */
static int
S_visit(struct judge *j, struct proposal *all,
	int (*fn)(struct judge *j, const struct judge_table *t, int kind,
		  const struct policy_pattern *p, struct proposal *all,
		  struct fault *f), struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; i < j->p->ntable; i++) {
		const struct policy_table *pt = &j->p->table[i];

		for (int k = 0; pt->seen && k < POLICY_KINDS; k++) {
			const struct policy_section *s = &pt->section[k];

			violations_scope(&j->v);
			for (uint32_t n = 0; rc == 0 && n < s->npattern; n++)
				rc = fn(j, &j->table[i], k, &s->pattern[n],
					all, f);
		}
	}
	return rc;
}

static int
S_bind_names(struct judge *j, struct fault *f)
{
	struct proposal *all = calloc(j->p->nbind + 1, sizeof(*all));
	bool more = j->p->nbind > 0;
	int rc = all ? 0 : S_no_memory(f);

	while (rc == 0 && more) {
		memset(all, 0, j->p->nbind * sizeof(*all));
		rc = S_visit(j, all, S_try_pattern, f);
		if (!rc)
			rc = S_accept(j, all, &more, f);
	}
	free(all);
	return rc;
}

/* What parted the pattern from the row that was nearest to it. */
static void
S_show_miss(struct violation_at *at, const struct judge_table *t,
	    const struct judge_held *h, const struct miss *m)
{
	at->t = &t->table;
	at->row = &h->row;
	if (m->in_key || m->column < 0)
		return;
	if (h->row.after) {
		judge_show(at, &t->table, &h->row, m->column);
	} else {
		at->column = t->table.before.name[m->column];
		at->before = &h->row.before[m->column];
	}
}

static int
S_judge_pattern(struct judge *j, const struct judge_table *t, int kind,
		const struct policy_pattern *p, struct proposal *all,
		struct fault *f)
{
	const struct judge_section *s = &t->section[kind];
	struct violation_at at = judge_at(j, VIOLATION_ROWS, p->at);
	const struct judge_held *near = NULL;
	struct miss m, nearest = { .column = -1 };
	size_t like = 0;

	(void)all;
	at.table = t->table.name;
	for (size_t i = 0; i < s->nheld; i++) {
		struct judge_held *h = &s->held[i];

		if (S_like(&t->table, p, &h->row, &j->trial, &m)) {
			like++;
			h->taken++;
		} else if (!near || m.depth > nearest.depth) {
			near = h;
			nearest = m;
		}
	}
	if (like == 1)
		return 0;
	if (like > 1)
		return violations_add(&j->v, &at, f, "%zu rows are like this"
				      " pattern, and one must be", like);
	if (!near || nearest.depth == 0)
		return violations_add(&j->v, &at, f,
				      "no row is like this pattern");
	S_show_miss(&at, t, near, &nearest);
	return violations_add(&j->v, &at, f,
			      "no row is like this pattern; this is nearest");
}

static int
S_judge_rows(struct judge *j, const struct judge_table *t, int kind,
	     const cJSON *rows_at, struct fault *f)
{
	const struct judge_section *s = &t->section[kind];
	struct violation_at at;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->nheld; i++) {
		const struct judge_held *h = &s->held[i];

		if (h->taken == 1)
			continue;
		at = judge_at(j, VIOLATION_ROWS, rows_at);
		at.t = &t->table;
		at.row = &h->row;
		if (kind == POLICY_CHANGED)
			judge_show(&at, &t->table, &h->row,
				   judge_first_changed(&t->table, &h->row));
		rc = violations_add(&j->v, &at, f, h->taken
				    ? "more than one pattern is like this row"
				    : "no pattern is like this row");
	}
	if (rc || !s->unheld)
		return rc;
	at = judge_at(j, VIOLATION_ROWS, rows_at);
	at.t = &t->table;
	violations_scope(&j->v);
	return violations_add(&j->v, &at, f, "%" PRIu64 " rows more were not"
			      " looked at: there are more than patterns, or"
			      " they are too large", s->unheld);
}

int
judge_patterns(struct judge *j, struct fault *f)
{
	int rc = S_bind_names(j, f);

	if (!rc)
		rc = S_visit(j, NULL, S_judge_pattern, f);
	for (size_t i = 0; i < j->p->ntable; i++) {
		const struct policy_table *pt = &j->p->table[i];

		for (int k = 0; pt->seen && k < POLICY_KINDS; k++) {
			violations_scope(&j->v);
			if (!rc && pt->section[k].rows_at)
				rc = S_judge_rows(j, &j->table[i], k,
						  pt->section[k].rows_at, f);
		}
	}
	return rc;
}
