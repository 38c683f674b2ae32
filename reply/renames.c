/*
 * renames.c - which table and column of BEFORE is which one of AFTER
 */
#include "reply/renames.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/own.h"

static void
S_free_rename(struct rename *one)
{
	free(one->table);
	free(one->from);
	free(one->to);
}

void
renames_free(struct renames *r)
{
	for (size_t i = 0; i < r->n; i++)
		S_free_rename(&r->item[i]);
	free(r->item);
	*r = (struct renames){ .item = NULL };
}

static int
S_no_memory(struct fault *f)
{
	return fault_set(f, FAULT_TROUBLE, "out of memory: renames");
}

int
renames_add(struct renames *r, const char *table, const char *from,
	    const char *to, struct fault *f)
{
	size_t room = r->room ? 2 * r->room : 8;
	struct rename *grown, *one;

	if (r->n == RENAMES_MAX)
		return fault_set(f, FAULT_CAP, "more than %u renames",
				 RENAMES_MAX);
	if (r->n == r->room) {
		grown = reallocarray(r->item, room, sizeof(*grown));
		if (!grown)
			return S_no_memory(f);
		r->item = grown;
		r->room = room;
	}
	one = &r->item[r->n++];
	one->table = table ? strdup(table) : NULL;
	one->from = strdup(from);
	one->to = strdup(to);
	return (table && !one->table) || !one->from || !one->to
	       ? S_no_memory(f) : 0;
}

static int
S_write_name(struct buf *b, const char *name, struct fault *f)
{
	return buf_printf(b, f, "%zu:%s", strlen(name), name);
}

int
renames_write(const struct renames *r, struct buf *b, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < r->n; i++) {
		const struct rename *one = &r->item[i];

		rc = buf_u8(b, one->table ? 'c' : 't', f);
		if (rc == 0 && one->table)
			rc = S_write_name(b, one->table, f);
		if (rc == 0)
			rc = S_write_name(b, one->from, f);
		if (rc == 0)
			rc = S_write_name(b, one->to, f);
	}
	return rc ? rc : buf_u8(b, 0, f);
}

static int
S_malformed(struct fault *f)
{
	return fault_set(f, FAULT_USAGE, "the ask's renames are malformed");
}

/* *name is the caller's. */
static int
S_read_name(const char **at, char **name, struct fault *f)
{
	const char *p = *at;
	size_t n = 0;

	if (*p < '0' || *p > '9')
		return S_malformed(f);
	for (; *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (size_t)(*p - '0');
		if (n > RENAMES_NAME_MAX)
			return S_malformed(f);
	}
	if (*p++ != ':' || strnlen(p, n) != n)
		return S_malformed(f);
	*name = strndup(p, n);
	*at = p + n;
	return *name ? 0 : S_no_memory(f);
}

static int
S_read_record(struct renames *r, const char **at, struct fault *f)
{
	OWN_MEM(char, table);
	OWN_MEM(char, from);
	OWN_MEM(char, to);
	char kind = *(*at)++;
	int rc = 0;

	if (kind != 't' && kind != 'c')
		return S_malformed(f);
	if (kind == 'c')
		rc = S_read_name(at, &table, f);
	if (!rc)
		rc = S_read_name(at, &from, f);
	if (!rc)
		rc = S_read_name(at, &to, f);
	return rc ? rc : renames_add(r, table, from, to, f);
}

int
renames_read(struct renames *r, const char *text, struct fault *f)
{
	int rc = 0;

	while (rc == 0 && *text)
		rc = S_read_record(r, &text, f);
	if (rc)
		renames_free(r);
	return rc;
}

const char *
renames_column_to(const struct renames *r, const char *table, const char *from)
{
	for (size_t i = 0; r && i < r->n; i++) {
		const struct rename *one = &r->item[i];

		if (one->table && strcasecmp(one->table, table) == 0 &&
		    strcasecmp(one->from, from) == 0)
			return one->to;
	}
	return NULL;
}

const char *
renames_column_from(const struct renames *r, const char *table, const char *to)
{
	for (size_t i = 0; r && i < r->n; i++) {
		const struct rename *one = &r->item[i];

		if (one->table && strcasecmp(one->table, table) == 0 &&
		    strcasecmp(one->to, to) == 0)
			return one->from;
	}
	return NULL;
}
