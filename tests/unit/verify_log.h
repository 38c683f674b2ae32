/*
 * verify_log.h - a delta as text, for the tests of verify/
 *
 * Cells: n, i42, r3ff0000000000000 (bits), "text", T:hex, W:hex,
 * B5:hex of the first four bytes of the digest.
 */
#ifndef TESTS_VERIFY_LOG_H
#define TESTS_VERIFY_LOG_H

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cell.h"
#include "verify/delta_run.h"

#define UNUSED __attribute__((unused))

struct log {
	struct buf text;
	bool rows_only;
	uint64_t rows;
};

UNUSED static sqlite3 *
log_db_at(const char *path, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	return db;
}

UNUSED static sqlite3 *
log_db(const char *sql)
{
	return log_db_at(":memory:", sql);
}

static void
log_hex(struct log *l, const unsigned char *p, size_t n)
{
	struct fault f;

	for (size_t i = 0; i < n; i++)
		assert_int_equal(buf_printf(&l->text, &f, "%02x", p[i]), 0);
}

static void
log_cell(struct log *l, const struct cell *c)
{
	struct fault f;
	uint64_t bits;
	int rc = 0;

	memcpy(&bits, &c->real, sizeof(bits));
	switch (c->tag) {
	case CELL_NULL:
		rc = buf_printf(&l->text, &f, "n");
		break;
	case CELL_INT:
		rc = buf_printf(&l->text, &f, "i%lld", (long long)c->integer);
		break;
	case CELL_REAL:
		rc = buf_printf(&l->text, &f, "r%016llx",
				(unsigned long long)bits);
		break;
	case CELL_TEXT:
		rc = buf_u8(&l->text, '"', &f);
		for (size_t i = 0; i < c->len; i++)
			rc |= buf_u8(&l->text,
				     c->bytes[i] ? c->bytes[i] : '0', &f);
		rc |= buf_u8(&l->text, '"', &f);
		break;
	case CELL_TEXT8:
	case CELL_TEXT16:
		rc = buf_printf(&l->text, &f, "%c:", c->tag);
		log_hex(l, c->bytes, c->len);
		break;
	case CELL_BLOBSUM:
		rc = buf_printf(&l->text, &f, "B%lld:",
				(long long)c->integer);
		log_hex(l, c->bytes, 4);
		break;
	case CELL_BLOB:
		fail_msg("a blob goes out as its digest");
	}
	assert_int_equal(rc, 0);
}

static void
log_cells(struct log *l, const struct delta_cells *c)
{
	const unsigned char *at, *end;
	uint32_t n = 0;
	struct fault f;
	struct cell cell;

	if (!c)
		return;
	assert_int_equal(buf_printf(&l->text, &f, " ("), 0);
	for (at = c->bytes, end = at + c->len; at < end; n++) {
		if (n)
			assert_int_equal(buf_u8(&l->text, ' ', &f), 0);
		assert_int_equal(cell_get(&at, end, &cell, &f), 0);
		log_cell(l, &cell);
	}
	assert_int_equal(n, c->count);
	assert_int_equal(buf_u8(&l->text, ')', &f), 0);
}

static const char *
log_sign(enum wire_change c)
{
	return c == WIRE_ADDED ? "+" : c == WIRE_REMOVED ? "-" : "~";
}

static int
log_setting(void *arg, const char *name, const struct delta_cells *b,
	    const struct delta_cells *a, struct fault *f)
{
	struct log *l = arg;

	assert_int_equal(buf_printf(&l->text, f, "setting %s", name), 0);
	log_cells(l, b);
	log_cells(l, a);
	return buf_u8(&l->text, '\n', f);
}

static int
log_object(void *arg, const struct delta_object *o, struct fault *f)
{
	struct log *l = arg;

	assert_true((o->sql_before != NULL) == (o->change != WIRE_ADDED));
	assert_true((o->sql_after != NULL) == (o->change != WIRE_REMOVED));
	return buf_printf(&l->text, f, "%s%s %s on %s%s%s%s\n",
			  log_sign(o->change), o->type, o->name, o->table,
			  o->structure_differs ? "" : " text only",
			  o->name_before ? " was " : "",
			  o->name_before ? o->name_before : "");
}

static int
log_names(struct log *l, char **name, uint32_t n, struct fault *f)
{
	int rc = buf_u8(&l->text, '(', f);

	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = buf_printf(&l->text, f, "%s%s", i ? " " : "", name[i]);
	return rc ? rc : buf_u8(&l->text, ')', f);
}

static int
log_table(void *arg, const struct delta_table *t, struct fault *f)
{
	static const char *const kind[] = { "", "declared", "rowid", "none" };
	struct log *l = arg;
	int rc;

	if (l->rows_only)
		return 0;
	rc = buf_printf(&l->text, f, "table %s %s", t->name,
			kind[t->key_kind]);
	rc |= log_names(l, t->key, t->nkey, f);
	rc |= log_names(l, t->before, t->nbefore, f);
	rc |= log_names(l, t->after, t->nafter, f);
	return rc | buf_u8(&l->text, '\n', f);
}

static int
log_row(void *arg, enum wire_change change, const struct delta_cells *key,
	const struct delta_cells *before, const struct delta_cells *after,
	struct fault *f)
{
	struct log *l = arg;

	assert_true((before != NULL) == (change != WIRE_ADDED));
	assert_true((after != NULL) == (change != WIRE_REMOVED));
	l->rows++;
	if (l->text.cap == 0)
		return 0;
	assert_int_equal(buf_printf(&l->text, f, "%s", log_sign(change)), 0);
	log_cells(l, key);
	log_cells(l, before);
	log_cells(l, after);
	return buf_u8(&l->text, '\n', f);
}

static int
log_table_end(void *arg, const char *name, const struct delta_counts *n,
	      struct fault *f)
{
	struct log *l = arg;

	if (l->rows_only)
		return 0;
	return buf_printf(&l->text, f, "end %s +%llu -%llu ~%llu %llu %llu\n",
			  name, (unsigned long long)n->added,
			  (unsigned long long)n->removed,
			  (unsigned long long)n->changed,
			  (unsigned long long)n->rows_before,
			  (unsigned long long)n->rows_after);
}

static int
log_skip(void *arg, const char *what, const char *why, struct fault *f)
{
	struct log *l = arg;

	return buf_printf(&l->text, f, "skip %s: %s\n", what, why);
}

UNUSED static struct delta_sink
log_sink(struct log *l)
{
	return (struct delta_sink){
		.arg = l, .setting = log_setting, .object = log_object,
		.table = log_table, .row = log_row,
		.table_end = log_table_end, .skip = log_skip,
	};
}

/* The delta's text (freed by the caller), closes both. */
UNUSED static char *
log_delta(sqlite3 *a, sqlite3 *b, const struct delta_options *o,
	  bool rows_only)
{
	struct log l = { .text = BUF_INIT(1u << 26), .rows_only = rows_only };
	struct delta_sink sink = log_sink(&l);
	struct fault f = FAULT_INIT;
	bool equal = false;

	if (delta_databases(a, b, o, &sink, &equal, &f) != 0)
		fail_msg("%s", f.text);
	assert_int_equal(buf_printf(&l.text, &f, "%s\n",
				    equal ? "equal" : "different"), 0);
	assert_int_equal(buf_u8(&l.text, 0, &f), 0);
	assert_int_equal(sqlite3_close(a), SQLITE_OK);
	assert_int_equal(sqlite3_close(b), SQLITE_OK);
	return (char *)l.text.data;
}

#define LOG_OPTIONS { .ignore_rowid = false, .memory = 1u << 20 }

/* The delta of two scripts is this text. */
UNUSED static void
log_expect_with(const char *before, const char *after,
		const struct delta_options *o, bool rows_only,
		const char *expected)
{
	char *got = log_delta(log_db(before), log_db(after), o, rows_only);

	assert_string_equal(got, expected);
	free(got);
}

UNUSED static void
log_expect(const char *before, const char *after, const char *expected)
{
	struct delta_options o = LOG_OPTIONS;

	log_expect_with(before, after, &o, false, expected);
}

/* Only the rows and the verdict. */
UNUSED static void
log_expect_rows(const char *before, const char *after, const char *expected)
{
	struct delta_options o = LOG_OPTIONS;

	log_expect_with(before, after, &o, true, expected);
}

#endif
