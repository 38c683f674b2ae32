/*
 * rows.c - the rows of a table as batches of cells
 */
#include "verify/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/cell.h"
#include "base/own.h"
#include "reply/wire.h"
#include "verify/sql.h"
#include "verify/unknown.h"

#define ROWS_SQL_MAX (64u << 20)
/* A batch that held one huge row gives the memory back. */
#define ROWS_KEEP_BYTES (4u * ROWS_BATCH_BYTES)

struct shape {
	bool key;
	enum value_use use;
};

struct rows {
	sqlite3_stmt *stmt;
	sqlite3_stmt *ids;	/* rowids, where stmt has no column left */
	struct value_reader *values;
	bool lead, null_key, ended;
	struct shape *column;
	uint32_t ncolumn, ncommon;
	char *why;
};

static int
S_add_range(struct buf *b, const struct rows_spec *spec,
	    const struct key_range *range, struct fault *f)
{
	int rc = 0;

	MUST(spec->rowid || (!range->has_low && !range->has_high));
	if (range->has_low)
		rc = buf_printf(b, f, " WHERE x.%s >= %lld", spec->rowid,
				(long long)range->low);
	if (rc == 0 && range->has_high)
		rc = buf_printf(b, f, " %s x.%s <= %lld",
				range->has_low ? "AND" : "WHERE", spec->rowid,
				(long long)range->high);
	return rc;
}

static int
S_add_from(struct buf *b, const struct rows_spec *spec,
	   const struct key_range *range, struct fault *f)
{
	int rc = buf_printf(b, f, " FROM main.");

	if (rc == 0)
		rc = sql_quote(b, spec->table, f);
	if (rc == 0)
		rc = buf_printf(b, f, " AS x NOT INDEXED");
	if (rc == 0)
		rc = S_add_range(b, spec, range, f);
	if (rc == 0 && spec->order)
		rc = buf_printf(b, f, " ORDER BY %s", spec->order);
	return rc ? rc : buf_u8(b, 0, f);
}

static int
S_select_sql(struct buf *b, const struct rows_spec *spec,
	     const struct key_range *range, bool lead, struct fault *f)
{
	int rc = buf_printf(b, f, "SELECT ");

	if (rc == 0 && lead)
		rc = buf_printf(b, f, "x.%s", spec->rowid);
	for (uint32_t i = 0; rc == 0 && i < spec->ncolumn; i++) {
		rc = buf_printf(b, f, "%sx.", i || lead ? "," : "");
		if (rc == 0)
			rc = sql_quote(b, spec->column[i].name, f);
	}
	if (rc == 0 && spec->ncolumn == 0 && !lead)
		rc = buf_printf(b, f, "NULL");
	return rc ? rc : S_add_from(b, spec, range, f);
}

static int
S_prepare(struct rows *r, sqlite3 *db, const struct rows_spec *spec,
	  const struct key_range *range, struct fault *f)
{
	struct buf sql = BUF_INIT(ROWS_SQL_MAX);
	int limit = sqlite3_limit(db, SQLITE_LIMIT_COLUMN, -1);
	bool full = spec->ncolumn >= (uint32_t)limit;
	int rc = S_select_sql(&sql, spec, range, spec->lead && !full, f);

	if (rc == 0)
		rc = sql_prepare_text(db, &r->stmt, (char *)sql.data, f);
	/* A table may have as many columns as a result, so that its rowid
	   finds no place in it: it is read beside. */
	if (rc == 0 && spec->lead && full) {
		buf_reset(&sql);
		rc = buf_printf(&sql, f, "SELECT x.%s", spec->rowid);
		if (rc == 0)
			rc = S_add_from(&sql, spec, range, f);
		if (rc == 0)
			rc = sql_prepare_text(db, &r->ids, (char *)sql.data,
					      f);
	}
	buf_free(&sql);
	return rc;
}

static int
S_init(struct rows *r, const struct rows_spec *spec, struct fault *f)
{
	r->lead = spec->lead;
	r->ncolumn = spec->ncolumn;
	r->ncommon = spec->ncommon;
	r->column = calloc(spec->ncolumn + 1, sizeof(*r->column));
	if (!r->column)
		return fault_set(f, FAULT_TROUBLE, "out of memory: columns");
	for (uint32_t i = 0; i < spec->ncolumn; i++) {
		struct shape *c = &r->column[i];

		c->key = spec->column[i].key;
		c->use = spec->use;
		if (spec->use == VALUE_SORT && !c->key)
			c->use = VALUE_COMPARE;
	}
	return 0;
}

int
rows_open(struct rows **out, sqlite3 *db, struct value_reader *values,
	  const struct rows_spec *spec, const struct key_range *range,
	  char **why, struct fault *f)
{
	struct rows *r = calloc(1, sizeof(*r));
	int rc;

	MUST(!spec->lead || spec->rowid);
	if (!r)
		return fault_set(f, FAULT_TROUBLE, "out of memory: rows");
	r->values = values;
	rc = S_init(r, spec, f);
	if (rc == 0)
		rc = S_prepare(r, db, spec, range, f);
	if (rc == 1 && sql_shown(sqlite3_errmsg(db), why, f))
		rc = -(int)f->code;
	if (rc) {
		rows_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

void
rows_batch_init(struct rows_batch *b)
{
	*b = (struct rows_batch){
		.bytes = BUF_INIT((size_t)WIRE_FRAME_MAX + ROWS_BATCH_BYTES),
	};
}

void
rows_batch_free(struct rows_batch *b)
{
	buf_free(&b->bytes);
	free(b->row);
	rows_batch_init(b);
}

static int
S_mark(struct rows_batch *b, struct rows_mark **m, struct fault *f)
{
	if (b->nrow == b->room) {
		size_t more = b->room ? b->room * 2 : 1024;
		void *grown = realloc(b->row, more * sizeof(*b->row));

		if (!grown)
			return fault_set(f, FAULT_TROUBLE,
					 "out of memory: rows");
		b->row = grown;
		b->room = more;
	}
	*m = &b->row[b->nrow];
	return 0;
}

static int
S_put_rowid(struct rows *r, struct buf *b, struct fault *f)
{
	int rc;

	if (!r->ids)
		return cell_put_int(b, sqlite3_column_int64(r->stmt, 0), f);
	rc = sql_step(r->ids, f);
	if (rc > 0)
		return fault_set(f, FAULT_DAMAGED,
				 "a second read of the rowids ends early");
	return rc ? rc
		  : cell_put_int(b, sqlite3_column_int64(r->ids, 0), f);
}

static int
S_put_row(struct rows *r, struct rows_batch *b, struct fault *f)
{
	int first = r->lead && !r->ids, type, rc;
	struct rows_mark *m = NULL;

	rc = S_mark(b, &m, f);
	if (rc)
		return rc;
	if (r->lead)
		rc = S_put_rowid(r, &b->bytes, f);
	m->common = b->bytes.len;
	for (uint32_t i = 0; rc == 0 && i < r->ncolumn; i++) {
		rc = value_put(r->values, &b->bytes, r->stmt, first + (int)i,
			       r->column[i].use, &type, f);
		if (type == SQLITE_NULL && r->column[i].key)
			r->null_key = true;
		if (i + 1 == r->ncommon)
			m->common = b->bytes.len;
	}
	m->end = b->bytes.len;
	b->nrow++;
	return rc;
}

static int
S_end(struct rows *r, const char *asked, struct fault *f)
{
	const char *why = asked ? asked
			: sqlite3_errmsg(sqlite3_db_handle(r->stmt));

	return sql_shown(why, &r->why, f);
}

int
rows_next_batch(struct rows *r, struct rows_batch *b, struct fault *f)
{
	const char *asked;
	int rc = 0;

	if (b->bytes.room > ROWS_KEEP_BYTES)
		buf_free(&b->bytes);
	buf_reset(&b->bytes);
	b->nrow = 0;
	if (r->why)
		return 2;
	if (r->ended)
		return 1;
	while (rc == 0 && b->bytes.len < ROWS_BATCH_BYTES) {
		rc = sql_step(r->stmt, f);
		if (rc == 0)
			rc = S_put_row(r, b, f);
	}
	asked = unknown_asked(r->values->unknown);
	if (asked && rc >= 0) {
		/* No row of this batch may go out. */
		rc = 2;
		b->nrow = 0;
	}
	if (rc == 2 && S_end(r, asked, f))
		rc = -(int)f->code;
	r->ended = rc != 0;
	return rc < 0 || b->nrow == 0 ? rc : 0;
}

const char *
rows_why(const struct rows *r)
{
	return r->why;
}

bool
rows_null_key(const struct rows *r)
{
	return r->null_key;
}

void
rows_free(struct rows *r)
{
	if (!r)
		return;
	(void)sqlite3_finalize(r->stmt);
	(void)sqlite3_finalize(r->ids);
	free(r->column);
	free(r->why);
	free(r);
}
