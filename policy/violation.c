/*
 * violation.c - what broke the policy, and where
 */
#include "policy/violation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VIOLATION_DETAIL_MAX 1024

const char *
violation_rule_name(enum violation_rule r)
{
	static const char *const name[VIOLATION_RULES] = {
		[VIOLATION_SETTINGS] = "settings",
		[VIOLATION_ADD] = "add",
		[VIOLATION_DROP] = "drop",
		[VIOLATION_CHANGE] = "change",
		[VIOLATION_ADD_COLUMN] = "add_column",
		[VIOLATION_DROP_COLUMN] = "drop_column",
		[VIOLATION_RENAME_COLUMN] = "rename_column",
		[VIOLATION_RENAME_TABLE] = "rename_table",
		[VIOLATION_TABLES] = "tables",
		[VIOLATION_ADDED] = "added",
		[VIOLATION_REMOVED] = "removed",
		[VIOLATION_CHANGED] = "changed",
		[VIOLATION_COUNT] = "count",
		[VIOLATION_ROWS] = "rows",
		[VIOLATION_COLUMNS] = "columns",
		[VIOLATION_EACH] = "each",
		[VIOLATION_BIND] = "bind",
	};

	return name[r];
}

static void
S_free(struct violation *v)
{
	for (uint32_t i = 0; v->key && i < v->nkey; i++)
		free(v->key[i].name);
	free(v->key);
	free(v->table);
	free(v->pointer);
	free(v->detail);
	free(v->column);
	free(v->bytes);
}

void
violations_free(struct violations *all)
{
	for (size_t i = 0; i < all->n; i++)
		S_free(&all->item[i]);
	free(all->item);
	*all = (struct violations){ .n = 0 };
}

void
violations_scope(struct violations *all)
{
	memset(all->alike, 0, sizeof(all->alike));
}

static int
S_no_memory(struct fault *f)
{
	return fault_set(f, FAULT_TROUBLE, "out of memory: violations");
}

static size_t
S_kept(const struct changes_cell *c)
{
	return c->cell.len < VIOLATION_CELL_MAX ? c->cell.len
						: VIOLATION_CELL_MAX;
}

/* to gets the cell, its bytes at *room, which is moved behind them. */
static void
S_keep(const struct changes_cell *c, unsigned char **room,
       struct violation_cell *to)
{
	size_t n = S_kept(c);

	*to = (struct violation_cell){ .there = true, .cell = c->cell };
	to->cut = n < c->cell.len;
	to->cell.bytes = *room;
	to->cell.len = n;
	if (n > 0)
		memcpy(*room, c->cell.bytes, n);
	*room += n;
}

static int
S_keep_cells(struct violation *v, const struct violation_at *at,
	     struct fault *f)
{
	uint32_t nkey = at->row ? at->t->key.count : 0;
	size_t n = 1;
	unsigned char *room;

	for (uint32_t i = 0; i < nkey; i++)
		n += S_kept(&at->row->key[i]);
	n += at->before ? S_kept(at->before) : 0;
	n += at->after ? S_kept(at->after) : 0;
	v->bytes = room = malloc(n);
	v->key = calloc(nkey + 1u, sizeof(*v->key));
	if (!v->bytes || !v->key)
		return S_no_memory(f);
	v->nkey = nkey;
	for (uint32_t i = 0; i < nkey; i++) {
		v->key[i].name = strdup(at->t->key.name[i]);
		if (!v->key[i].name)
			return S_no_memory(f);
		S_keep(&at->row->key[i], &room, &v->key[i].value);
	}
	if (at->before)
		S_keep(at->before, &room, &v->before);
	if (at->after)
		S_keep(at->after, &room, &v->after);
	return 0;
}

static int
S_fill(struct violation *v, const struct violation_at *at, const char *detail,
       struct fault *f)
{
	const char *table = at->table ? at->table : at->t ? at->t->name : NULL;
	char pointer[JSON_POINTER_MAX];

	json_pointer(at->json, at->sentence, pointer);
	v->rule = at->rule;
	v->one_row = at->row && at->row->change != WIRE_CHANGED;
	v->detail = strdup(detail);
	v->pointer = strdup(pointer);
	v->table = table ? strdup(table) : NULL;
	v->column = at->column ? strdup(at->column) : NULL;
	if (!v->detail || !v->pointer || (table && !v->table) ||
	    (at->column && !v->column))
		return S_no_memory(f);
	return S_keep_cells(v, at, f);
}

static int
S_room(struct violations *all, struct fault *f)
{
	size_t room = all->room ? 2 * all->room : 16;
	struct violation *grown;

	if (all->n < all->room)
		return 0;
	grown = reallocarray(all->item, room, sizeof(*grown));
	if (!grown)
		return S_no_memory(f);
	all->item = grown;
	all->room = room;
	return 0;
}

int
violations_add(struct violations *all, const struct violation_at *at,
	       struct fault *f, const char *fmt, ...)
{
	char detail[VIOLATION_DETAIL_MAX];
	va_list ap;
	int rc;

	all->total++;
	if (all->alike[at->rule] == VIOLATION_ALIKE) {
		all->item[all->last[at->rule]].more++;
		return 0;
	}
	if (all->n == VIOLATION_MAX) {
		all->dropped++;
		return 0;
	}
	rc = S_room(all, f);
	if (rc)
		return rc;
	va_start(ap, fmt);
	(void)vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	all->alike[at->rule]++;
	all->last[at->rule] = all->n;
	all->item[all->n] = (struct violation){ .table = NULL };
	return S_fill(&all->item[all->n++], at, detail, f);
}
