/*
 * plan.c - which columns, key and order compare a table of two states
 */
#include "verify/plan.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/own.h"
#include "verify/dflt.h"
#include "verify/sql.h"

static int
S_no_memory(struct fault *f)
{
	return fault_set(f, FAULT_TROUBLE, "out of memory: columns");
}

static const struct catalog_column *
S_find(const struct catalog_table *t, const char *name)
{
	for (uint32_t i = 0; t && i < t->ncolumn; i++) {
		if (strcasecmp(t->column[i].name, name) == 0)
			return &t->column[i];
	}
	return NULL;
}

/* AFTER's column that BEFORE's column of this name is now, or NULL. */
static const struct catalog_column *
S_is_now(const struct plan_inputs *in, const char *table, const char *name)
{
	const char *to = renames_column_to(in->renames, table, name);
	const char *from = renames_column_from(in->renames, table, name);
	const struct catalog_column *c = NULL;

	if (to)
		c = S_find(in->table[PLAN_AFTER], to);
	/* Another column of BEFORE took the name. */
	if (c || (from && S_find(in->table[PLAN_BEFORE], from)))
		return c;
	return S_find(in->table[PLAN_AFTER], name);
}

/* The other way round. */
static const struct catalog_column *
S_was(const struct plan_inputs *in, const char *table, const char *name)
{
	const char *from = renames_column_from(in->renames, table, name);
	const char *to = renames_column_to(in->renames, table, name);
	const struct catalog_column *c = NULL;

	if (from)
		c = S_find(in->table[PLAN_BEFORE], from);
	/* BEFORE's column of this name has another one now. */
	if (c || (to && S_find(in->table[PLAN_AFTER], to)))
		return c;
	return S_find(in->table[PLAN_BEFORE], name);
}

static const struct catalog_column *
S_other(const struct plan_inputs *in, int side, const char *name)
{
	const struct catalog_table *after = in->table[PLAN_AFTER];
	const char *table = after ? after->name : "";

	return side == PLAN_AFTER ? S_was(in, table, name)
				  : S_is_now(in, table, name);
}

/* A column that one side can't compute is compared on neither. */
static bool
S_readable(const struct plan_inputs *in, int side, const char *name)
{
	const struct catalog_column *mine = S_find(in->table[side], name);
	const struct catalog_column *its = S_other(in, side, name);

	return !(mine && mine->why) && !(its && its->why);
}

static void
S_column_add(struct plan_columns *s, const struct catalog_column *c)
{
	s->column[s->ncolumn].name = c->name;
	s->name[s->ncolumn] = c->name;
	s->ncolumn++;
}

static int
S_columns_init(struct plan_columns *s, const struct catalog_table *t,
	       struct fault *f)
{
	uint32_t n = t ? t->ncolumn : 0;

	s->table = t;
	s->present = t != NULL;
	s->column = calloc(n + 1, sizeof(*s->column));
	s->name = calloc(n + 1, sizeof(*s->name));
	return s->column && s->name ? 0 : S_no_memory(f);
}

static void
S_common(struct plan *p, const struct plan_inputs *in)
{
	const struct catalog_table *after = in->table[PLAN_AFTER];

	for (uint32_t i = 0; after && i < after->ncolumn; i++) {
		const char *name = after->column[i].name;
		const struct catalog_column *before =
			S_other(in, PLAN_AFTER, name);

		if (!before || !S_readable(in, PLAN_AFTER, name))
			continue;
		S_column_add(&p->side[PLAN_BEFORE], before);
		S_column_add(&p->side[PLAN_AFTER], &after->column[i]);
		p->ncommon++;
	}
}

static void
S_own(struct plan *p, const struct plan_inputs *in, int side, bool generated)
{
	const struct catalog_table *t = in->table[side];

	for (uint32_t i = 0; t && i < t->ncolumn; i++) {
		const struct catalog_column *c = &t->column[i];

		if (!S_other(in, side, c->name) && !c->why &&
		    (c->hidden >= CATALOG_VIRTUAL) == generated)
			S_column_add(&p->side[side], c);
	}
}

static const struct catalog_column *
S_key_column(const struct catalog_table *t, uint32_t i)
{
	return &t->column[t->key[i].column];
}

/* A key on both sides, of the same columns. */
static bool
S_declared(const struct plan_inputs *in)
{
	const struct catalog_table *b = in->table[0], *a = in->table[1];
	const struct catalog_table *one = a ? a : b;

	if (in->no_declared || one->nkey == 0)
		return false;
	for (uint32_t i = 0; i < one->nkey; i++) {
		if (!S_readable(in, a ? PLAN_AFTER : PLAN_BEFORE,
				S_key_column(one, i)->name))
			return false;
	}
	if (!a || !b)
		return true;
	if (a->nkey != b->nkey)
		return false;
	for (uint32_t i = 0; i < a->nkey; i++) {
		if (S_other(in, PLAN_AFTER, S_key_column(a, i)->name) !=
		    S_key_column(b, i))
			return false;
	}
	return true;
}

/* Every side that is there has the property. */
static bool
S_rowids(const struct plan_inputs *in)
{
	for (int i = 0; i < 2; i++) {
		if (in->table[i] && !in->table[i]->rowid)
			return false;
	}
	return true;
}

static bool
S_integer_keys(const struct plan_inputs *in)
{
	for (int i = 0; i < 2; i++) {
		if (in->table[i] && !in->table[i]->integer_key)
			return false;
	}
	return true;
}

static bool
S_without_rowids(const struct plan_inputs *in)
{
	for (int i = 0; i < 2; i++) {
		if (in->table[i] && !in->table[i]->without_rowid)
			return false;
	}
	return true;
}

static enum wire_key
S_kind(const struct plan_inputs *in)
{
	if (S_declared(in))
		return WIRE_KEY_DECLARED;
	if (S_rowids(in) && (!in->ignore_rowid || S_integer_keys(in)))
		return WIRE_KEY_ROWID;
	return WIRE_KEY_NONE;
}

static uint32_t
S_place(const struct plan_columns *s, const char *name)
{
	for (uint32_t i = 0; i < s->ncolumn; i++) {
		if (strcasecmp(s->column[i].name, name) == 0)
			return i;
	}
	/* A key column is one of the columns. */
	MUST(false);
	return 0;
}

static int
S_set_key(struct plan *p, const struct plan_inputs *in, struct fault *f)
{
	int side = in->table[PLAN_AFTER] ? PLAN_AFTER : PLAN_BEFORE;
	const struct catalog_table *t = in->table[side];

	p->key = calloc(t->nkey + 1, sizeof(*p->key));
	p->desc = calloc(t->nkey + 1, sizeof(*p->desc));
	p->key_name = calloc(t->nkey + 1, sizeof(*p->key_name));
	if (!p->key || !p->desc || !p->key_name)
		return S_no_memory(f);
	if (p->kind == WIRE_KEY_ROWID) {
		static char rowid[] = "rowid";

		p->key_name[0] = rowid;
		p->nkey = 1;
	}
	if (p->kind != WIRE_KEY_DECLARED)
		return 0;
	for (uint32_t i = 0; i < t->nkey; i++) {
		const struct catalog_column *c = S_key_column(t, i);

		p->key[i] = S_place(&p->side[side], c->name);
		p->desc[i] = t->key[i].desc;
		p->key_name[i] = c->name;
		for (int k = 0; k < 2; k++) {
			if (in->table[k])
				p->side[k].column[p->key[i]].key = true;
		}
	}
	p->nkey = t->nkey;
	return 0;
}

/* Both read their b-tree in an order that order_cells knows. */
static bool
S_same_native_order(const struct plan_inputs *in)
{
	const struct catalog_table *b = in->table[0], *a = in->table[1];

	if (!S_without_rowids(in))
		return false;
	for (int i = 0; i < 2; i++) {
		if (in->table[i] && !in->table[i]->binary_key)
			return false;
		if (in->catalog[i]->values.encoding != VALUE_UTF8)
			return false;
	}
	for (uint32_t i = 0; a && b && i < a->nkey; i++) {
		if (a->key[i].desc != b->key[i].desc)
			return false;
	}
	return true;
}

static void
S_set_order(struct plan *p, const struct plan_inputs *in)
{
	bool declared = p->kind == WIRE_KEY_DECLARED;

	if (S_without_rowids(in))
		p->align = PLAN_ALIGN_KEY;
	else if (declared && S_integer_keys(in))
		p->align = PLAN_ALIGN_KEY;
	else if (S_rowids(in))
		p->align = PLAN_ALIGN_ROWID;
	p->lead = p->align == PLAN_ALIGN_ROWID;
	p->stream = p->kind == WIRE_KEY_ROWID ||
		(declared && (S_integer_keys(in) || S_same_native_order(in)));
	/* A side without the table has no order to agree with. */
	if (!in->table[0] || !in->table[1])
		p->stream = true;
	p->use = p->stream && p->align == PLAN_ALIGN_KEY ? VALUE_SORT
							 : VALUE_COMPARE;
}

static int
S_order_by_key(const struct catalog_table *t, struct buf *b, struct fault *f)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < t->nkey; i++) {
		rc = buf_printf(b, f, "%sx.", i ? "," : "");
		if (rc == 0)
			rc = sql_quote(b, S_key_column(t, i)->name, f);
		if (rc == 0 && t->key[i].desc)
			rc = buf_printf(b, f, " DESC");
	}
	return rc;
}

static int
S_set_order_by(struct plan_columns *s, struct fault *f)
{
	struct buf b = BUF_INIT(1u << 24);
	int rc = 0;

	if (!s->table)
		return 0;
	if (s->table->without_rowid || s->table->integer_key)
		rc = S_order_by_key(s->table, &b, f);
	else if (s->table->rowid)
		rc = buf_printf(&b, f, "x.%s", s->table->rowid);
	if (rc == 0 && b.len > 0) {
		rc = buf_u8(&b, 0, f);
		s->order = (char *)b.data;
	}
	if (rc || !s->order)
		buf_free(&b);
	return rc;
}

/* In a STRICT table ANY means no affinity; elsewhere it is NUMERIC. */
static const char *
S_type(const struct catalog_table *t, const struct catalog_column *c)
{
	return t->strict && strcasecmp(c->type, "ANY") == 0 ? "" : c->type;
}

/* The cells of AFTER's own columns in a row that never set them. */
static int
S_set_default(struct plan *p, const struct plan_inputs *in, struct fault *f)
{
	const struct plan_columns *after = &p->side[PLAN_AFTER];
	const struct catalog_table *t = in->table[PLAN_AFTER];
	int rc = 0;

	p->dflt_known = true;
	for (uint32_t i = p->ncommon; rc == 0 && i < after->ncolumn; i++) {
		const struct catalog_column *c =
			S_find(t, after->column[i].name);

		if (c->hidden >= CATALOG_VIRTUAL)
			continue;
		rc = dflt_put(&p->dflt, S_type(t, c), c->dflt, f);
		p->ndflt++;
	}
	if (rc == 1)
		p->dflt_known = false;
	return rc < 0 ? rc : 0;
}

int
plan_make(struct plan *p, const struct plan_inputs *in, struct fault *f)
{
	int rc = 0;

	MUST(in->table[0] || in->table[1]);
	memset(p, 0, sizeof(*p));
	buf_init(&p->dflt, WIRE_FRAME_MAX);
	for (int i = 0; rc == 0 && i < 2; i++)
		rc = S_columns_init(&p->side[i], in->table[i], f);
	if (rc == 0) {
		S_common(p, in);
		for (int i = 0; i < 2; i++) {
			S_own(p, in, i, false);
			S_own(p, in, i, true);
		}
		p->kind = S_kind(in);
		rc = S_set_key(p, in, f);
	}
	if (rc == 0)
		S_set_order(p, in);
	for (int i = 0; rc == 0 && i < 2; i++)
		rc = S_set_order_by(&p->side[i], f);
	if (rc == 0 && in->table[0] && in->table[1])
		rc = S_set_default(p, in, f);
	if (rc)
		plan_free(p);
	return rc;
}

void
plan_free(struct plan *p)
{
	for (int i = 0; i < 2; i++) {
		free(p->side[i].column);
		free(p->side[i].name);
		free(p->side[i].order);
	}
	free(p->key);
	free(p->desc);
	free(p->key_name);
	buf_free(&p->dflt);
	memset(p, 0, sizeof(*p));
}

void
plan_spec(const struct plan *p, enum plan_side side, struct rows_spec *spec)
{
	const struct plan_columns *s = &p->side[side];

	*spec = (struct rows_spec){
		.table = s->table->name,
		.rowid = s->table->rowid,
		.lead = p->lead,
		.use = p->use,
		.column = s->column,
		.ncolumn = s->ncolumn,
		.ncommon = p->ncommon,
		.order = s->order,
	};
}
