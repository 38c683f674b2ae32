/*
 * delta.c - the logical difference of two recovered states
 */
#include "verify/delta.h"

#include <string.h>
#include <strings.h>

#include "verify/catalog.h"
#include "verify/delta_run.h"
#include "verify/delta_table.h"
#include "verify/structure.h"

static int
S_emit_setting(struct delta_job *job, const char *name, struct buf cell[2],
	       struct fault *f)
{
	struct delta_cells c[2];

	for (int i = 0; i < 2; i++)
		c[i] = (struct delta_cells){ cell[i].data, cell[i].len, 1 };
	if (c[0].len == c[1].len && memcmp(c[0].bytes, c[1].bytes,
					   c[0].len) == 0)
		return 0;
	return job->sink->setting(job->sink->arg, name, &c[0], &c[1], f);
}

static int
S_setting(struct delta_job *job, enum catalog_setting s, struct fault *f)
{
	struct buf cell[2] = { BUF_INIT(64), BUF_INIT(64) };
	int rc = 0;

	for (int i = 0; rc == 0 && i < 2; i++)
		rc = cell_put_int(&cell[i], job->catalog[i]->setting[s], f);
	if (rc == 0)
		rc = S_emit_setting(job, catalog_setting_name(s), cell, f);
	if (s < CATALOG_LOGICAL &&
	    job->catalog[0]->setting[s] != job->catalog[1]->setting[s])
		job->equal = false;
	buf_free(&cell[0]);
	buf_free(&cell[1]);
	return rc;
}

static int
S_encoding(struct delta_job *job, struct fault *f)
{
	static const char *const name[] = {
		[VALUE_UTF8] = "UTF-8",
		[VALUE_UTF16LE] = "UTF-16le",
		[VALUE_UTF16BE] = "UTF-16be",
	};
	struct buf cell[2] = { BUF_INIT(64), BUF_INIT(64) };
	int rc = 0;

	for (int i = 0; rc == 0 && i < 2; i++)
		rc = cell_put_text(&cell[i],
				   name[job->catalog[i]->values.encoding], f);
	if (rc == 0)
		rc = S_emit_setting(job, "encoding", cell, f);
	buf_free(&cell[0]);
	buf_free(&cell[1]);
	return rc;
}

static int
S_settings(struct delta_job *job, struct fault *f)
{
	int rc = S_encoding(job, f);

	for (int i = 0; rc == 0 && i < CATALOG_SETTINGS; i++)
		rc = S_setting(job, (enum catalog_setting)i, f);
	return rc;
}

/* NULL where after is the same. */
static const char *
S_other(const char *before, const char *after)
{
	return strcmp(before, after) ? before : NULL;
}

static const struct delta_cells *
S_stored(const struct catalog_object *o, struct delta_cells *to)
{
	if (!o)
		return NULL;
	*to = (struct delta_cells){ o->cells.data, o->cells.len,
				    WIRE_STORED };
	return to;
}

static int
S_emit_object(struct delta_job *job, const struct catalog_object *b,
	      const struct catalog_object *a, bool structure_differs,
	      struct fault *f)
{
	const struct catalog_object *one = a ? a : b;
	struct delta_cells before, after;
	struct delta_object o = {
		.change = !b ? WIRE_ADDED : !a ? WIRE_REMOVED : WIRE_CHANGED,
		.type = one->type,
		.name = one->name,
		.table = one->table,
		.sql_before = b ? b->sql : NULL,
		.sql_after = a ? a->sql : NULL,
		.structure_differs = structure_differs,
	};

	if (a && b) {
		o.type_before = S_other(b->type, a->type);
		o.name_before = S_other(b->name, a->name);
		o.table_before = S_other(b->table, a->table);
	}
	if ((b && !b->plain) || (a && !a->plain)) {
		o.stored_before = S_stored(b, &before);
		o.stored_after = S_stored(a, &after);
	}
	job->equal = false;
	return job->sink->object(job->sink->arg, &o, f);
}

static int
S_object(struct delta_job *job, const struct catalog_object *b,
	 const struct catalog_object *a, struct fault *f)
{
	bool differs = true;
	int rc = 0;

	if (b && a && b->cells.len == a->cells.len &&
	    memcmp(b->cells.data, a->cells.data, a->cells.len) == 0)
		return 0;
	if (b && a && b->named == a->named &&
	    memcmp(b->cells.data, a->cells.data, a->named) == 0)
		rc = structure_differs(job->catalog[0], b, job->catalog[1], a,
				       &differs, f);
	return rc ? rc : S_emit_object(job, b, a, differs, f);
}

static int
S_load_table(struct delta_job *job, int side, const struct catalog_object *o,
	     struct catalog_table *t, struct fault *f)
{
	struct buf what = BUF_INIT(1u << 24);
	int rc;

	memset(t, 0, sizeof(*t));
	if (!o)
		return 0;
	rc = catalog_table_load(t, job->catalog[side], o, f);
	if (rc != 1)
		return rc;
	rc = buf_printf(&what, f, "table %s", o->name);
	if (rc == 0)
		rc = buf_u8(&what, 0, f);
	if (rc == 0)
		rc = job->sink->skip(job->sink->arg, (char *)what.data,
				     "the schema's row and its SQL text name"
				     " different tables", f);
	buf_free(&what);
	return rc < 0 ? rc : 1;
}

/* b or a NULL: that side has no such table. */
static int
S_table(struct delta_job *job, const struct catalog_object *b,
	const struct catalog_object *a, struct fault *f)
{
	const struct key_range whole = KEY_RANGE_WHOLE;
	struct catalog_table before, after = { .ncolumn = 0 };
	int rc = S_load_table(job, 0, b, &before, f);

	if (rc == 0)
		rc = S_load_table(job, 1, a, &after, f);
	if (rc == 0)
		rc = delta_table_range(job, b ? &before : NULL,
				       a ? &after : NULL, &whole, f);
	catalog_table_free(&before);
	catalog_table_free(&after);
	if (rc < 0)
		return fault_wrap(f, "table %s", (a ? a : b)->name);
	return 0;
}

/* Tables meet by name alone: a forged type must not part them. */
static int
S_order(const struct catalog_object *b, const struct catalog_object *a,
	bool tables)
{
	int d = strcasecmp(b->pair, a->pair);

	if (!tables)
		return catalog_order(b, a);
	return d ? d : (int)b->displaced - (int)a->displaced;
}

static const struct catalog_object *
S_next(const struct catalog *c, size_t *i, bool tables)
{
	while (tables && *i < c->nobject && !c->object[*i].is_table)
		(*i)++;
	return *i < c->nobject ? &c->object[*i] : NULL;
}

/* Calls visit for each object, or each table, of either side. */
static int
S_walk(struct delta_job *job, bool tables,
       int (*visit)(struct delta_job *job, const struct catalog_object *b,
		    const struct catalog_object *a, struct fault *f),
       struct fault *f)
{
	size_t ib = 0, ia = 0;
	int rc = 0;

	while (rc == 0) {
		const struct catalog_object *b, *a;
		int d;

		b = S_next(job->catalog[0], &ib, tables);
		a = S_next(job->catalog[1], &ia, tables);
		if (!b && !a)
			break;
		d = !b ? 1 : !a ? -1 : S_order(b, a, tables);
		rc = visit(job, d <= 0 ? b : NULL, d >= 0 ? a : NULL, f);
		ib += d <= 0;
		ia += d >= 0;
	}
	return rc;
}

int
delta_databases(sqlite3 *before, sqlite3 *after,
		const struct delta_options *o, const struct delta_sink *sink,
		bool *equal, struct fault *f)
{
	struct catalog b, a;
	struct delta_job job = {
		.catalog = { &b, &a },
		.options = o,
		.sink = sink,
		.equal = true,
	};
	int rc = catalog_load(&b, before, f);

	if (rc)
		return fault_wrap(f, "before");
	rc = catalog_load(&a, after, f);
	if (rc) {
		catalog_free(&b);
		return fault_wrap(f, "after");
	}
	catalog_rename(&b, &a, o->renames);
	rc = S_settings(&job, f);
	if (rc == 0)
		rc = S_walk(&job, false, S_object, f);
	if (rc == 0)
		rc = S_walk(&job, true, S_table, f);
	catalog_free(&b);
	catalog_free(&a);
	if (rc == 0)
		*equal = job.equal;
	return rc;
}

int
delta_run(struct state *before, struct state *after,
	  const struct delta_options *o, const struct delta_sink *sink,
	  bool *equal, struct fault *f)
{
	sqlite3 *b = NULL, *a = NULL;
	int rc = state_connect(before, &b, f);

	if (rc == 0)
		rc = state_connect(after, &a, f);
	if (rc == 0)
		rc = delta_databases(b, a, o, sink, equal, f);
	(void)sqlite3_close(b);
	(void)sqlite3_close(a);
	return rc;
}
