/*
 * catalog.c - settings and objects of a recovered state
 */
#include "verify/catalog.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cell.h"
#include "base/token.h"
#include "reply/wire.h"
#include "verify/order.h"
#include "verify/sort.h"
#include "verify/sql.h"
#include "verify/unknown.h"

const char *
catalog_setting_name(enum catalog_setting i)
{
	static const char *const name[CATALOG_SETTINGS] = {
		[CATALOG_USER_VERSION] = "user_version",
		[CATALOG_APPLICATION_ID] = "application_id",
		[CATALOG_AUTO_VACUUM] = "auto_vacuum",
		[CATALOG_PAGE_SIZE] = "page_size",
	};

	return name[i];
}

static int
S_load_settings(struct catalog *c, struct fault *f)
{
	for (int i = 0; i < CATALOG_SETTINGS; i++) {
		char text[64] = "PRAGMA main.";
		int rc;

		(void)strcat(text,
			     catalog_setting_name((enum catalog_setting)i));
		rc = sql_int(c->db, text, &c->setting[i], f);
		if (rc)
			return rc;
	}
	return 0;
}

static void
S_object_free(struct catalog_object *o)
{
	free(o->type);
	free(o->table);
	free(o->sql);
	free(o->name);
	buf_free(&o->cells);
}

/* The cells say nothing that the texts don't. */
static bool
S_is_plain(const struct catalog_object *o)
{
	const char *const text[] = { o->type, o->name, o->table, o->sql };
	const unsigned char *at = o->cells.data;
	struct cell c;

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		order_next(&at, &c);
		if ((c.tag != CELL_TEXT && c.tag != CELL_TEXT8) ||
		    c.len != strlen(text[i]) || memcmp(c.bytes, text[i], c.len))
			return false;
	}
	return true;
}

/* Cells first: reading a column as UTF-8 may convert it in place. */
static int
S_object_fill(struct catalog *c, struct catalog_object *o, sqlite3_stmt *s,
	      struct fault *f)
{
	int rc = 0, type;

	buf_init(&o->cells, WIRE_FRAME_MAX);
	for (int i = 0; rc == 0 && i < 4; i++) {
		o->named = o->cells.len;
		rc = value_put(&c->values, &o->cells, s, i, VALUE_FINAL,
			       &type, f);
	}
	if (rc == 0)
		rc = sql_copy_text(s, 0, &o->type, f);
	if (rc == 0)
		rc = sql_copy_text(s, 1, &o->name, f);
	if (rc == 0)
		rc = sql_copy_text(s, 2, &o->table, f);
	if (rc == 0)
		rc = sql_copy_text(s, 3, &o->sql, f);
	if (rc)
		return rc;
	o->plain = S_is_plain(o);
	o->pair = o->name;
	o->is_table = token_object(o->sql) == TOKEN_OBJECT_TABLE;
	o->is_stat = strncasecmp(o->table, "sqlite_stat", 11) == 0;
	return 0;
}

static int
S_object_add(struct catalog *c, size_t *room, sqlite3_stmt *s,
	     struct fault *f)
{
	if (c->nobject == *room) {
		size_t more = *room ? *room * 2 : 16;
		void *grown = realloc(c->object, more * sizeof(*c->object));

		if (!grown)
			return fault_set(f, FAULT_TROUBLE,
					 "out of memory: schema");
		c->object = grown;
		*room = more;
	}
	memset(&c->object[c->nobject], 0, sizeof(*c->object));
	return S_object_fill(c, &c->object[c->nobject++], s, f);
}

int
catalog_order(const struct catalog_object *a, const struct catalog_object *b)
{
	int d = strcasecmp(a->pair, b->pair);

	if (d == 0)
		d = strcasecmp(a->type, b->type);
	return d ? d : (int)a->displaced - (int)b->displaced;
}

static int
S_sort_order(const void *a, const void *b)
{
	const struct catalog_object *x = a, *y = b;
	int d = catalog_order(x, y);
	size_t n = x->cells.len < y->cells.len ? x->cells.len : y->cells.len;

	if (d == 0)
		d = memcmp(x->cells.data, y->cells.data, n);
	return d ? d : (x->cells.len > y->cells.len) -
		       (x->cells.len < y->cells.len);
}

static int
S_load_objects(struct catalog *c, struct fault *f)
{
	OWN_STMT(s);
	size_t room = 0;
	int rc = sql_prepare_text(c->db, &s,
				  "SELECT type, name, tbl_name, sql"
				  " FROM main.sqlite_master"
				  " WHERE sql IS NOT NULL", f);

	while (rc == 0) {
		rc = sql_step(s, f);
		if (rc == 0)
			rc = S_object_add(c, &room, s, f);
	}
	if (rc < 0)
		return rc;
	if (!s || rc != 1)
		return fault_set(f, FAULT_DAMAGED, "the schema can't be read:"
				 " %s", sqlite3_errmsg(c->db));
	sort_items(c->object, c->nobject, sizeof(*c->object),
		   S_sort_order);
	return 0;
}

static bool
S_may_rename(const struct catalog_object *o, const char *name)
{
	return (o->is_table || strcasecmp(o->type, "table") == 0) &&
	       strcasecmp(o->name, name) == 0;
}

static struct catalog_object *
S_table(const struct catalog *c, const char *name)
{
	for (size_t i = 0; i < c->nobject; i++) {
		if (S_may_rename(&c->object[i], name))
			return &c->object[i];
	}
	return NULL;
}

void
catalog_rename(struct catalog *before, const struct catalog *after,
	       const struct renames *r)
{
	for (size_t i = 0; r && i < r->n; i++) {
		const struct rename *one = &r->item[i];
		struct catalog_object *from, *at;

		if (one->table || !S_table(after, one->to))
			continue;
		from = S_table(before, one->from);
		if (!from)
			continue;
		from->pair = one->to;
		from->displaced = false;
		at = S_table(before, one->to);
		if (at && at->pair == at->name && at != from)
			at->displaced = true;
	}
	sort_items(before->object, before->nobject, sizeof(*before->object),
		   S_sort_order);
}

int
catalog_load(struct catalog *c, sqlite3 *db, struct fault *f)
{
	int rc;

	memset(c, 0, sizeof(*c));
	c->db = db;
	rc = value_reader_init(&c->values, db, f);
	if (rc == 0)
		rc = unknown_watch(&c->unknown, db, f);
	c->values.unknown = c->unknown;
	if (rc == 0)
		rc = S_load_settings(c, f);
	if (rc == 0)
		rc = S_load_objects(c, f);
	if (rc)
		catalog_free(c);
	return rc;
}

void
catalog_free(struct catalog *c)
{
	for (size_t i = 0; i < c->nobject; i++)
		S_object_free(&c->object[i]);
	free(c->object);
	if (c->unknown)
		(void)sqlite3_collation_needed(c->db, NULL, NULL);
	unknown_free(c->unknown);
	value_reader_free(&c->values);
	memset(c, 0, sizeof(*c));
}
