/*
 * table.c - rows in columns for people
 */
#include "cli/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "cli/cells.h"

#define TABLE_HELD_ROWS 1000u
#define TABLE_HELD_BYTES (1u << 20)
/* One long text must not push all other columns off the screen. */
#define TABLE_WIDTH_MAX 60u

/* Characters, not columns: enough for most scripts, and needs no locale. */
static size_t
S_width(const char *text, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

static void
S_print(struct table *t, size_t column, const char *text, size_t n)
{
	size_t width = S_width(text, n);
	bool last = column + 1 == t->columns;

	(void)fwrite_unlocked(text, 1, n, t->to);
	for (; !last && width < t->width[column]; width++)
		(void)putc_unlocked(' ', t->to);
	(void)fputs_unlocked(last ? "\n" : "  ", t->to);
}

static int
S_to_text(struct table *t, const struct cell *c, struct fault *f)
{
	rewind(t->cell);
	cells_put(t->cell, c, CELLS_SHOWN);
	if (fflush(t->cell))
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	return 0;
}

static int
S_hold(struct table *t, size_t column, struct fault *f)
{
	size_t width = S_width(t->cell_text, t->cell_len);
	int rc = buf_u64(&t->held, t->cell_len, f);

	if (!rc)
		rc = buf_append(&t->held, t->cell_text, t->cell_len, f);
	if (width > TABLE_WIDTH_MAX)
		width = TABLE_WIDTH_MAX;
	if (width > t->width[column])
		t->width[column] = width;
	return rc;
}

static void
S_print_rule(struct table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		for (size_t k = 0; k < t->width[i]; k++)
			(void)putc_unlocked('-', t->to);
		(void)fputs_unlocked(i + 1 == t->columns ? "\n" : "  ",
				     t->to);
	}
}

static void
S_release(struct table *t)
{
	const unsigned char *at = t->held.data;

	for (size_t row = 0; row < t->rows_held; row++) {
		for (size_t i = 0; i < t->columns; i++) {
			uint64_t n = bytes_le64(at);

			at += sizeof(n);
			S_print(t, i, (const char *)at, (size_t)n);
			at += n;
		}
		if (row == 0)
			S_print_rule(t);
	}
	t->streaming = true;
	buf_free(&t->held);
}

int
table_open(struct table *t, FILE *to, const struct cell *head, size_t columns,
	   struct fault *f)
{
	*t = (struct table){ .to = to, .columns = columns };
	buf_init(&t->held, SIZE_MAX / 2);
	t->width = calloc(columns ? columns : 1, sizeof(*t->width));
	t->cell = open_memstream(&t->cell_text, &t->cell_len);
	if (!t->width || !t->cell)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	return table_row(t, head, f);
}

int
table_row(struct table *t, const struct cell *cells, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < t->columns; i++) {
		rc = S_to_text(t, &cells[i], f);
		if (rc == 0 && t->streaming)
			S_print(t, i, t->cell_text, t->cell_len);
		else if (rc == 0)
			rc = S_hold(t, i, f);
	}
	if (rc || t->streaming)
		return rc;
	t->rows_held++;
	if (t->rows_held > TABLE_HELD_ROWS || t->held.len > TABLE_HELD_BYTES)
		S_release(t);
	return 0;
}

void
table_close(struct table *t)
{
	if (t->to && !t->streaming)
		S_release(t);
}

void
table_free(struct table *t)
{
	free(t->width);
	t->width = NULL;
	buf_free(&t->held);
	if (t->cell)
		(void)fclose(t->cell);
	t->cell = NULL;
	free(t->cell_text);
	t->cell_text = NULL;
}
