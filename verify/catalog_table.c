/*
 * catalog_table.c - columns and keys of one table, as SQLite has parsed them
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/own.h"
#include "base/token.h"
#include "verify/catalog.h"
#include "verify/sql.h"
#include "verify/unknown.h"

#define KEY_UNSET UINT32_MAX

enum {
	XINFO_NAME = 1,
	XINFO_TYPE,
	XINFO_NOTNULL,
	XINFO_DFLT,
	XINFO_PK,
	XINFO_HIDDEN,
};

static int
S_no_memory(struct fault *f)
{
	return fault_set(f, FAULT_TROUBLE, "out of memory: columns");
}

static int
S_column_fill(struct catalog_column *col, sqlite3_stmt *s, struct fault *f)
{
	int rc = sql_copy_text(s, XINFO_NAME, &col->name, f);

	if (rc == 0)
		rc = sql_copy_text(s, XINFO_TYPE, &col->type, f);
	if (rc == 0 && sqlite3_column_type(s, XINFO_DFLT) != SQLITE_NULL)
		rc = sql_copy_text(s, XINFO_DFLT, &col->dflt, f);
	col->notnull = sqlite3_column_int(s, XINFO_NOTNULL) != 0;
	col->hidden = (enum catalog_hidden)sqlite3_column_int(s, XINFO_HIDDEN);
	return rc;
}

/* place: from 1, the column's place in the declared PRIMARY KEY. */
static int
S_key_add(struct catalog_table *t, uint32_t column, uint32_t place,
	  struct fault *f)
{
	void *grown;

	if (place > t->nkey) {
		grown = realloc(t->key, place * sizeof(*t->key));
		if (!grown)
			return S_no_memory(f);
		t->key = grown;
		while (t->nkey < place)
			t->key[t->nkey++].column = KEY_UNSET;
	}
	t->key[place - 1].column = column;
	return 0;
}

/* PRIMARY KEY(a, a, b) has no column in its second place. */
static void
S_key_compact(struct catalog_table *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nkey; i++) {
		if (t->key[i].column == KEY_UNSET)
			continue;
		t->key[n] = t->key[i];
		t->key[n++].desc = false;
	}
	t->nkey = n;
}

static int
S_column_add(struct catalog_table *t, sqlite3_stmt *s, struct fault *f)
{
	uint32_t n = t->ncolumn;
	void *grown = realloc(t->column, (n + 1) * sizeof(*t->column));
	int rc, place;

	if (!grown)
		return S_no_memory(f);
	t->column = grown;
	memset(&t->column[n], 0, sizeof(*t->column));
	t->ncolumn++;
	rc = S_column_fill(&t->column[n], s, f);
	place = sqlite3_column_int(s, XINFO_PK);
	if (rc == 0 && place > 0)
		rc = S_key_add(t, n, (uint32_t)place, f);
	return rc;
}

static int
S_load_columns(struct catalog_table *t, struct catalog *c, struct fault *f)
{
	OWN_STMT(s);
	int rc = sql_prepare(c->db, &s, f, "PRAGMA main.table_xinfo(\"%w\")",
			     t->name);

	while (rc == 0) {
		rc = sql_step(s, f);
		if (rc == 0)
			rc = S_column_add(t, s, f);
	}
	if (rc < 0)
		return rc;
	S_key_compact(t);
	return t->ncolumn == 0;
}

/* The name of the index behind the PRIMARY KEY; NULL: there is none. */
static int
S_key_index(struct catalog_table *t, struct catalog *c, char **name,
	    struct fault *f)
{
	OWN_STMT(s);
	int rc = sql_prepare(c->db, &s, f, "PRAGMA main.index_list(\"%w\")",
			     t->name);

	while (rc == 0) {
		const char *origin;

		rc = sql_step(s, f);
		if (rc)
			break;
		origin = (const char *)sqlite3_column_text(s, 3);
		if (origin && strcmp(origin, "pk") == 0)
			return sql_copy_text(s, 1, name, f);
	}
	return rc < 0 ? rc : 0;
}

static int
S_load_key_order(struct catalog_table *t, struct catalog *c,
		 const char *index, struct fault *f)
{
	OWN_STMT(s);
	uint32_t i = 0;
	int rc = sql_prepare(c->db, &s, f, "PRAGMA main.index_xinfo(\"%w\")",
			     index);

	while (rc == 0 && i < t->nkey) {
		const char *collation;

		rc = sql_step(s, f);
		if (rc)
			break;
		collation = (const char *)sqlite3_column_text(s, 4);
		if (!collation || strcasecmp(collation, "BINARY") != 0)
			t->binary_key = false;
		t->key[i++].desc = sqlite3_column_int(s, 3) != 0;
	}
	if (rc < 0)
		return rc;
	if (i < t->nkey)
		t->binary_key = false;
	return 0;
}

static bool
S_has_column(const struct catalog_table *t, const char *name)
{
	for (uint32_t i = 0; i < t->ncolumn; i++) {
		if (strcasecmp(t->column[i].name, name) == 0)
			return true;
	}
	return false;
}

static void
S_find_rowid(struct catalog_table *t)
{
	static const char *const name[] = { "rowid", "_rowid_", "oid" };

	for (size_t i = 0; i < 3 && !t->rowid && !t->without_rowid; i++) {
		if (!S_has_column(t, name[i]))
			t->rowid = name[i];
	}
}

/*
 * INTEGER PRIMARY KEY is the rowid itself and so has no index; INTEGER
 * PRIMARY KEY DESC is not and has one.
 */
static int
S_load_key(struct catalog_table *t, struct catalog *c, struct fault *f)
{
	OWN_MEM(char, index);
	int rc;

	t->binary_key = true;
	if (t->nkey == 0)
		return 0;
	rc = S_key_index(t, c, &index, f);
	if (rc)
		return rc;
	if (index)
		return S_load_key_order(t, c, index, f);
	t->integer_key = !t->without_rowid && t->nkey == 1 &&
		strcasecmp(t->column[t->key[0].column].type, "INTEGER") == 0;
	return 0;
}

/*
 * A generated column may call what this SQLite does not have. Of collations
 * only reading tells: where one side is NULL or a number none is asked.
 */
static int
S_probe(struct catalog_table *t, struct catalog *c, struct catalog_column *col,
	struct fault *f)
{
	const char *asked = NULL;
	OWN_STMT(s);
	int rc = sql_prepare(c->db, &s, f, "SELECT x.\"%w\" FROM main.\"%w\""
			     " AS x NOT INDEXED", col->name, t->name);

	if (rc == 1)
		return sql_shown(sqlite3_errmsg(c->db), &col->why, f);
	if (rc || !unknown_any(c->unknown))
		return rc;
	do {
		rc = sql_step(s, f);
		asked = unknown_asked(c->unknown);
	} while (rc == 0 && !asked);
	if (rc == 2)
		return sql_shown(sqlite3_errmsg(c->db), &col->why, f);
	if (rc >= 0 && asked)
		return sql_shown(asked, &col->why, f);
	return rc < 0 ? rc : 0;
}

int
catalog_table_load(struct catalog_table *t, struct catalog *c,
		   const struct catalog_object *o, struct fault *f)
{
	int rc;

	memset(t, 0, sizeof(*t));
	token_table_options(o->sql, &t->without_rowid, &t->strict);
	t->name = strdup(o->name);
	rc = t->name ? 0 : S_no_memory(f);
	if (rc == 0)
		rc = S_load_columns(t, c, f);
	if (rc == 0)
		rc = S_load_key(t, c, f);
	if (rc == 0)
		S_find_rowid(t);
	for (uint32_t i = 0; rc == 0 && i < t->ncolumn; i++) {
		if (t->column[i].hidden >= CATALOG_VIRTUAL)
			rc = S_probe(t, c, &t->column[i], f);
	}
	if (rc)
		catalog_table_free(t);
	return rc;
}

void
catalog_table_free(struct catalog_table *t)
{
	for (uint32_t i = 0; i < t->ncolumn; i++) {
		free(t->column[i].name);
		free(t->column[i].type);
		free(t->column[i].dflt);
		free(t->column[i].why);
	}
	free(t->column);
	free(t->key);
	free(t->name);
	memset(t, 0, sizeof(*t));
}

int
catalog_table_null_key(const struct catalog_table *t, struct catalog *c,
		       bool *null, struct fault *f)
{
	OWN_STMT(s);
	struct buf sql = BUF_INIT(1u << 24);
	bool nullable = false;
	int rc;

	*null = false;
	if (t->without_rowid || t->integer_key)
		return 0;
	rc = buf_printf(&sql, f, "SELECT 1 FROM main.");
	if (rc == 0)
		rc = sql_quote(&sql, t->name, f);
	if (rc == 0)
		rc = buf_printf(&sql, f, " AS x NOT INDEXED WHERE 0");
	for (uint32_t i = 0; rc == 0 && i < t->nkey; i++) {
		const struct catalog_column *col =
			&t->column[t->key[i].column];

		if (col->notnull)
			continue;
		nullable = true;
		rc = buf_printf(&sql, f, " OR x.");
		if (rc == 0)
			rc = sql_quote(&sql, col->name, f);
		if (rc == 0)
			rc = buf_printf(&sql, f, " IS NULL");
	}
	if (rc == 0 && nullable) {
		rc = buf_u8(&sql, 0, f);
		if (rc == 0)
			rc = sql_prepare_text(c->db, &s,
					      (const char *)sql.data, f);
		if (rc == 0)
			rc = sql_step(s, f);
		*null = rc == 0;
	}
	buf_free(&sql);
	return rc < 0 ? rc : 0;
}
