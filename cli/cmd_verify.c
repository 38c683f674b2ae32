/*
 * cmd_verify.c - may it differ so? Here: it may not differ at all
 *
 * The empty policy: every setting inside the fingerprint, schema object and
 * table that differs breaks the rule "unchanged".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "cli/ask_run.h"
#include "cli/cells.h"
#include "cli/changes.h"
#include "cli/changes_json.h"
#include "cli/cli.h"
#include "cli/escape.h"
#include "cli/report.h"
#include "cli/summary.h"

/* Of a first key's cell: a key may be as large as any text. */
#define VERIFY_CELL_MAX 64u
#define VERIFY_VIOLATIONS_MAX 100000u

static const enum args_id S_takes[] = {
	ARGS_UNCHANGED, ARGS_FULL, ARGS_IGNORE_ROWID, ARGS_EXPECT_ID,
	ARGS_ACCEPT_NAMES, ARGS_MEMORY_LIMIT, ARGS_TIME_LIMIT,
	ARGS_OUTPUT_LIMIT, ARGS_JSON, ARGS_HELP, ARGS_END,
};

const struct args_usage verify_usage = {
	.name = "verify",
	.summary = "Prove that nothing changed between two packets or files",
	.takes = S_takes,
	.required = ARGS_UNCHANGED,
	.operands = "BEFORE AFTER",
	.min_operands = 2,
	.max_operands = 2,
	.statuses = "  0  pass: unchanged\n"
		    "  1  fail: the violations are named\n"
		    "  2  the command line is wrong\n"
		    "  3  refused: the evidence can't be established\n"
		    "  4  the evidence is damaged or not supported\n"
		    "  5  trouble: rights, I/O, a limit, the sandbox\n"
		    "  6  unchanged, but something was not examined\n",
	.example = "holdfast verify --unchanged stopped.holdfast"
		   " restarted.holdfast",
};

struct violation {
	char *table;		/* owned; NULL: a setting's */
	char *detail;		/* owned */
	size_t total;		/* 1 + the table whose counts belong here, 0 */
};

struct verify {
	const struct args *a;
	FILE *out;
	struct ask_run run;
	struct changes changes;
	struct changes_json json;
	struct changes_sink lines;	/* --json prints the delta as well */
	struct violation *violation;	/* owned */
	size_t violations;
	size_t keyed;		/* 1 + the table whose first key is known */
	FILE *note;		/* owned: the detail being written */
	char *note_text;
	size_t note_len;
};

static void
S_free(struct verify *v)
{
	for (size_t i = 0; i < v->violations; i++) {
		free(v->violation[i].table);
		free(v->violation[i].detail);
	}
	free(v->violation);
	if (v->note)
		(void)fclose(v->note);
	free(v->note_text);
	changes_free(&v->changes);
	ask_free(&v->run);
}

/* What stands in the note becomes a violation's detail. */
static int
S_violate(struct verify *v, const char *table, size_t total, struct fault *f)
{
	struct violation got = { .total = total };
	struct violation *grown;

	if (v->violations == VERIFY_VIOLATIONS_MAX)
		return fault_set(f, FAULT_CAP, "more than %u violations",
				 VERIFY_VIOLATIONS_MAX);
	grown = reallocarray(v->violation, v->violations + 1, sizeof(*grown));
	if (!grown || fflush(v->note))
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	v->violation = grown;
	got.detail = strndup(v->note_text, v->note_len);
	got.table = table ? strdup(table) : NULL;
	v->violation[v->violations++] = got;
	rewind(v->note);
	if (!got.detail || (table && !got.table))
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	return 0;
}

static void
S_note_cell(struct verify *v, const struct cell *c)
{
	struct cell part = *c;
	bool cut = c->tag != CELL_BLOBSUM && c->len > VERIFY_CELL_MAX;

	if (cut)
		part.len = VERIFY_CELL_MAX;
	cells_put_quoted(v->note, &part, '\'', CELLS_SHOWN);
	if (cut)
		(void)fputs("...", v->note);
}

static int
S_setting(void *arg, const char *name, const struct cell *before,
	  const struct cell *after, bool matters, struct fault *f)
{
	struct verify *v = arg;
	int rc = 0;

	if (v->a->json)
		rc = v->lines.setting(v->lines.arg, name, before, after,
				      matters, f);
	if (rc || !matters)
		return rc;
	(void)fprintf(v->note, "%s ", name);
	S_note_cell(v, before);
	(void)fputs(" became ", v->note);
	S_note_cell(v, after);
	return S_violate(v, NULL, 0, f);
}

static int
S_object(void *arg, const struct changes_object *o, struct fault *f)
{
	struct verify *v = arg;
	int rc = 0;

	if (v->a->json)
		rc = v->lines.object(v->lines.arg, o, f);
	if (rc)
		return rc;
	(void)fprintf(v->note, "%s %s %s%s", o->type, o->name,
		      o->change == WIRE_ADDED ? "was added" :
		      o->change == WIRE_REMOVED ? "was removed" : "changed",
		      o->change == WIRE_CHANGED && !o->structure ?
		      " in its text" : "");
	return S_violate(v, o->table, 0, f);
}

/* The first row of a table is its violation; the counts come later. */
static int
S_row(void *arg, const struct changes_table *t, const struct changes_row *row,
      struct fault *f)
{
	struct verify *v = arg;
	size_t total = v->changes.tables + 1;
	int rc = 0;

	if (v->keyed != total) {
		v->keyed = total;
		if (t->key.count > 0)
			(void)fputs("; first:", v->note);
		for (uint32_t i = 0; i < t->key.count; i++) {
			(void)fprintf(v->note, " %s=", t->key.name[i]);
			S_note_cell(v, &row->key[i].cell);
		}
		rc = S_violate(v, t->name, total, f);
	}
	if (!rc && v->a->json)
		rc = v->lines.row(v->lines.arg, t, row, f);
	return rc;
}

/* The detail as one text: the caller's. */
static int
S_detail(const struct verify *v, const struct violation *one, char **text,
	 struct fault *f)
{
	const struct changes_counts *n;
	int got;

	if (one->total == 0) {
		*text = strdup(one->detail);
		got = *text ? 0 : -1;
	} else {
		n = &v->changes.table[one->total - 1].n;
		got = asprintf(text, "%" PRIu64 " added, %" PRIu64 " removed, %"
			       PRIu64 " changed%s", n->added, n->removed,
			       n->changed, one->detail);
	}
	if (got >= 0)
		return 0;
	*text = NULL;
	return fault_set(f, FAULT_TROUBLE, "out of memory");
}

static int
S_json_end(struct verify *v, struct fault *f)
{
	struct ndjson j = NDJSON_INIT(v->out);

	changes_json_summary(&j, &v->run, &v->changes);
	ndjson_open(&j, "violations", '[');
	for (size_t i = 0; i < v->violations; i++) {
		OWN_MEM(char, detail);
		int rc = S_detail(v, &v->violation[i], &detail, f);

		if (rc)
			return rc;
		ndjson_open(&j, NULL, '{');
		ndjson_text(&j, "rule", "unchanged");
		ndjson_name(&j, "table", v->violation[i].table);
		ndjson_text(&j, "detail", detail);
		ndjson_close(&j, '}');
	}
	ndjson_close(&j, ']');
	ndjson_notes(&j, &v->run.not_checked);
	ndjson_close(&j, '}');
	ndjson_line(&j);
	return 0;
}

static void
S_print_side(const struct verify *v, const char *what, size_t side)
{
	const char *id = evidence_id(v->run.evidence[side]);

	(void)fprintf(v->out, "%s ", what);
	escape_puts(v->out, v->a->operand[side]);
	(void)fprintf(v->out, "  %s\n", id ? id : "(a plain file, no packet)");
}

static int
S_text_end(struct verify *v, struct fault *f)
{
	(void)fprintf(v->out, "%s: %s\n",
		      v->changes.equal ? "pass" : "fail",
		      v->changes.equal ? "unchanged" :
		      "something changed where nothing may");
	S_print_side(v, "before", 0);
	S_print_side(v, "after ", 1);
	for (size_t i = 0; i < v->violations; i++) {
		OWN_MEM(char, detail);
		int rc = S_detail(v, &v->violation[i], &detail, f);

		if (rc)
			return rc;
		(void)fputs("rule unchanged: ", v->out);
		if (v->violation[i].total) {
			escape_puts(v->out, v->violation[i].table);
			(void)fputs(": ", v->out);
		}
		escape_puts(v->out, detail);
		(void)fputc('\n', v->out);
	}
	summary_notes(v->out, &v->run.not_checked);
	return 0;
}

int
cmd_verify(const struct args *a, FILE *out, enum cli_status *status,
	   struct fault *f)
{
	struct verify v __attribute__((cleanup(S_free))) = {
		.a = a,
		.out = out,
		.json = { .out = out, .full = a->full },
	};
	const struct changes_sink sink = {
		.arg = &v,
		.setting = S_setting,
		.object = S_object,
		.row = S_row,
	};
	int rc;

	v.lines = changes_json_sink(&v.json);
	v.note = open_memstream(&v.note_text, &v.note_len);
	if (!v.note)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	rc = ask_open(&v.run, a, 2, f);
	if (!rc)
		rc = ask_start(&v.run, ASK_DIFF, NULL, f);
	if (!rc)
		rc = changes_read(&v.run, NULL, &sink, &v.changes, f);
	if (!rc)
		rc = a->json ? S_json_end(&v, f) : S_text_end(&v, f);
	if (rc)
		return rc;
	*status = report_worst(v.changes.equal ? CLI_YES : CLI_NO,
			       summary_status(&v.run.not_checked));
	return 0;
}
