/*
 * changes.c - the helper's delta, each frame's shape and each count checked
 */
#include "cli/changes.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/own.h"

/* More than SQLite can be built to have. */
#define CHANGES_COLUMNS_MAX 32767

struct reader {
	struct ask_run *run;
	const struct renames *renames;
	const struct changes_sink *sink;
	struct changes *sum;
	bool open;			/* between TABLE and TABLE_END */
	struct changes_table table;
	struct changes_counts n;	/* counted here */
	struct changes_cell *cells;	/* owned; key, before, after */
	size_t room;
};

void
changes_free(struct changes *c)
{
	for (size_t i = 0; i < c->tables; i++)
		free(c->table[i].name);
	free(c->table);
	*c = (struct changes){ .table = NULL };
}

static void
S_free_reader(struct reader *r)
{
	changes_table_free(&r->table);
	free(r->cells);
}

static void
S_free_object(struct changes_object *o)
{
	free(o->type);
	free(o->name);
	free(o->table);
	free(o->type_before);
	free(o->name_before);
	free(o->table_before);
	free(o->before);
	free(o->after);
}

static int
S_get_change(struct wire_frame *fr, enum wire_change *change, struct fault *f)
{
	int64_t v;
	int rc = wire_get_int(fr, &v, f);

	if (rc)
		return rc;
	if (v != WIRE_ADDED && v != WIRE_REMOVED && v != WIRE_CHANGED)
		return ask_malformed(f, "no such change");
	*change = (enum wire_change)v;
	return 0;
}

static int
S_get_cell(struct wire_frame *fr, struct changes_cell *c, struct fault *f)
{
	int rc;

	c->at = fr->at;
	rc = wire_get(fr, &c->cell, f);
	c->len = (size_t)(fr->at - c->at);
	return rc;
}

static int
S_take_setting(struct reader *r, struct wire_frame *fr, struct fault *f)
{
	struct changes_cell before, after;
	OWN_MEM(char, name);
	bool matters;
	int rc = wire_get_text(fr, &name, f);

	if (!rc)
		rc = S_get_cell(fr, &before, f);
	if (!rc)
		rc = S_get_cell(fr, &after, f);
	if (!rc)
		rc = wire_get_done(fr, f);
	if (rc || changes_equal(&before, &after))
		return rc;
	matters = strcmp(name, "encoding") && strcmp(name, "page_size");
	r->sum->settings += matters;
	return r->sink->setting(r->sink->arg, name, &before.cell, &after.cell,
				matters, f);
}

/* Text, or NULL where the cell is null. */
static int
S_get_sql(struct wire_frame *fr, char **sql, struct fault *f)
{
	struct wire_frame peek = *fr;
	struct cell c;
	int rc = wire_get(&peek, &c, f);

	if (rc)
		return rc;
	if (c.tag != CELL_NULL)
		return wire_get_text(fr, sql, f);
	*fr = peek;
	return 0;
}

static int
S_get_side(struct wire_frame *fr, struct changes_stored *s, struct fault *f)
{
	int rc = 0;

	s->there = true;
	for (size_t i = 0; rc == 0 && i < WIRE_STORED; i++)
		rc = S_get_cell(fr, &s->cell[i], f);
	return rc;
}

static int
S_get_stored(struct wire_frame *fr, struct changes_object *o, struct fault *f)
{
	int64_t n, sides = o->change == WIRE_CHANGED ? 2 : 1;
	int rc = wire_get_int(fr, &n, f);

	if (rc || n == 0)
		return rc;
	if (n != sides * WIRE_STORED)
		return ask_malformed(f, "a schema object as it is stored");
	if (o->change != WIRE_ADDED)
		rc = S_get_side(fr, &o->stored_before, f);
	if (!rc && o->change != WIRE_REMOVED)
		rc = S_get_side(fr, &o->stored_after, f);
	return rc;
}

static int
S_take_object(struct reader *r, struct wire_frame *fr, struct fault *f)
{
	struct changes_object o __attribute__((cleanup(S_free_object))) = {
		.type = NULL,
	};
	int64_t structure = 0;
	int rc = S_get_change(fr, &o.change, f);

	if (!rc)
		rc = wire_get_text(fr, &o.type, f);
	if (!rc)
		rc = wire_get_text(fr, &o.name, f);
	if (!rc)
		rc = wire_get_text(fr, &o.table, f);
	if (!rc)
		rc = S_get_sql(fr, &o.before, f);
	if (!rc)
		rc = S_get_sql(fr, &o.after, f);
	if (!rc)
		rc = wire_get_int(fr, &structure, f);
	if (!rc)
		rc = S_get_sql(fr, &o.name_before, f);
	if (!rc)
		rc = S_get_sql(fr, &o.table_before, f);
	if (!rc)
		rc = S_get_sql(fr, &o.type_before, f);
	if (!rc)
		rc = S_get_stored(fr, &o, f);
	if (!rc)
		rc = wire_get_done(fr, f);
	if (rc)
		return rc;
	if ((o.change == WIRE_ADDED && o.before) ||
	    (o.change == WIRE_REMOVED && o.after) ||
	    (o.change != WIRE_CHANGED &&
	     (o.name_before || o.table_before || o.type_before)) ||
	    (structure != 0 && structure != 1))
		return ask_malformed(f, "a schema object");
	o.structure = structure == 1;
	changes_object_weigh(&o);
	r->sum->objects++;
	return r->sink->object(r->sink->arg, &o, f);
}

static int
S_get_columns(struct wire_frame *fr, struct changes_columns *c,
	      struct fault *f)
{
	int64_t n;
	int rc = wire_get_int(fr, &n, f);

	if (rc)
		return rc;
	if (n < 0 || n > CHANGES_COLUMNS_MAX)
		return ask_malformed(f, "no such number of columns");
	rc = changes_columns_init(c, (uint32_t)n, f);
	for (uint32_t i = 0; rc == 0 && i < c->count; i++)
		rc = wire_get_text(fr, &c->name[i], f);
	return rc;
}

/* Pairs the columns, and takes what AFTER's own hold by default. */
static int
S_get_own(struct reader *r, struct wire_frame *fr, struct fault *f)
{
	int64_t known;
	int rc = wire_get_int(fr, &known, f);

	if (rc)
		return rc;
	changes_table_pair(&r->table, r->renames);
	rc = changes_table_own(&r->table, known, fr->at,
			       (size_t)(fr->end - fr->at), f);
	fr->at = fr->end;
	return rc;
}

static int
S_room(struct reader *r, struct fault *f)
{
	const struct changes_table *t = &r->table;
	size_t need = (size_t)t->key.count + t->before.count + t->after.count;
	struct changes_cell *grown;

	if (need <= r->room)
		return 0;
	grown = reallocarray(r->cells, need, sizeof(*grown));
	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	r->cells = grown;
	r->room = need;
	return 0;
}

static int
S_take_table(struct reader *r, struct wire_frame *fr, struct fault *f)
{
	struct changes_table *t = &r->table;
	int64_t kind = 0;
	int rc;

	changes_table_free(t);
	r->n = (struct changes_counts){ .added = 0 };
	rc = wire_get_text(fr, &t->name, f);
	if (!rc)
		rc = wire_get_int(fr, &kind, f);
	if (!rc && (kind < WIRE_KEY_DECLARED || kind > WIRE_KEY_NONE))
		rc = ask_malformed(f, "a table's key");
	t->kind = (enum wire_key)kind;
	if (!rc)
		rc = S_get_columns(fr, &t->key, f);
	if (!rc && (kind == WIRE_KEY_NONE) != (t->key.count == 0))
		rc = ask_malformed(f, "a table's key");
	if (!rc)
		rc = S_get_columns(fr, &t->before, f);
	if (!rc)
		rc = S_get_columns(fr, &t->after, f);
	if (!rc)
		rc = S_get_own(r, fr, f);
	if (!rc)
		rc = S_room(r, f);
	if (rc)
		return rc;
	r->open = true;
	return r->sink->table ? r->sink->table(r->sink->arg, t, f) : 0;
}

/* A changed row that shows no change is a lie, or a fault of ours. */
static bool
S_differs(const struct changes_table *t, const struct changes_row *row)
{
	for (uint32_t i = 0; i < t->after.count; i++)
		if (!changes_unchanged(t, row, i))
			return true;
	return false;
}

static int
S_get_cells(struct wire_frame *fr, struct changes_cell **at, uint32_t n,
	    struct fault *f)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = S_get_cell(fr, (*at)++, f);
	return rc;
}

static int
S_take_row(struct reader *r, struct wire_frame *fr, struct fault *f)
{
	const struct changes_table *t = &r->table;
	struct changes_cell *at = r->cells;
	struct changes_row row = { .key = at };
	int rc = S_get_change(fr, &row.change, f);

	if (!rc)
		rc = S_get_cells(fr, &at, t->key.count, f);
	if (!rc && row.change != WIRE_ADDED) {
		row.before = at;
		rc = S_get_cells(fr, &at, t->before.count, f);
	}
	if (!rc && row.change != WIRE_REMOVED) {
		row.after = at;
		rc = S_get_cells(fr, &at, t->after.count, f);
	}
	if (!rc)
		rc = wire_get_done(fr, f);
	if (rc)
		return rc;
	if (row.change == WIRE_CHANGED &&
	    (t->kind == WIRE_KEY_NONE || !S_differs(t, &row)))
		return ask_malformed(f, "a changed row without a change");
	r->n.added += row.change == WIRE_ADDED;
	r->n.removed += row.change == WIRE_REMOVED;
	r->n.changed += row.change == WIRE_CHANGED;
	return r->sink->row(r->sink->arg, t, &row, f);
}

static int
S_keep_total(struct reader *r, char *name, struct fault *f)
{
	struct changes *s = r->sum;
	size_t room = s->room ? 2 * s->room : 16;
	struct changes_total *grown;

	if (s->tables == s->room) {
		grown = reallocarray(s->table, room, sizeof(*grown));
		if (!grown) {
			free(name);
			return fault_set(f, FAULT_TROUBLE, "out of memory");
		}
		s->table = grown;
		s->room = room;
	}
	s->table[s->tables++] = (struct changes_total){ name, r->n };
	s->rows += r->n.added + r->n.removed + r->n.changed;
	return 0;
}

static int
S_get_count(struct wire_frame *fr, uint64_t *v, struct fault *f)
{
	int64_t n;
	int rc = wire_get_int(fr, &n, f);

	if (rc)
		return rc;
	if (n < 0)
		return ask_malformed(f, "a negative count");
	*v = (uint64_t)n;
	return 0;
}

/* The helper's numbers must be ours, and the rows must add up. */
static bool
S_adds_up(const struct changes_counts *said, const struct changes_counts *n)
{
	return said->added == n->added && said->removed == n->removed &&
	       said->changed == n->changed &&
	       said->removed + said->changed <= said->rows_before &&
	       said->rows_before - said->removed + said->added ==
		       said->rows_after;
}

static int
S_take_table_end(struct reader *r, struct wire_frame *fr, struct fault *f)
{
	struct changes_counts said;
	OWN_MEM(char, name);
	int rc = ask_keep_text(r->run, fr, &name, f);

	if (!rc)
		rc = S_get_count(fr, &said.added, f);
	if (!rc)
		rc = S_get_count(fr, &said.removed, f);
	if (!rc)
		rc = S_get_count(fr, &said.changed, f);
	if (!rc)
		rc = S_get_count(fr, &said.rows_before, f);
	if (!rc)
		rc = S_get_count(fr, &said.rows_after, f);
	if (!rc)
		rc = wire_get_done(fr, f);
	if (rc)
		return rc;
	if (strcmp(name, r->table.name) || !S_adds_up(&said, &r->n))
		return ask_malformed(f, "a table's counts do not add up");
	r->n = said;
	r->open = false;
	if (r->sink->table_end)
		rc = r->sink->table_end(r->sink->arg, &r->table, &said, f);
	return rc ? rc : S_keep_total(r, TAKE_MEM(name), f);
}

static int
S_take(struct reader *r, struct wire_frame *fr, struct fault *f)
{
	if (r->open && fr->type == WIRE_ROW)
		return S_take_row(r, fr, f);
	if (r->open && fr->type == WIRE_TABLE_END)
		return S_take_table_end(r, fr, f);
	if (!r->open && fr->type == WIRE_TABLE)
		return S_take_table(r, fr, f);
	if (!r->open && fr->type == WIRE_SETTING)
		return S_take_setting(r, fr, f);
	if (!r->open && fr->type == WIRE_OBJECT)
		return S_take_object(r, fr, f);
	return ask_malformed(f, "a frame out of its place");
}

int
changes_read(struct ask_run *run, const struct renames *renames,
	     const struct changes_sink *sink, struct changes *c,
	     struct fault *f)
{
	struct reader r __attribute__((cleanup(S_free_reader))) = {
		.run = run,
		.renames = renames,
		.sink = sink,
		.sum = c,
	};
	struct wire_frame fr;
	int rc;

	while ((rc = ask_next(run, &fr, f)) == 0) {
		rc = S_take(&r, &fr, f);
		if (rc)
			return rc;
	}
	if (rc == 1)
		rc = ask_finish(run, f);
	if (rc)
		return rc;
	c->equal = c->settings == 0 && c->objects == 0 && c->rows == 0;
	if (r.open || c->equal != (run->verdict == WIRE_YES))
		return ask_malformed(f, "its verdict contradicts its delta");
	return 0;
}
