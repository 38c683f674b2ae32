/*
 * csv.c - rows as comma-separated values
 */
#include "cli/csv.h"

#include <stdbool.h>
#include <string.h>

static bool
S_is_text(const struct cell *c)
{
	return c->tag == CELL_TEXT || c->tag == CELL_TEXT8 ||
	       c->tag == CELL_TEXT16;
}

static bool
S_must_quote(const struct cell *c)
{
	if (c->len == 0 || c->tag == CELL_TEXT16)
		return true;
	for (size_t i = 0; i < c->len; i++)
		if (c->bytes[i] == '"' || c->bytes[i] == ',' ||
		    c->bytes[i] == '\n' || c->bytes[i] == '\r')
			return true;
	return false;
}

static void
S_field(FILE *to, const struct cell *c, enum cells_text how)
{
	if (c->tag == CELL_NULL)
		return;
	if (S_is_text(c) && S_must_quote(c))
		cells_put_quoted(to, c, '"', how);
	else
		cells_put(to, c, how);
}

void
csv_row(FILE *to, const struct cell *cells, size_t n, enum cells_text how)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			(void)putc_unlocked(',', to);
		S_field(to, &cells[i], how);
	}
	(void)fputs_unlocked("\r\n", to);
}
