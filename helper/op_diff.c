/*
 * op_diff.c - the logical difference of two recovered states
 */
#include <string.h>

#include "helper/facts.h"
#include "helper/ops.h"
#include "verify/delta.h"

/* Sorting may use this part of the memory limit; SQLite has the rest. */
#define DIFF_SORT_PART 4

static int
S_text(struct wire *w, const char *text, struct fault *f)
{
	return text ? cell_put_utf8(&w->buf, text, strlen(text), f)
		    : cell_put_null(&w->buf, f);
}

static int
S_cells(struct wire *w, const struct delta_cells *c, struct fault *f)
{
	return c ? buf_append(&w->buf, c->bytes, c->len, f) : 0;
}

static int64_t
S_count(const struct delta_cells *c)
{
	return c ? c->count : 0;
}

static int
S_names(struct wire *w, uint32_t n, char **name, struct fault *f)
{
	int rc = cell_put_int(&w->buf, n, f);

	for (uint32_t i = 0; !rc && i < n; i++)
		rc = S_text(w, name[i], f);
	return rc;
}

static int
S_setting(void *arg, const char *name, const struct delta_cells *before,
	  const struct delta_cells *after, struct fault *f)
{
	struct wire *w = arg;
	int rc = wire_begin(w, WIRE_SETTING, f);

	if (!rc)
		rc = S_text(w, name, f);
	if (!rc)
		rc = S_cells(w, before, f);
	if (!rc)
		rc = S_cells(w, after, f);
	return rc ? rc : wire_end(w, f);
}

static int
S_object(void *arg, const struct delta_object *o, struct fault *f)
{
	const char *const texts[] = { o->type, o->name, o->table,
				      o->sql_before, o->sql_after };
	struct wire *w = arg;
	int rc = wire_begin(w, WIRE_OBJECT, f);

	if (!rc)
		rc = cell_put_int(&w->buf, o->change, f);
	for (size_t i = 0; !rc && i < sizeof(texts) / sizeof(texts[0]); i++)
		rc = S_text(w, texts[i], f);
	if (!rc)
		rc = cell_put_int(&w->buf, o->structure_differs, f);
	if (!rc)
		rc = S_text(w, o->name_before, f);
	if (!rc)
		rc = S_text(w, o->table_before, f);
	if (!rc)
		rc = S_text(w, o->type_before, f);
	if (!rc)
		rc = cell_put_int(&w->buf, S_count(o->stored_before) +
				  S_count(o->stored_after), f);
	if (!rc)
		rc = S_cells(w, o->stored_before, f);
	if (!rc)
		rc = S_cells(w, o->stored_after, f);
	return rc ? rc : wire_end(w, f);
}

static int
S_table(void *arg, const struct delta_table *t, struct fault *f)
{
	struct wire *w = arg;
	int rc = wire_begin(w, WIRE_TABLE, f);

	if (!rc)
		rc = S_text(w, t->name, f);
	if (!rc)
		rc = cell_put_int(&w->buf, t->key_kind, f);
	if (!rc)
		rc = S_names(w, t->nkey, t->key, f);
	if (!rc)
		rc = S_names(w, t->nbefore, t->before, f);
	if (!rc)
		rc = S_names(w, t->nafter, t->after, f);
	if (!rc)
		rc = cell_put_int(&w->buf, t->dflt ? (int64_t)t->dflt->count : -1,
				  f);
	if (!rc)
		rc = S_cells(w, t->dflt, f);
	return rc ? rc : wire_end(w, f);
}

static int
S_row(void *arg, enum wire_change change, const struct delta_cells *key,
      const struct delta_cells *before, const struct delta_cells *after,
      struct fault *f)
{
	struct wire *w = arg;
	int rc = wire_begin(w, WIRE_ROW, f);

	if (!rc)
		rc = cell_put_int(&w->buf, change, f);
	if (!rc)
		rc = S_cells(w, key, f);
	if (!rc && change != WIRE_ADDED)
		rc = S_cells(w, before, f);
	if (!rc && change != WIRE_REMOVED)
		rc = S_cells(w, after, f);
	return rc ? rc : wire_end(w, f);
}

static int
S_table_end(void *arg, const char *name, const struct delta_counts *n,
	    struct fault *f)
{
	const uint64_t counts[] = { n->added, n->removed, n->changed,
				    n->rows_before, n->rows_after };
	struct wire *w = arg;
	int rc = wire_begin(w, WIRE_TABLE_END, f);

	if (!rc)
		rc = S_text(w, name, f);
	for (size_t i = 0; !rc && i < sizeof(counts) / sizeof(counts[0]); i++)
		rc = cell_put_int(&w->buf, (int64_t)counts[i], f);
	return rc ? rc : wire_end(w, f);
}

static int
S_skip(void *arg, const char *what, const char *why, struct fault *f)
{
	return wire_skip(arg, what, why, f);
}

static int
S_open(const struct op *o, uint32_t side, struct state **s, struct fault *f)
{
	int rc = op_open(o, side, s, f);

	if (rc)
		return fault_wrap(f, side ? "after" : "before");
	return facts_state(o->wire, (int)side, state_facts(*s), f);
}

int
op_diff(struct op *o, struct fault *f)
{
	const struct delta_sink sink = {
		.arg = o->wire, .setting = S_setting, .object = S_object,
		.table = S_table, .row = S_row, .table_end = S_table_end,
		.skip = S_skip,
	};
	OWN_RENAMES(renames);
	const struct delta_options options = {
		.ignore_rowid = o->ask->flags & ASK_IGNORE_ROWID,
		.memory = o->ask->memory_limit / DIFF_SORT_PART,
		.worker = o->worker,
		.renames = &renames,
	};
	bool equal = false;
	int rc;
	OWN_STATE(before);
	OWN_STATE(after);

	rc = renames_read(&renames, o->text, f);
	if (!rc)
		rc = S_open(o, 0, &before, f);
	if (!rc)
		rc = S_open(o, 1, &after, f);
	if (!rc)
		rc = delta_run(before, after, &options, &sink, &equal, f);
	if (!rc && state_finish(before, f))
		rc = fault_wrap(f, "before");
	if (!rc && state_finish(after, f))
		rc = fault_wrap(f, "after");
	o->verdict = equal ? WIRE_YES : WIRE_NO;
	return rc;
}
