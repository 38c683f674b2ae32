/*
 * structure.c - whether two texts of an object mean the same structure
 */
#include "verify/structure.h"

#include <string.h>
#include <strings.h>

#include "base/cell.h"
#include "base/token.h"
#include "reply/wire.h"
#include "verify/sql.h"

/* Words that start what no PRAGMA shows in full. */
static bool
S_hidden_from_pragmas(const char *sql)
{
	static const char *const table[] = {
		"check", "as", "generated", "conflict", "deferrable",
		"autoincrement", NULL,
	};

	return token_has(sql, table);
}

static bool
S_index_hidden(const char *sql)
{
	static const char *const index[] = { "where", NULL };

	return token_has(sql, index) || token_nested(sql);
}

static int
S_put_row(struct catalog *c, struct buf *b, sqlite3_stmt *s, struct fault *f)
{
	int n = sqlite3_column_count(s), rc = 0, type;

	for (int i = 0; rc == 0 && i < n; i++)
		rc = value_put(&c->values, b, s, i, VALUE_FINAL, &type, f);
	return rc;
}

/* All rows that a PRAGMA of a name gives. */
static int
S_put_pragma(struct catalog *c, struct buf *b, const char *pragma,
	     const char *name, struct fault *f)
{
	OWN_STMT(s);
	int rc = sql_prepare(c->db, &s, f, "PRAGMA main.%s(\"%w\")", pragma,
			     name);

	while (rc == 0) {
		rc = sql_step(s, f);
		if (rc == 0)
			rc = S_put_row(c, b, s, f);
	}
	return rc < 0 ? rc : cell_put_text(b, pragma, f);
}

/* The indexes of a table that its own text made (name NULL), or the one. */
static int
S_put_indexes(struct catalog *c, struct buf *b, const char *table,
	      const char *name, struct fault *f)
{
	OWN_STMT(s);
	int rc = sql_prepare(c->db, &s, f, "PRAGMA main.index_list(\"%w\")",
			     table);

	while (rc == 0) {
		const char *index, *origin;

		rc = sql_step(s, f);
		if (rc)
			break;
		index = (const char *)sqlite3_column_text(s, 1);
		origin = (const char *)sqlite3_column_text(s, 3);
		if (!index || !origin)
			continue;
		if (name ? strcasecmp(index, name) != 0
			 : strcmp(origin, "c") == 0)
			continue;
		rc = cell_put_int(b, sqlite3_column_int(s, 2), f);
		if (rc == 0)
			rc = cell_put_int(b, sqlite3_column_int(s, 4), f);
		if (rc == 0)
			rc = S_put_pragma(c, b, "index_xinfo", index, f);
	}
	return rc < 0 ? rc : 0;
}

static int
S_put_collations(struct catalog *c, struct buf *b,
		 const struct catalog_table *t, struct fault *f)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < t->ncolumn; i++) {
		const char *collation = NULL;

		(void)sqlite3_table_column_metadata(c->db, "main", t->name,
						    t->column[i].name, NULL,
						    &collation, NULL, NULL,
						    NULL);
		rc = cell_put_utf8(b, collation ? collation : "",
				   collation ? strlen(collation) : 0, f);
	}
	return rc;
}

static int
S_put_table(struct catalog *c, struct buf *b, const struct catalog_object *o,
	    struct fault *f)
{
	struct catalog_table t;
	int rc = catalog_table_load(&t, c, o, f);

	if (rc)
		return rc < 0 ? rc : 0;
	rc = cell_put_int(b, t.without_rowid * 2 + t.strict, f);
	if (rc == 0)
		rc = S_put_collations(c, b, &t, f);
	if (rc == 0)
		rc = S_put_pragma(c, b, "table_xinfo", o->name, f);
	if (rc == 0)
		rc = S_put_pragma(c, b, "foreign_key_list", o->name, f);
	if (rc == 0)
		rc = S_put_indexes(c, b, o->name, NULL, f);
	catalog_table_free(&t);
	return rc;
}

static int
S_put_object(struct catalog *c, struct buf *b, const struct catalog_object *o,
	     struct fault *f)
{
	if (o->is_table)
		return S_put_table(c, b, o, f);
	return S_put_indexes(c, b, o->table, o->name, f);
}

static bool
S_by_tokens(const struct catalog_object *o)
{
	if (o->is_table)
		return S_hidden_from_pragmas(o->sql);
	if (strcasecmp(o->type, "index") == 0)
		return S_index_hidden(o->sql);
	return true;
}

int
structure_differs(struct catalog *before, const struct catalog_object *b,
		  struct catalog *after, const struct catalog_object *a,
		  bool *differs, struct fault *f)
{
	struct buf pb = BUF_INIT(WIRE_FRAME_MAX);
	struct buf pa = BUF_INIT(WIRE_FRAME_MAX);
	int rc;

	*differs = !token_same(b->sql, a->sql);
	if (!*differs || S_by_tokens(b) || S_by_tokens(a) ||
	    a->is_table != b->is_table)
		return 0;
	rc = S_put_object(before, &pb, b, f);
	if (rc == 0)
		rc = S_put_object(after, &pa, a, f);
	*differs = pb.len != pa.len ||
		(pb.len > 0 && memcmp(pb.data, pa.data, pb.len) != 0);
	buf_free(&pb);
	buf_free(&pa);
	return rc;
}
