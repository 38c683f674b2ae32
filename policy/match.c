/*
 * match.c - is a cell what a rule says?
 */
#include "policy/match.h"

#include <stdlib.h>
#include <string.h>

#include "policy/glob.h"

int
match_trial_init(struct match_trial *t, const struct policy *p,
		 struct fault *f)
{
	*t = (struct match_trial){ .bind = p->bind };
	t->got = calloc(p->nbind + 1, sizeof(*t->got));
	t->touched = calloc(p->nbind + 1, sizeof(*t->touched));
	if (t->got && t->touched)
		return 0;
	return fault_set(f, FAULT_TROUBLE, "out of memory: policy");
}

void
match_trial_free(struct match_trial *t)
{
	free(t->got);
	free(t->touched);
	*t = (struct match_trial){ .n = 0 };
}

void
match_trial_reset(struct match_trial *t)
{
	while (t->n > 0)
		t->got[t->touched[--t->n]] = NULL;
}

/* As SQLite steps over what may be no UTF-8. */
static uint64_t
S_utf8_length(const unsigned char *s, size_t n)
{
	uint64_t chars = 0;
	size_t i = 0;

	while (i < n && s[i]) {
		chars++;
		if (s[i++] < 0xc0)
			continue;
		while (i < n && (s[i] & 0xc0) == 0x80)
			i++;
	}
	return chars;
}

/* A surrogate of either half takes the unit behind it, as in SQLite. */
static uint64_t
S_utf16_length(const unsigned char *s, size_t n)
{
	uint64_t chars = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		unsigned unit = s[i] | (unsigned)s[i + 1] << 8;

		if (unit == 0)
			break;
		chars++;
		if (unit >= 0xd800 && unit < 0xe000)
			i += 2;
	}
	return chars;
}

uint64_t
match_length(const struct cell *c)
{
	switch (c->tag) {
	case CELL_TEXT:
	case CELL_TEXT8:
		return S_utf8_length(c->bytes, c->len);
	case CELL_TEXT16:
		return S_utf16_length(c->bytes, c->len);
	case CELL_BLOB:
		return c->len;
	case CELL_BLOBSUM:
		return (uint64_t)c->integer;
	case CELL_NULL:
	case CELL_INT:
	case CELL_REAL:
		break;
	}
	return 0;
}

static bool
S_is_type(enum policy_type type, enum cell_tag tag)
{
	switch (tag) {
	case CELL_INT:
		return type == POLICY_INT;
	case CELL_REAL:
		return type == POLICY_REAL;
	case CELL_TEXT:
	case CELL_TEXT8:
	case CELL_TEXT16:
		return type == POLICY_TEXT;
	case CELL_BLOB:
	case CELL_BLOBSUM:
		return type == POLICY_BLOB;
	case CELL_NULL:
		return type == POLICY_NULL;
	}
	return false;
}

static bool
S_within(const struct policy_rule *r, const struct cell *c)
{
	if (r->type == POLICY_INT)
		return !(r->has_min && c->integer < r->min) &&
		       !(r->has_max && c->integer > r->max);
	if (r->type == POLICY_REAL)
		return !(r->has_min && !(c->real >= r->real_min)) &&
		       !(r->has_max && !(c->real <= r->real_max));
	return true;
}

static bool
S_typed(const struct policy_rule *r, const struct cell *c)
{
	uint64_t length;

	if (!S_is_type(r->type, c->tag) || !S_within(r, c))
		return false;
	if (r->has_length) {
		length = match_length(c);
		if (length < r->length_min || length > r->length_max)
			return false;
	}
	/* What is no valid text has no characters to hold against it. */
	return !r->pattern || (c->tag == CELL_TEXT &&
			       glob_match(r->pattern, c->bytes, c->len));
}

static bool
S_bound(uint32_t bind, const struct changes_cell *cell, struct match_trial *t)
{
	const struct policy_bind *b = &t->bind[bind];

	if (b->cell)
		return b->len == cell->len &&
		       memcmp(b->cell, cell->at, cell->len) == 0;
	if (t->got[bind])
		return changes_equal(t->got[bind], cell);
	t->got[bind] = cell;
	t->touched[t->n++] = bind;
	return true;
}

static bool
S_added(int64_t add, const struct changes_cell *before,
	const struct changes_cell *cell)
{
	int64_t want;

	return before && before->cell.tag == CELL_INT &&
	       cell->cell.tag == CELL_INT &&
	       !__builtin_add_overflow(before->cell.integer, add, &want) &&
	       cell->cell.integer == want;
}

bool
match_cell(const struct policy_rule *r, const struct changes_cell *before,
	   const struct changes_cell *cell, struct match_trial *t)
{
	switch (r->kind) {
	case POLICY_CELL:
		return r->len == cell->len &&
		       memcmp(r->cell, cell->at, cell->len) == 0;
	case POLICY_TYPE:
		return S_typed(r, &cell->cell);
	case POLICY_BIND:
		return S_bound(r->bind, cell, t);
	case POLICY_ADD:
		return S_added(r->add, before, cell);
	case POLICY_SAME:
		return before && changes_equal(before, cell);
	}
	return false;
}
