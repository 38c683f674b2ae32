/*
 * changes_text.c - a delta for people
 */
#include "cli/changes_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cli/cells.h"
#include "cli/escape.h"
#include "cli/report.h"

#define TEXT_HELD_MAX (1 << 20)
#define TEXT_ARROW " \xe2\x86\x92 "

static char
S_sign(enum wire_change change)
{
	return change == WIRE_ADDED ? '+' : change == WIRE_REMOVED ? '-' : '~';
}

static void
S_cell(FILE *to, const struct cell *c)
{
	cells_put_quoted(to, c, '\'', CELLS_SHOWN);
}

static int
S_setting(void *arg, const char *name, const struct cell *before,
	  const struct cell *after, bool matters, struct fault *f)
{
	struct changes_text *t = arg;

	(void)fputs("setting ", t->out);
	escape_puts(t->out, name);
	(void)fputc(' ', t->out);
	S_cell(t->out, before);
	(void)fputs(TEXT_ARROW, t->out);
	S_cell(t->out, after);
	(void)fputs(matters ? "\n" : " (not part of the content)\n", t->out);
	return report_written(t->out, f);
}

static void
S_sql(FILE *to, char sign, const char *sql)
{
	while (sql && *sql) {
		size_t n = strcspn(sql, "\n");

		(void)fprintf(to, "  %c ", sign);
		escape_put(to, sql, n);
		(void)fputc('\n', to);
		sql += n + (sql[n] == '\n');
	}
}

/* What the heading alone would hide. */
static void
S_was(FILE *to, const struct changes_object *o)
{
	if (!o->type_before && !o->name_before && !o->table_before)
		return;
	(void)fputs("  was ", to);
	escape_puts(to, o->type_before ? o->type_before : o->type);
	(void)fputc(' ', to);
	escape_puts(to, o->name_before ? o->name_before : o->name);
	(void)fputs(" on ", to);
	escape_puts(to, o->table_before ? o->table_before : o->table);
	(void)fputc('\n', to);
}

/* More than the texts say: a NUL and what is behind it, or no text at all. */
static void
S_stored(FILE *to, char sign, const struct changes_stored *s)
{
	static const char *const name[WIRE_STORED] = {
		"type", "name", "tbl_name", "sql",
	};

	if (!s->there)
		return;
	(void)fprintf(to, "  %c stored as", sign);
	for (size_t i = 0; i < WIRE_STORED; i++) {
		(void)fprintf(to, " %s=", name[i]);
		S_cell(to, &s->cell[i].cell);
	}
	(void)fputc('\n', to);
}

static int
S_object(void *arg, const struct changes_object *o, struct fault *f)
{
	struct changes_text *t = arg;

	(void)fprintf(t->out, "schema %c ", S_sign(o->change));
	escape_puts(t->out, o->type);
	(void)fputc(' ', t->out);
	escape_puts(t->out, o->name);
	if (strcmp(o->table, o->name)) {
		(void)fputs(" on ", t->out);
		escape_puts(t->out, o->table);
	}
	(void)fputs(o->change == WIRE_CHANGED && !o->structure ?
		    " (its text only)\n" : "\n", t->out);
	S_was(t->out, o);
	S_sql(t->out, '-', o->before);
	S_sql(t->out, '+', o->after);
	S_stored(t->out, '-', &o->stored_before);
	S_stored(t->out, '+', &o->stored_after);
	return report_written(t->out, f);
}

static void
S_named(FILE *to, const char *name, const struct cell *c)
{
	escape_puts(to, name);
	(void)putc_unlocked('=', to);
	S_cell(to, c);
}

void
changes_text_key(FILE *to, const struct changes_table *t,
		 const struct changes_row *row)
{
	for (uint32_t i = 0; i < t->key.count; i++) {
		if (i > 0)
			(void)putc_unlocked(' ', to);
		S_named(to, t->key.name[i], &row->key[i].cell);
	}
}

/* ": " in front of the first, ", " in front of the others. */
static void
S_separate(FILE *to, bool *first)
{
	(void)fputs_unlocked(*first ? ": " : ", ", to);
	*first = false;
}

static void
S_whole(FILE *to, const struct changes_columns *c,
	const struct changes_cell *cells)
{
	bool first = true;

	for (uint32_t i = 0; i < c->count; i++) {
		if (c->in_key[i])
			continue;
		S_separate(to, &first);
		S_named(to, c->name[i], &cells[i].cell);
	}
}

static void
S_changed_cell(FILE *to, const char *name, const struct cell *before,
	       const struct cell *after)
{
	escape_puts(to, name);
	(void)putc_unlocked(' ', to);
	if (before)
		S_cell(to, before);
	else
		(void)fputs_unlocked("(no column)", to);
	(void)fputs_unlocked(TEXT_ARROW, to);
	if (after)
		S_cell(to, after);
	else
		(void)fputs_unlocked("(no column)", to);
}

static void
S_changed(FILE *to, bool full, const struct changes_table *t,
	  const struct changes_row *row)
{
	bool first = true;

	for (uint32_t i = 0; i < t->before.count; i++) {
		if (t->before.other[i] >= 0)
			continue;
		S_separate(to, &first);
		S_changed_cell(to, t->before.name[i], &row->before[i].cell,
			       NULL);
	}
	for (uint32_t i = 0; i < t->after.count; i++) {
		int32_t was = t->after.other[i];
		bool same = changes_same(t, row, i);

		if (same && (!full || t->after.in_key[i]))
			continue;
		S_separate(to, &first);
		if (same)
			S_named(to, t->after.name[i], &row->after[i].cell);
		else
			S_changed_cell(to, t->after.name[i],
				       was < 0 ? NULL : &row->before[was].cell,
				       &row->after[i].cell);
	}
}

/* Rows that are too many to hold back go out; from then on they stream. */
static int
S_settle(struct changes_text *t, bool last, struct fault *f)
{
	if (!t->held)
		return report_written(t->out, f);
	if (!last && ftello(t->held) < TEXT_HELD_MAX)
		return 0;
	if (fclose(t->held)) {
		t->held = NULL;
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	}
	t->held = NULL;
	(void)fwrite(t->held_text, 1, t->held_len, t->out);
	return report_written(t->out, f);
}

static int
S_row(void *arg, const struct changes_table *t, const struct changes_row *row,
      struct fault *f)
{
	struct changes_text *text = arg;
	FILE *to = text->held ? text->held : text->out;

	(void)putc_unlocked(S_sign(row->change), to);
	(void)putc_unlocked(' ', to);
	escape_puts(to, t->name);
	if (t->key.count > 0)
		(void)putc_unlocked(' ', to);
	changes_text_key(to, t, row);
	if (row->change == WIRE_ADDED)
		S_whole(to, &t->after, row->after);
	else if (row->change == WIRE_REMOVED)
		S_whole(to, &t->before, row->before);
	else
		S_changed(to, text->full, t, row);
	(void)putc_unlocked('\n', to);
	return S_settle(text, false, f);
}

int
changes_text_open(struct changes_text *t, FILE *out, bool full,
		  struct fault *f)
{
	*t = (struct changes_text){ .out = out, .full = full };
	t->held = open_memstream(&t->held_text, &t->held_len);
	return t->held ? 0 : fault_set(f, FAULT_TROUBLE, "out of memory");
}

struct changes_sink
changes_text_sink(struct changes_text *t)
{
	return (struct changes_sink){
		.arg = t,
		.setting = S_setting,
		.object = S_object,
		.row = S_row,
	};
}

static void
S_counts(FILE *out, const struct changes *c)
{
	for (size_t i = 0; i < c->tables; i++) {
		const struct changes_counts *n = &c->table[i].n;

		if (n->added + n->removed + n->changed == 0)
			continue;
		(void)fputs("table ", out);
		escape_puts(out, c->table[i].name);
		(void)fprintf(out,
			      ": %" PRIu64 " added, %" PRIu64 " removed, %"
			      PRIu64 " changed (%" PRIu64 TEXT_ARROW "%" PRIu64
			      " row%s)\n", n->added, n->removed, n->changed,
			      n->rows_before, n->rows_after,
			      plural_s(n->rows_after));
	}
}

static void
S_verdict(FILE *out, const struct changes *c)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < c->tables; i++)
		rows += c->table[i].n.rows_after;
	if (c->equal)
		(void)fprintf(out, "equal: tables %zu, rows %" PRIu64 "\n",
			      c->tables, rows);
	else
		(void)fprintf(out,
			      "different: settings %" PRIu64
			      ", schema objects %" PRIu64 ", rows %" PRIu64
			      "\n",
			      c->settings, c->objects, c->rows);
}

int
changes_text_end(struct changes_text *t, const struct changes *c,
		 struct fault *f)
{
	int rc;

	S_counts(t->out, c);
	rc = S_settle(t, true, f);
	S_verdict(t->out, c);
	return rc;
}

void
changes_text_free(struct changes_text *t)
{
	if (t->held)
		(void)fclose(t->held);
	t->held = NULL;
	free(t->held_text);
	t->held_text = NULL;
}
