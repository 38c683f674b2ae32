/*
 * changes.c - what differs between two states, as the front end takes it
 */
#include "reply/changes.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void
S_free_columns(struct changes_columns *c)
{
	for (uint32_t i = 0; c->name && i < c->count; i++)
		free(c->name[i]);
	free(c->name);
	free(c->other);
	free(c->in_key);
	*c = (struct changes_columns){ .count = 0 };
}

void
changes_table_free(struct changes_table *t)
{
	free(t->name);
	S_free_columns(&t->key);
	S_free_columns(&t->before);
	S_free_columns(&t->after);
	free(t->own);
	free(t->dflt);
	free(t->dflt_bytes);
	*t = (struct changes_table){ .name = NULL };
}

static int
S_no_memory(struct fault *f)
{
	return fault_set(f, FAULT_TROUBLE, "out of memory: columns");
}

int
changes_columns_init(struct changes_columns *c, uint32_t n, struct fault *f)
{
	c->count = n;
	c->name = calloc(n + 1u, sizeof(*c->name));
	c->other = calloc(n + 1u, sizeof(*c->other));
	c->in_key = calloc(n + 1u, sizeof(*c->in_key));
	return c->name && c->other && c->in_key ? 0 : S_no_memory(f);
}

/* SQLite takes column names without regard to ASCII case. */
int32_t
changes_find(const struct changes_columns *c, const char *name)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (strcasecmp(c->name[i], name) == 0)
			return (int32_t)i;
	return -1;
}

/* BEFORE's column i in AFTER. */
static int32_t
S_forth(const struct changes_table *t, const struct renames *r, uint32_t i)
{
	const char *name = t->before.name[i];
	const char *to = renames_column_to(r, t->name, name);
	const char *from = renames_column_from(r, t->name, name);
	int32_t at = to ? changes_find(&t->after, to) : -1;

	if (at >= 0)
		return at;
	/* Another column took the name. */
	if (from && changes_find(&t->before, from) >= 0)
		return -1;
	return changes_find(&t->after, name);
}

void
changes_table_pair(struct changes_table *t, const struct renames *r)
{
	for (uint32_t i = 0; i < t->after.count; i++) {
		t->after.other[i] = -1;
		t->after.in_key[i] = t->kind == WIRE_KEY_DECLARED &&
			changes_find(&t->key, t->after.name[i]) >= 0;
	}
	for (uint32_t i = 0; i < t->before.count; i++) {
		int32_t other = S_forth(t, r, i);

		t->before.other[i] = other;
		t->before.in_key[i] = false;
		if (other >= 0) {
			t->after.other[other] = (int32_t)i;
			t->before.in_key[i] = t->after.in_key[other];
		} else if (t->kind == WIRE_KEY_DECLARED &&
			   t->after.count == 0) {
			t->before.in_key[i] =
				changes_find(&t->key, t->before.name[i]) >= 0;
		}
	}
}

static int
S_own_malformed(struct fault *f)
{
	return fault_set(f, FAULT_SANDBOX, "the helper's answer is malformed:"
			 " defaults of a table's columns");
}

int
changes_table_own(struct changes_table *t, int64_t known,
		  const unsigned char *cells, size_t n, struct fault *f)
{
	const unsigned char *at, *end;
	int64_t own = 0;

	t->own = calloc(t->after.count + 1u, sizeof(*t->own));
	t->dflt = calloc(t->after.count + 1u, sizeof(*t->dflt));
	t->dflt_bytes = malloc(n + 1);
	if (!t->own || !t->dflt || !t->dflt_bytes)
		return S_no_memory(f);
	if (n > 0)
		memcpy(t->dflt_bytes, cells, n);
	at = t->dflt_bytes;
	end = at + n;
	for (uint32_t i = 0; i < t->after.count; i++) {
		if (t->after.other[i] >= 0)
			continue;
		own++;
		t->own[i] = known < 0 ? CHANGES_UNKNOWN : CHANGES_FOLLOWS;
		if (own > known)
			continue;
		t->own[i] = CHANGES_DEFAULT;
		t->dflt[i].at = at;
		if (cell_get(&at, end, &t->dflt[i].cell, f))
			return S_own_malformed(f);
		t->dflt[i].len = (size_t)(at - t->dflt[i].at);
	}
	return known > own || at != end ? S_own_malformed(f) : 0;
}

/* The cell is more, or something else, than the text. */
static bool
S_odd(const struct changes_stored *s, size_t i, const char *text)
{
	const struct cell *c = &s->cell[i].cell;

	if (!s->there)
		return false;
	return !text || (c->tag != CELL_TEXT && c->tag != CELL_TEXT8) ||
	       c->len != strlen(text) || memcmp(c->bytes, text, c->len) != 0;
}

static bool
S_odd_name(const struct changes_stored *s, const char *type, const char *name,
	   const char *table)
{
	return S_odd(s, 0, type) || S_odd(s, 1, name) || S_odd(s, 2, table);
}

void
changes_object_weigh(struct changes_object *o)
{
	const struct changes_stored *b = &o->stored_before;
	const struct changes_stored *a = &o->stored_after;

	o->odd_name = S_odd_name(a, o->type, o->name, o->table) ||
		S_odd_name(b, o->type_before ? o->type_before : o->type,
			   o->name_before ? o->name_before : o->name,
			   o->table_before ? o->table_before : o->table);
	o->odd_before = S_odd(b, 3, o->before);
	o->odd_after = S_odd(a, 3, o->after);
}

static int
S_copy_columns(const struct changes_columns *c, struct changes_columns *to,
	       struct fault *f)
{
	int rc = changes_columns_init(to, c->count, f);

	for (uint32_t i = 0; rc == 0 && i < c->count; i++) {
		to->other[i] = c->other[i];
		to->in_key[i] = c->in_key[i];
		to->name[i] = strdup(c->name[i]);
		if (!to->name[i])
			rc = S_no_memory(f);
	}
	return rc;
}

int
changes_table_copy(const struct changes_table *t, struct changes_table *to,
		   struct fault *f)
{
	size_t n = 0;
	int64_t known = -1;
	int rc;

	*to = (struct changes_table){ .kind = t->kind };
	to->name = strdup(t->name);
	rc = to->name ? 0 : S_no_memory(f);
	if (!rc)
		rc = S_copy_columns(&t->key, &to->key, f);
	if (!rc)
		rc = S_copy_columns(&t->before, &to->before, f);
	if (!rc)
		rc = S_copy_columns(&t->after, &to->after, f);
	for (uint32_t i = 0; i < t->after.count; i++) {
		if (t->own[i] == CHANGES_DEFAULT) {
			known = known < 0 ? 1 : known + 1;
			n += t->dflt[i].len;
		} else if (t->own[i] == CHANGES_FOLLOWS && known < 0) {
			known = 0;
		}
	}
	if (!rc)
		rc = changes_table_own(to, known, t->dflt_bytes, n, f);
	if (rc)
		changes_table_free(to);
	return rc;
}
