/*
 * delta_table.c - the rows that differ between two states of a table
 */
#include "verify/delta_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "verify/emit.h"
#include "verify/feed.h"
#include "verify/order.h"
#include "verify/pool.h"
#include "verify/sql.h"

/* A range of hashes this small that is still too much can't be split. */
#define DELTA_HASH_MIN 256u

struct run {
	struct delta_job *job;
	struct plan plan;
	struct key_range range;
	struct emit emit;
	struct feed feed[2];
	struct pool *pool;		/* of a plan that does not stream */
	uint64_t low, high;		/* hashes that the pool takes */
	uint64_t passed;		/* bytes that found no room in it */
	bool null_key;
	char *why;			/* what could not be read */
};

/* Which of the two files it is that can't be read. */
static int
S_side_fault(int side, struct fault *f)
{
	return fault_wrap(f, side == PLAN_BEFORE ? "before" : "after");
}

/* 1: SQLite can't read the table, why says what. */
static int
S_open(struct run *r, struct rows *rows[2], struct fault *f)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < 2; i++) {
		struct catalog *c = r->job->catalog[i];
		struct rows_spec spec;

		if (!r->plan.side[i].present)
			continue;
		plan_spec(&r->plan, (enum plan_side)i, &spec);
		rc = rows_open(&rows[i], c->db, &c->values, &spec, &r->range,
			       &r->why, f);
		if (rc < 0)
			return S_side_fault(i, f);
	}
	return rc;
}

/* A row behind its leading rowid. */
static struct pool_row
S_row(const struct run *r, int side)
{
	const struct feed *d = &r->feed[side];
	size_t lead = r->plan.lead ? ROWS_LEAD_BYTES : 0;

	return (struct pool_row){
		.bytes = feed_bytes(d) + lead,
		.common = feed_common(d) - lead,
		.len = feed_len(d) - lead,
	};
}

/* AFTER's own columns hold what their defaults give, or there are none. */
static bool
S_own_default(const struct plan *p, const struct pool_row *after)
{
	const struct buf *d = &p->dflt;

	if (!p->dflt_known)
		return false;
	return d->len == 0 ||
	       (after->len - after->common >= d->len &&
		memcmp(after->bytes + after->common, d->data, d->len) == 0);
}

static bool
S_same_row(const struct plan *p, const struct pool_row *before,
	   const struct pool_row *after)
{
	return before->common == after->common &&
	       memcmp(before->bytes, after->bytes, before->common) == 0 &&
	       S_own_default(p, after);
}

static int
S_pool(struct run *r, int side, const struct pool_row *row, struct fault *f)
{
	const unsigned char *key = row->bytes;
	size_t len = row->common;
	uint64_t hash;
	int rc = 0;

	if (r->plan.kind == WIRE_KEY_DECLARED) {
		rc = emit_key(&r->emit, row, f);
		key = r->emit.key.data;
		len = r->emit.key.len;
	} else if (side == PLAN_AFTER && !S_own_default(&r->plan, row)) {
		/* It has no counterpart without these columns. */
		len = row->len;
	}
	if (rc)
		return rc;
	hash = pool_hash(key, len);
	if (hash < r->low || hash > r->high)
		return 0;
	rc = r->passed ? 1 : pool_put(r->pool, side, hash, key, len, row, f);
	if (rc != 1)
		return rc;
	r->passed += pool_cost(len, row);
	return 0;
}

/* A row that the other side does not have here. */
static int
S_alone(struct run *r, int side, struct fault *f)
{
	struct pool_row row = S_row(r, side);
	int rc;

	if (!r->plan.stream)
		rc = S_pool(r, side, &row, f);
	else if (side == PLAN_BEFORE)
		rc = emit_row(&r->emit, &row, NULL, f);
	else
		rc = emit_row(&r->emit, NULL, &row, f);
	if (rc == 0)
		feed_take(&r->feed[side]);
	return rc;
}

static int
S_align_key(const struct plan *p, const unsigned char *b,
	    const unsigned char *a)
{
	struct cell cb, ca;

	for (uint32_t i = 0; i < p->nkey; i++) {
		const unsigned char *pb = order_skip(b, p->key[i]);
		const unsigned char *pa = order_skip(a, p->key[i]);
		int d;

		order_next(&pb, &cb);
		order_next(&pa, &ca);
		d = order_cells(&cb, &ca);
		if (d)
			return p->desc[i] ? -d : d;
	}
	return 0;
}

/* Which side's row comes first; 0: they stand at the same place. */
static int
S_align(const struct run *r)
{
	const unsigned char *b = feed_bytes(&r->feed[0]);
	const unsigned char *a = feed_bytes(&r->feed[1]);
	struct cell cb, ca;

	switch (r->plan.align) {
	case PLAN_ALIGN_ROWID:
		order_next(&b, &cb);
		order_next(&a, &ca);
		return order_cells(&cb, &ca);
	case PLAN_ALIGN_KEY:
		return S_align_key(&r->plan, b, a);
	case PLAN_ALIGN_NONE:
		break;
	}
	return 0;
}

/* Keys that sort alike may still be different values: 1 and 1.0. */
static int
S_same_key(struct run *r, const struct pool_row *before,
	   const struct pool_row *after, bool *same, struct fault *f)
{
	OWN_MEM(unsigned char, hold);
	size_t len;
	int rc = emit_key(&r->emit, before, f);

	if (rc)
		return rc;
	len = r->emit.key.len;
	hold = malloc(len + 1);
	if (!hold)
		return fault_set(f, FAULT_TROUBLE, "out of memory: a key");
	memcpy(hold, r->emit.key.data, len);
	rc = emit_key(&r->emit, after, f);
	*same = r->emit.key.len == len &&
		memcmp(r->emit.key.data, hold, len) == 0;
	return rc;
}

/* Both rows stand at the same place and differ. */
static int
S_both(struct run *r, const struct pool_row *before,
       const struct pool_row *after, struct fault *f)
{
	bool same = false;
	int rc = 0;

	if (r->plan.stream) {
		rc = S_same_key(r, before, after, &same, f);
		if (rc == 0 && same)
			rc = emit_row(&r->emit, before, after, f);
	}
	if (rc)
		return rc;
	if (same) {
		feed_take(&r->feed[0]);
		feed_take(&r->feed[1]);
		return 0;
	}
	rc = S_alone(r, PLAN_BEFORE, f);
	return rc ? rc : S_alone(r, PLAN_AFTER, f);
}

static int
S_pair(struct run *r, struct fault *f)
{
	struct pool_row before = S_row(r, PLAN_BEFORE);
	struct pool_row after = S_row(r, PLAN_AFTER);
	bool by_rowid = r->plan.kind == WIRE_KEY_ROWID;
	int d = by_rowid ? S_align(r) : 0;

	/* Where the rowid is no key the same row may sit at another one. */
	if (d == 0 && S_same_row(&r->plan, &before, &after)) {
		feed_take(&r->feed[0]);
		feed_take(&r->feed[1]);
		return 0;
	}
	if (!by_rowid)
		d = S_align(r);
	if (d == 0)
		return S_both(r, &before, &after, f);
	return S_alone(r, d < 0 ? PLAN_BEFORE : PLAN_AFTER, f);
}

/* Two whole batches of the same bytes need no look at their rows. */
static bool
S_same_batch(struct run *r)
{
	struct feed *b = &r->feed[0], *a = &r->feed[1];

	if (b->at || a->at || b->now->nrow != a->now->nrow ||
	    b->now->bytes.len != a->now->bytes.len || !r->plan.dflt_known ||
	    r->plan.side[0].ncolumn != r->plan.ncommon ||
	    r->plan.side[1].ncolumn != r->plan.ncommon)
		return false;
	return memcmp(b->now->bytes.data, a->now->bytes.data,
		      b->now->bytes.len) == 0;
}

static int
S_fill(struct run *r, struct fault *f)
{
	uint64_t *n[2] = { &r->emit.n.rows_before, &r->emit.n.rows_after };
	int rc = 0;

	for (int i = 0; rc == 0 && i < 2; i++) {
		struct feed *d = &r->feed[i];

		if (feed_has(d) || d->ended)
			continue;
		rc = feed_fill(d, f);
		if (rc < 0)
			return S_side_fault(i, f);
		if (rc == 0 && feed_has(d))
			*n[i] += d->now->nrow;
		if (rc == 2)
			rc = sql_shown(rows_why(d->rows), &r->why, f);
		if (rc == 0 && r->why)
			rc = 1;
	}
	return rc;
}

/* Reads both sides to their ends. 1: r->why ended it. */
static int
S_merge(struct run *r, struct fault *f)
{
	int rc;

	r->emit.n.rows_before = r->emit.n.rows_after = 0;
	for (;;) {
		rc = S_fill(r, f);
		if (rc)
			return rc;
		if (!feed_has(&r->feed[0]) && !feed_has(&r->feed[1]))
			return 0;
		if (!feed_has(&r->feed[1])) {
			rc = S_alone(r, PLAN_BEFORE, f);
		} else if (!feed_has(&r->feed[0])) {
			rc = S_alone(r, PLAN_AFTER, f);
		} else if (S_same_batch(r)) {
			feed_take_batch(&r->feed[0]);
			feed_take_batch(&r->feed[1]);
		} else {
			rc = S_pair(r, f);
		}
		if (rc)
			return rc;
	}
}

static int
S_pass(struct run *r, struct fault *f)
{
	struct rows *rows[2] = { NULL, NULL };
	int rc = S_open(r, rows, f);

	if (rc == 0) {
		feed_start(&r->feed[0], rows[0], r->job->options->worker);
		feed_start(&r->feed[1], rows[1], NULL);
		rc = S_merge(r, f);
		feed_stop(&r->feed[0]);
		feed_stop(&r->feed[1]);
		for (int i = 0; i < 2; i++) {
			if (rows[i] && rows_null_key(rows[i]))
				r->null_key = true;
		}
	}
	rows_free(rows[0]);
	rows_free(rows[1]);
	return rc;
}

static int
S_emit_entry(struct run *r, const struct pool_entry *e, struct fault *f)
{
	const struct pool_row *before = e->n[0] ? &e->row[0] : NULL;
	const struct pool_row *after = e->n[1] ? &e->row[1] : NULL;
	uint64_t same;
	int rc = 0;

	if (r->plan.kind == WIRE_KEY_DECLARED) {
		if (before && after && S_same_row(&r->plan, before, after))
			return 0;
		return emit_row(&r->emit, before, after, f);
	}
	same = e->n[0] < e->n[1] ? e->n[0] : e->n[1];
	for (uint64_t i = same; rc == 0 && i < e->n[0]; i++)
		rc = emit_row(&r->emit, before, NULL, f);
	for (uint64_t i = same; rc == 0 && i < e->n[1]; i++)
		rc = emit_row(&r->emit, NULL, after, f);
	return rc;
}

static int
S_emit_pool(struct run *r, struct fault *f)
{
	int rc = 0;

	pool_sort(r->pool);
	for (size_t i = 0; rc == 0 && i < pool_count(r->pool); i++)
		rc = S_emit_entry(r, pool_at(r->pool, i), f);
	pool_reset(r->pool);
	return rc;
}

static int
S_slice(struct run *r, uint64_t low, uint64_t high, struct fault *f);

/* As many parts as the bytes seen need, with a margin; two at least. */
static int
S_split(struct run *r, uint64_t low, uint64_t high, struct fault *f)
{
	uint64_t budget = r->job->options->memory;
	uint64_t parts = r->passed / (budget / 4 * 3 + 1) + 2;
	uint64_t step, at = low;
	int rc = 0;

	pool_reset(r->pool);
	if (high - low < DELTA_HASH_MIN)
		return fault_set(f, FAULT_CAP, "rows of one key do not fit"
				 " into the %llu bytes for sorting",
				 (unsigned long long)budget);
	if (parts > DELTA_HASH_MIN)
		parts = DELTA_HASH_MIN;
	step = (high - low) / parts + 1;
	while (rc == 0) {
		uint64_t end = high - at < step ? high : at + step - 1;

		rc = S_slice(r, at, end, f);
		if (end == high)
			break;
		at = end + 1;
	}
	return rc;
}

/* Pairs the rows whose keys' hashes lie between low and high. */
static int
S_slice(struct run *r, uint64_t low, uint64_t high, struct fault *f)
{
	int rc;

	r->low = low;
	r->high = high;
	r->passed = 0;
	rc = S_pass(r, f);
	if (rc)
		return rc;
	if (r->null_key && r->plan.kind == WIRE_KEY_DECLARED)
		return 0;
	return r->passed ? S_split(r, low, high, f) : S_emit_pool(r, f);
}

static int
S_compare(struct run *r, struct fault *f)
{
	int rc;

	if (r->plan.stream)
		return S_pass(r, f);
	rc = pool_new(&r->pool, r->job->options->memory,
		      r->plan.kind == WIRE_KEY_NONE, f);
	if (rc == 0)
		rc = S_slice(r, 0, UINT64_MAX, f);
	pool_free(r->pool);
	r->pool = NULL;
	return rc;
}

/* One pass tells whether a declared key is a key: none of it goes out. */
static int
S_compare_by_any_key(struct run *r, struct plan_inputs *in, struct fault *f)
{
	int rc = plan_make(&r->plan, in, f);

	if (rc)
		return rc;
	rc = S_compare(r, f);
	if (rc || r->plan.stream || r->plan.kind != WIRE_KEY_DECLARED ||
	    !r->null_key)
		return rc;
	plan_free(&r->plan);
	in->no_declared = true;
	rc = plan_make(&r->plan, in, f);
	return rc ? rc : S_compare(r, f);
}

/* Whether the only side that has the table has a NULL in its key. */
static int
S_check_key(struct plan_inputs *in, struct fault *f)
{
	int i = in->table[0] ? 0 : 1;
	int rc;

	if (in->table[0] && in->table[1])
		return 0;
	rc = catalog_table_null_key(in->table[i], in->catalog[i],
				    &in->no_declared, f);
	return rc;
}

int
delta_table_range(struct delta_job *job, const struct catalog_table *before,
		  const struct catalog_table *after,
		  const struct key_range *range, struct fault *f)
{
	struct plan_inputs in = {
		.catalog = { job->catalog[0], job->catalog[1] },
		.table = { before, after },
		.ignore_rowid = job->options->ignore_rowid,
		.renames = job->options->renames,
	};
	struct run r = { .job = job, .range = *range };
	const struct delta_counts *n = &r.emit.n;
	int rc = S_check_key(&in, f);

	emit_init(&r.emit, job->sink, &r.plan);
	if (rc == 0)
		rc = S_compare_by_any_key(&r, &in, f);
	if (rc >= 0)
		rc = emit_end(&r.emit, r.why, f);
	if (n->added || n->removed || n->changed)
		job->equal = false;
	plan_free(&r.plan);
	emit_free(&r.emit);
	free(r.why);
	return rc;
}
