/*
 * emit.c - the differences of one table, as the sink takes them
 */
#include "verify/emit.h"

#include <string.h>
#include <strings.h>

#include "verify/order.h"
#include "verify/rows.h"
#include "verify/value.h"

void
emit_init(struct emit *e, const struct delta_sink *sink,
	  const struct plan *plan)
{
	*e = (struct emit){
		.sink = sink,
		.plan = plan,
		.key = BUF_INIT(WIRE_FRAME_MAX),
		.shown = BUF_INIT(WIRE_FRAME_MAX),
		.out = { BUF_INIT(WIRE_FRAME_MAX), BUF_INIT(WIRE_FRAME_MAX) },
	};
}

void
emit_free(struct emit *e)
{
	buf_free(&e->key);
	buf_free(&e->shown);
	buf_free(&e->out[0]);
	buf_free(&e->out[1]);
}

static const char *
S_name(const struct emit *e)
{
	const struct plan_columns *side = e->plan->side;

	return side[side[PLAN_AFTER].present].table->name;
}

static int
S_cells(const unsigned char *bytes, size_t len, uint32_t count,
	struct buf *b, struct delta_cells *out, struct fault *f)
{
	int rc;

	buf_reset(b);
	rc = value_finish(b, bytes, len, f);
	*out = (struct delta_cells){ b->data, b->len, count };
	return rc;
}

static int
S_announce(struct emit *e, struct fault *f)
{
	const struct plan *p = e->plan;
	const struct plan_columns *b = &p->side[0], *a = &p->side[1];
	struct delta_table t = {
		.name = S_name(e),
		.key_kind = p->kind,
		.nkey = p->nkey,
		.nbefore = b->ncolumn,
		.nafter = a->ncolumn,
		.key = p->key_name,
		.before = b->name,
		.after = a->name,
	};
	struct delta_cells dflt;
	int rc = 0;

	if (e->announced)
		return 0;
	e->announced = true;
	if (p->dflt_known) {
		rc = S_cells(p->dflt.data, p->dflt.len, p->ndflt, &e->shown,
			     &dflt, f);
		t.dflt = &dflt;
	}
	return rc ? rc : e->sink->table(e->sink->arg, &t, f);
}

static int
S_skip(struct emit *e, const char *column, const char *why, struct fault *f)
{
	struct buf what = BUF_INIT(1u << 24);
	int rc = buf_printf(&what, f, "table %s", S_name(e));

	if (rc == 0 && column)
		rc = buf_printf(&what, f, ", column %s", column);
	if (rc == 0)
		rc = buf_u8(&what, 0, f);
	if (rc == 0)
		rc = e->sink->skip(e->sink->arg, (char *)what.data,
					why, f);
	buf_free(&what);
	return rc;
}

int
emit_key(struct emit *e, const struct pool_row *row, struct fault *f)
{
	const struct plan *p = e->plan;
	int rc = 0;

	buf_reset(&e->key);
	if (p->kind == WIRE_KEY_ROWID)
		return buf_append(&e->key, row->bytes - ROWS_LEAD_BYTES,
				  ROWS_LEAD_BYTES, f);
	for (uint32_t i = 0; rc == 0 && i < p->nkey; i++) {
		const unsigned char *at = order_skip(row->bytes, p->key[i]);
		const unsigned char *end = order_skip(at, 1);

		rc = buf_append(&e->key, at, (size_t)(end - at), f);
	}
	return rc;
}

int
emit_row(struct emit *e, const struct pool_row *before,
	 const struct pool_row *after, struct fault *f)
{
	const struct pool_row *row[2] = { before, after };
	struct delta_cells key, cells[2], *given[2] = { NULL, NULL };
	enum wire_change change = WIRE_CHANGED;
	int rc = S_announce(e, f);

	if (rc == 0)
		rc = emit_key(e, after ? after : before, f);
	if (rc == 0)
		rc = S_cells(e->key.data, e->key.len, e->plan->nkey,
			     &e->shown, &key, f);
	for (int i = 0; rc == 0 && i < 2; i++) {
		if (!row[i])
			continue;
		rc = S_cells(row[i]->bytes, row[i]->len,
			     e->plan->side[i].ncolumn, &e->out[i], &cells[i],
			     f);
		given[i] = &cells[i];
	}
	if (!before)
		change = WIRE_ADDED;
	if (!after)
		change = WIRE_REMOVED;
	e->n.added += change == WIRE_ADDED;
	e->n.removed += change == WIRE_REMOVED;
	e->n.changed += change == WIRE_CHANGED;
	if (rc == 0)
		rc = e->sink->row(e->sink->arg, change, &key,
				       given[0], given[1], f);
	return rc;
}

/* BEFORE's column of this name was skipped already. */
static bool
S_told(const struct catalog_table *before, const char *name)
{
	for (uint32_t i = 0; before && i < before->ncolumn; i++) {
		if (before->column[i].why &&
		    strcasecmp(before->column[i].name, name) == 0)
			return true;
	}
	return false;
}

static int
S_skip_columns(struct emit *e, struct fault *f)
{
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		const struct catalog_table *t = e->plan->side[i].table;

		for (uint32_t k = 0; rc == 0 && t && k < t->ncolumn; k++) {
			const struct catalog_column *c = &t->column[k];

			if (c->why && !(i == 1 && S_told(e->plan->side[0].table,
							 c->name)))
				rc = S_skip(e, c->name, c->why, f);
		}
	}
	return rc;
}

int
emit_end(struct emit *e, const char *why, struct fault *f)
{
	int rc = S_announce(e, f);

	if (rc == 0 && why)
		rc = S_skip(e, NULL, why, f);
	if (rc == 0)
		rc = S_skip_columns(e, f);
	if (rc)
		return rc;
	return e->sink->table_end(e->sink->arg, S_name(e), &e->n, f);
}
