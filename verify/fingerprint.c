/*
 * fingerprint.c - SHA-256 of all that SQL can see of a database
 *
 * Format: docs/FORMATS.md, "Fingerprint".
 */
#include "verify/fingerprint.h"

#include <stdlib.h>
#include <string.h>

#include "base/cell.h"
#include "base/own.h"
#include "reply/wire.h"
#include "verify/catalog.h"
#include "verify/fingerprint_run.h"
#include "verify/fingerprint_table.h"
#include "verify/sort.h"

/* What is hashed for one table, sorted by its bytes: the name comes first. */
struct item {
	struct buf bytes;
};

struct job {
	struct catalog catalog;
	uint64_t memory;
	const struct fingerprint_sink *sink;
	struct item *table[2];		/* ordinary, stat */
	size_t ntable[2];
};

static int
S_skip(struct job *j, const struct catalog_object *o, const char *column,
       const char *why, struct fault *f)
{
	struct buf what = BUF_INIT(1u << 24);
	int rc = buf_printf(&what, f, "table %s", o->name);

	if (rc == 0 && column)
		rc = buf_printf(&what, f, ", column %s", column);
	if (rc == 0)
		rc = buf_u8(&what, 0, f);
	if (rc == 0)
		rc = j->sink->skip(j->sink->arg, (char *)what.data, why, f);
	buf_free(&what);
	return rc;
}

static int
S_skip_columns(struct job *j, const struct catalog_object *o,
	       const struct catalog_table *t, struct fault *f)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < t->ncolumn; i++) {
		const struct catalog_column *c = &t->column[i];

		if (c->why)
			rc = S_skip(j, o, c->name, c->why, f);
	}
	return rc;
}

/* fp NULL: the table could not be read. */
static int
S_item_put(struct item *it, const struct catalog_object *o,
	   const unsigned char *fp, struct fault *f)
{
	int rc = cell_put_utf8(&it->bytes, o->name, strlen(o->name), f);

	if (rc || !fp)
		return rc ? rc : cell_put_null(&it->bytes, f);
	return cell_put_blob(&it->bytes, fp, DIGEST_BYTES, f);
}

static int
S_table(struct job *j, const struct catalog_object *o, struct item *it,
	struct fault *f)
{
	OWN_MEM(char, why);
	unsigned char fp[DIGEST_BYTES];
	struct catalog_table t;
	uint64_t rows = 0;
	int rc = catalog_table_load(&t, &j->catalog, o, f);

	if (rc < 0)
		return rc;
	if (rc == 1) {
		rc = S_skip(j, o, NULL, "the schema's row and its SQL text"
			    " name different tables", f);
		return rc ? rc : S_item_put(it, o, NULL, f);
	}
	rc = fingerprint_table(&j->catalog, &t, j->memory, &rows, fp, &why,
			       f);
	if (rc >= 0 && S_skip_columns(j, o, &t, f))
		rc = -(int)f->code;
	catalog_table_free(&t);
	if (rc == 1) {
		rc = S_skip(j, o, NULL, why, f);
		return rc ? rc : S_item_put(it, o, NULL, f);
	}
	if (rc == 0)
		rc = j->sink->table(j->sink->arg, o->name, rows, fp, f);
	return rc ? rc : S_item_put(it, o, fp, f);
}

static int
S_tables(struct job *j, struct fault *f)
{
	size_t n = j->catalog.nobject;
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		j->table[i] = calloc(n + 1, sizeof(*j->table[i]));
		if (!j->table[i])
			return fault_set(f, FAULT_TROUBLE,
					 "out of memory: tables");
	}
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const struct catalog_object *o = &j->catalog.object[i];
		struct item *it;

		if (!o->is_table)
			continue;
		it = &j->table[o->is_stat][j->ntable[o->is_stat]++];
		buf_init(&it->bytes, WIRE_FRAME_MAX);
		rc = S_table(j, o, it, f);
		if (rc)
			rc = fault_wrap(f, "table %s", o->name);
	}
	return rc;
}

static int
S_bytes_order(const struct buf *a, const struct buf *b)
{
	int d = memcmp(a->data, b->data, a->len < b->len ? a->len : b->len);

	return d ? d : (a->len > b->len) - (a->len < b->len);
}

static int
S_item_order(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return S_bytes_order(&x->bytes, &y->bytes);
}

static int
S_object_order(const void *a, const void *b)
{
	const struct catalog_object *const *x = a, *const *y = b;

	return S_bytes_order(&(*x)->cells, &(*y)->cells);
}

static int
S_put_objects(struct job *j, struct digest *d, bool stat, struct fault *f)
{
	const struct catalog *c = &j->catalog;
	OWN_MEM(const struct catalog_object *, sorted);
	size_t n = 0;

	sorted = calloc(c->nobject + 1, sizeof(*sorted));
	if (!sorted)
		return fault_set(f, FAULT_TROUBLE, "out of memory: schema");
	for (size_t i = 0; i < c->nobject; i++) {
		if (c->object[i].is_stat == stat)
			sorted[n++] = &c->object[i];
	}
	sort_items(sorted, n, sizeof(*sorted), S_object_order);
	for (size_t i = 0; i < n; i++)
		digest_tagged(d, 'O', sorted[i]->cells.data,
			      sorted[i]->cells.len);
	return 0;
}

static int
S_put_settings(struct job *j, struct digest *d, struct fault *f)
{
	struct buf b = BUF_INIT(1024);
	int rc = 0;

	for (int i = 0; rc == 0 && i < CATALOG_LOGICAL; i++) {
		enum catalog_setting s = (enum catalog_setting)i;

		buf_reset(&b);
		rc = cell_put_text(&b, catalog_setting_name(s), f);
		if (rc == 0)
			rc = cell_put_int(&b, j->catalog.setting[i], f);
		if (rc == 0)
			digest_tagged(d, 'V', b.data, b.len);
	}
	buf_free(&b);
	return rc;
}

static int
S_whole(struct job *j, bool stat, unsigned char sum[DIGEST_BYTES],
	struct fault *f)
{
	static const char format[] = "holdfast-fingerprint/1";
	struct digest *d = NULL;
	int rc = digest_new(&d, f);

	if (rc)
		return rc;
	digest_tagged(d, stat ? 'S' : 'F', format, sizeof(format) - 1);
	if (!stat)
		rc = S_put_settings(j, d, f);
	if (rc == 0)
		rc = S_put_objects(j, d, stat, f);
	sort_items(j->table[stat], j->ntable[stat], sizeof(struct item),
		   S_item_order);
	for (size_t i = 0; rc == 0 && i < j->ntable[stat]; i++)
		digest_tagged(d, 'T', j->table[stat][i].bytes.data,
			      j->table[stat][i].bytes.len);
	if (rc == 0)
		digest_final(d, sum);
	digest_free(d);
	return rc;
}

int
fingerprint_database(sqlite3 *db, uint64_t memory,
		     const struct fingerprint_sink *sink,
		     unsigned char whole[DIGEST_BYTES],
		     unsigned char stat[DIGEST_BYTES], struct fault *f)
{
	struct job j = { .memory = memory, .sink = sink };
	int rc = catalog_load(&j.catalog, db, f);

	if (rc)
		return rc;
	rc = S_tables(&j, f);
	if (rc == 0)
		rc = S_whole(&j, false, whole, f);
	if (rc == 0)
		rc = S_whole(&j, true, stat, f);
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < j.ntable[i]; k++)
			buf_free(&j.table[i][k].bytes);
		free(j.table[i]);
	}
	catalog_free(&j.catalog);
	return rc;
}

int
fingerprint_run(struct state *s, uint64_t memory,
		const struct fingerprint_sink *sink,
		unsigned char whole[DIGEST_BYTES],
		unsigned char stat[DIGEST_BYTES], struct fault *f)
{
	sqlite3 *db = NULL;
	int rc = state_connect(s, &db, f);

	if (rc == 0)
		rc = fingerprint_database(db, memory, sink, whole, stat, f);
	(void)sqlite3_close(db);
	return rc;
}
