/*
 * cmd_query.c - read-only SQL on the recovered state
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/ask_run.h"
#include "cli/cli.h"
#include "cli/csv.h"
#include "cli/ndjson.h"
#include "cli/report.h"
#include "cli/summary.h"
#include "cli/table.h"

/* More than SQLite can be built to give. */
#define QUERY_COLUMNS_MAX 32767u

static const enum args_id S_takes[] = {
	ARGS_VIEW, ARGS_CSV, ARGS_EXPECT_ID, ARGS_ACCEPT_NAMES,
	ARGS_MEMORY_LIMIT, ARGS_TIME_LIMIT, ARGS_OUTPUT_LIMIT, ARGS_JSON,
	ARGS_HELP, ARGS_END,
};

const struct args_usage query_usage = {
	.name = "query",
	.summary = "Run one read-only SQL statement on the recovered state",
	.takes = S_takes,
	.operands = "PACKET SQL",
	.min_operands = 2,
	.max_operands = 2,
	.statuses = "  0  the statement ran\n"
		    "  2  the command line or the SQL is wrong\n"
		    "  3  refused: the evidence can't be established\n"
		    "  4  the evidence is damaged or not supported\n"
		    "  5  trouble: rights, I/O, a limit, the sandbox\n"
		    "  6  it ran, but something was not examined\n",
	.example = "holdfast query app.holdfast 'SELECT count(*) FROM t'",
};

struct query {
	const struct args *a;
	FILE *out;
	enum cells_text how;		/* of CSV */
	struct ask_run run;
	struct table table;
	struct cell *cells;	/* owned; one row, its bytes borrowed */
	size_t columns;
	uint64_t rows;
	bool headed;		/* COLUMNS came */
};

static void
S_free(struct query *q)
{
	free(q->cells);
	table_free(&q->table);
	ask_free(&q->run);
}

static void
S_json_columns(struct query *q)
{
	struct ndjson j = NDJSON_INIT(q->out);

	ndjson_open(&j, NULL, '{');
	ndjson_text(&j, "kind", "columns");
	ndjson_open(&j, "names", '[');
	for (size_t i = 0; i < q->columns; i++)
		ndjson_bytes(&j, NULL, q->cells[i].bytes, q->cells[i].len);
	ndjson_close(&j, ']');
	ndjson_close(&j, '}');
	ndjson_line(&j);
}

static void
S_json_row(struct query *q)
{
	struct ndjson j = NDJSON_INIT(q->out);

	ndjson_open(&j, NULL, '{');
	ndjson_text(&j, "kind", "row");
	ndjson_open(&j, "cells", '[');
	for (size_t i = 0; i < q->columns; i++)
		ndjson_cell(&j, NULL, &q->cells[i]);
	ndjson_close(&j, ']');
	ndjson_close(&j, '}');
	ndjson_line(&j);
}

/* COLUMNS says how many there are only by its length: count, then decode. */
static int
S_take_columns(struct query *q, struct wire_frame *fr, struct fault *f)
{
	struct wire_frame again = *fr;
	struct cell c;
	int rc;

	if (q->headed)
		return ask_malformed(f, "two headings");
	q->headed = true;
	for (q->columns = 0; fr->at < fr->end; q->columns++) {
		rc = wire_get(fr, &c, f);
		if (rc)
			return rc;
		if (q->columns == QUERY_COLUMNS_MAX ||
		    (c.tag != CELL_TEXT && c.tag != CELL_TEXT8))
			return ask_malformed(f, "no heading");
	}
	q->cells = calloc(q->columns + 1, sizeof(*q->cells));
	if (!q->cells)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	for (size_t i = 0; i < q->columns; i++) {
		rc = wire_get(&again, &q->cells[i], f);
		if (rc)
			return rc;
	}
	if (q->a->json)
		S_json_columns(q);
	else if (q->a->csv)
		csv_row(q->out, q->cells, q->columns, q->how);
	else
		return table_open(&q->table, q->out, q->cells,
				  q->columns, f);
	return 0;
}

static int
S_take_row(struct query *q, struct wire_frame *fr, struct fault *f)
{
	int rc = 0;

	if (!q->headed)
		return ask_malformed(f, "a row without a heading");
	for (size_t i = 0; rc == 0 && i < q->columns; i++)
		rc = wire_get(fr, &q->cells[i], f);
	if (!rc)
		rc = wire_get_done(fr, f);
	if (rc)
		return rc;
	q->rows++;
	if (q->a->json)
		S_json_row(q);
	else if (q->a->csv)
		csv_row(q->out, q->cells, q->columns, q->how);
	else
		rc = table_row(&q->table, q->cells, f);
	return rc ? rc : report_written(q->out, f);
}

static int
S_read(struct query *q, struct fault *f)
{
	struct wire_frame fr;
	int rc;

	while ((rc = ask_next(&q->run, &fr, f)) == 0) {
		if (fr.type == WIRE_COLUMNS)
			rc = S_take_columns(q, &fr, f);
		else if (fr.type == WIRE_RESULT)
			rc = S_take_row(q, &fr, f);
		else
			rc = ask_malformed(f, "a frame that query does not"
					      " know");
		if (rc)
			return rc;
	}
	if (rc < 0)
		return rc;
	if (!q->headed)
		return ask_malformed(f, "no heading came");
	return ask_finish(&q->run, f);
}

static void
S_print_end(struct query *q)
{
	const struct notes *notes = &q->run.not_checked;
	struct ndjson j = NDJSON_INIT(q->out);

	table_close(&q->table);
	if (!q->a->json) {
		/* The rows may go to another program: keep them pure. */
		summary_notes(stderr, notes);
		return;
	}
	ndjson_open(&j, NULL, '{');
	ndjson_text(&j, "kind", "summary");
	ndjson_u64(&j, "rows", q->rows);
	ndjson_text(&j, "id", evidence_id(q->run.evidence[0]));
	ndjson_notes(&j, notes);
	ndjson_close(&j, '}');
	ndjson_line(&j);
}

int
cmd_query(const struct args *a, FILE *out, enum cli_status *status,
	  struct fault *f)
{
	struct query q __attribute__((cleanup(S_free))) = {
		.a = a,
		.out = out,
		.how = isatty(fileno(out)) ? CELLS_SHOWN : CELLS_EXACT,
	};
	int rc;

	rc = ask_open(&q.run, a, 1, f);
	if (rc)
		return rc;
	if (a->csv)
		q.run.ask.flags |= ASK_RAW_BLOBS;
	rc = ask_start(&q.run, ASK_QUERY, a->operand[1], f);
	if (!rc)
		rc = S_read(&q, f);
	if (rc)
		return rc;
	S_print_end(&q);
	*status = summary_status(&q.run.not_checked);
	return 0;
}
