/*
 * fingerprint_table.c - the fingerprint of one table
 *
 * Format: docs/FORMATS.md, "Fingerprint". Rows of a table whose key is the
 * rowid go in as they come. Of all others the digests go in, sorted: their
 * order, and a rowid that VACUUM renumbers, are no content. Where the digests
 * pass the memory the table is read again for each range of them.
 */
#include "verify/fingerprint_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/own.h"
#include "base/cell.h"
#include "verify/rows.h"
#include "verify/sort.h"
#include "verify/sql.h"

#define FINGERPRINT_MIN_DIGESTS 4096u

struct sum {
	unsigned char bytes[DIGEST_BYTES];
	uint64_t n;		/* rows that have it */
};

struct sums {
	struct sum *sum;
	size_t n, room, most;
	uint64_t low, high;	/* first eight bytes, big endian */
	uint64_t outside;	/* in the range, but no room for them */
};

struct scan {
	struct catalog *catalog;
	const struct catalog_table *table;
	struct rows_column *column;
	uint32_t ncolumn;
	char *order;		/* sqlite3_malloc */
	struct digest *digest, *row;
	struct sums sums;
	uint64_t nrow;
	char **why;
};

static int
S_sum_order(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return memcmp(x->bytes, y->bytes, DIGEST_BYTES);
}

/* In order, each digest once: any number of equal rows takes one place. */
static void
S_sum_compact(struct sums *s)
{
	size_t n = 0;

	sort_items(s->sum, s->n, sizeof(*s->sum), S_sum_order);
	for (size_t i = 0; i < s->n; i++) {
		if (n > 0 && S_sum_order(&s->sum[n - 1], &s->sum[i]) == 0)
			s->sum[n - 1].n += s->sum[i].n;
		else
			s->sum[n++] = s->sum[i];
	}
	s->n = n;
}

/* Room for one more. 1: there is none within the memory. */
static int
S_sum_room(struct sums *s, struct fault *f)
{
	size_t room = s->room ? s->room * 2 : 1024;
	void *grown;

	if (s->n < s->room)
		return 0;
	if (s->room == s->most) {
		S_sum_compact(s);
		/* Little room would be bought by much sorting. */
		return s->n > s->most / 4 * 3;
	}
	if (room > s->most)
		room = s->most;
	grown = realloc(s->sum, room * sizeof(*s->sum));
	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory: digests");
	s->sum = grown;
	s->room = room;
	return 0;
}

static int
S_sum_add(struct sums *s, const unsigned char sum[DIGEST_BYTES],
	  struct fault *f)
{
	uint64_t at = (uint64_t)bytes_be32(sum) << 32 | bytes_be32(sum + 4);
	int rc;

	if (at < s->low || at > s->high)
		return 0;
	rc = s->outside ? 1 : S_sum_room(s, f);
	if (rc == 1)
		s->outside++;
	if (rc)
		return rc < 0 ? rc : 0;
	memcpy(s->sum[s->n].bytes, sum, DIGEST_BYTES);
	s->sum[s->n++].n = 1;
	return 0;
}

static int
S_take_batch(struct scan *s, const struct rows_batch *b, struct fault *f)
{
	unsigned char sum[DIGEST_BYTES];
	size_t at = 0;
	int rc = 0;

	s->nrow += b->nrow;
	if (s->table->integer_key) {
		digest_bytes(s->digest, b->bytes.data, b->bytes.len);
		return 0;
	}
	for (size_t i = 0; rc == 0 && i < b->nrow; i++) {
		digest_bytes(s->row, b->bytes.data + at,
			     b->row[i].end - at);
		digest_final(s->row, sum);
		rc = S_sum_add(&s->sums, sum, f);
		at = b->row[i].end;
	}
	return rc;
}

/* Reads the whole table once. 1: *why says what can't be read. */
static int
S_pass(struct scan *s, struct fault *f)
{
	const struct key_range whole = KEY_RANGE_WHOLE;
	const struct rows_spec spec = {
		.table = s->table->name,
		.column = s->column,
		.ncolumn = s->ncolumn,
		.ncommon = s->ncolumn,
		.order = s->order,
	};
	struct rows *r = NULL;
	struct rows_batch b;
	int rc = rows_open(&r, s->catalog->db, &s->catalog->values, &spec,
			   &whole, s->why, f);

	if (rc)
		return rc;
	rows_batch_init(&b);
	s->nrow = 0;
	while ((rc = rows_next_batch(r, &b, f)) == 0) {
		rc = S_take_batch(s, &b, f);
		if (rc)
			break;
	}
	if (rc == 2)
		rc = sql_shown(rows_why(r), s->why, f) ? -(int)f->code : 2;
	rows_batch_free(&b);
	rows_free(r);
	return rc < 0 ? rc : rc == 2;
}

static void
S_put_sums(struct scan *s)
{
	struct sums *m = &s->sums;

	S_sum_compact(m);
	for (size_t i = 0; i < m->n; i++) {
		for (uint64_t k = 0; k < m->sum[i].n; k++)
			digest_bytes(s->digest, m->sum[i].bytes,
				     DIGEST_BYTES);
	}
}

/* The digests from low to high, in order. */
static int
S_range(struct scan *s, uint64_t low, uint64_t high, struct fault *f)
{
	struct sums *m = &s->sums;
	uint64_t parts, step, at = low;
	int rc;

	m->low = low;
	m->high = high;
	m->n = 0;
	m->outside = 0;
	rc = S_pass(s, f);
	if (rc)
		return rc;
	if (m->outside == 0) {
		S_put_sums(s);
		return 0;
	}
	if (low == high)
		return fault_set(f, FAULT_CAP, "digests of rows do not fit"
				 " into the memory for sorting");
	parts = m->outside / (m->most / 2) + 2;
	step = (high - low) / parts + 1;
	while (rc == 0) {
		uint64_t end = high - at < step ? high : at + step - 1;

		rc = S_range(s, at, end, f);
		if (end == high)
			break;
		at = end + 1;
	}
	return rc;
}

static int
S_put_name(struct digest *d, unsigned char tag, const char *name,
	   struct fault *f)
{
	struct buf b = BUF_INIT(1u << 30);
	int rc = cell_put_utf8(&b, name, strlen(name), f);

	if (rc == 0)
		digest_tagged(d, tag, b.data, b.len);
	buf_free(&b);
	return rc;
}

/* Name, columns; a column that can't be read takes part by its name only. */
static int
S_head(struct scan *s, struct fault *f)
{
	const struct catalog_table *t = s->table;
	int rc = S_put_name(s->digest, 'N', t->name, f);

	s->column = calloc(t->ncolumn + 1, sizeof(*s->column));
	if (rc == 0 && !s->column)
		rc = fault_set(f, FAULT_TROUBLE, "out of memory: columns");
	for (uint32_t i = 0; rc == 0 && i < t->ncolumn; i++) {
		const struct catalog_column *c = &t->column[i];

		rc = S_put_name(s->digest, c->why ? 'X' : 'C', c->name, f);
		if (!c->why)
			s->column[s->ncolumn++].name = c->name;
	}
	if (rc || !t->integer_key)
		return rc;
	s->order = sqlite3_mprintf("x.\"%w\"",
				   t->column[t->key[0].column].name);
	if (!s->order)
		return fault_set(f, FAULT_TROUBLE, "out of memory: SQL");
	return 0;
}

static int
S_rows(struct scan *s, uint64_t memory, struct fault *f)
{
	unsigned char kind = s->table->integer_key ? 'I' : 'S', n[8];
	int rc;

	s->sums.most = (size_t)(memory / sizeof(struct sum));
	if (s->sums.most < FINGERPRINT_MIN_DIGESTS)
		s->sums.most = FINGERPRINT_MIN_DIGESTS;
	digest_bytes(s->digest, &kind, 1);
	rc = s->table->integer_key ? S_pass(s, f)
				   : S_range(s, 0, UINT64_MAX, f);
	free(s->sums.sum);
	bytes_put_le64(n, s->nrow);
	digest_tagged(s->digest, 'E', n, sizeof(n));
	return rc;
}

int
fingerprint_table(struct catalog *c, const struct catalog_table *t,
		  uint64_t memory, uint64_t *rows,
		  unsigned char fp[DIGEST_BYTES], char **why,
		  struct fault *f)
{
	struct scan s = { .catalog = c, .table = t, .why = why };
	int rc = digest_new(&s.digest, f);

	if (rc == 0)
		rc = digest_new(&s.row, f);
	if (rc == 0)
		rc = S_head(&s, f);
	if (rc == 0)
		rc = S_rows(&s, memory, f);
	if (rc == 0) {
		digest_final(s.digest, fp);
		*rows = s.nrow;
	}
	digest_free(s.digest);
	digest_free(s.row);
	sqlite3_free(s.order);
	free(s.column);
	return rc;
}
