/*
 * cmd_diff.c - the logical delta of two states, without a policy
 */
#include "cli/ask_run.h"
#include "cli/changes.h"
#include "cli/changes_json.h"
#include "cli/changes_text.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/summary.h"

static const enum args_id S_takes[] = {
	ARGS_FULL, ARGS_IGNORE_ROWID, ARGS_EXPECT_ID, ARGS_ACCEPT_NAMES,
	ARGS_MEMORY_LIMIT, ARGS_TIME_LIMIT, ARGS_OUTPUT_LIMIT, ARGS_JSON,
	ARGS_HELP, ARGS_END,
};

const struct args_usage diff_usage = {
	.name = "diff",
	.summary = "Show what differs between two packets or database files",
	.takes = S_takes,
	.operands = "BEFORE AFTER",
	.min_operands = 2,
	.max_operands = 2,
	.statuses = "  0  equal\n"
		    "  1  different\n"
		    "  2  the command line is wrong\n"
		    "  3  refused: the evidence can't be established\n"
		    "  4  the evidence is damaged or not supported\n"
		    "  5  trouble: rights, I/O, a limit, the sandbox\n"
		    "  6  equal, but something was not examined\n",
	.example = "holdfast diff before.holdfast after.holdfast",
};

static int
S_json(const struct args *a, FILE *out, struct ask_run *r, struct changes *c,
       struct fault *f)
{
	struct changes_json to = { .out = out, .full = a->full };
	const struct changes_sink sink = changes_json_sink(&to);
	struct ndjson j = NDJSON_INIT(out);
	int rc = changes_read(r, NULL, &sink, c, f);

	if (rc)
		return rc;
	changes_json_summary(&j, r, c, c->equal, NULL);
	ndjson_open(&j, "violations", '[');
	ndjson_close(&j, ']');
	ndjson_notes(&j, &r->not_checked);
	ndjson_close(&j, '}');
	ndjson_line(&j);
	return 0;
}

static int
S_text(const struct args *a, FILE *out, struct ask_run *r, struct changes *c,
       struct fault *f)
{
	struct changes_text to __attribute__((cleanup(changes_text_free)));
	int rc = changes_text_open(&to, out, a->full, f);
	const struct changes_sink sink = changes_text_sink(&to);

	if (!rc)
		rc = changes_read(r, NULL, &sink, c, f);
	if (!rc)
		rc = changes_text_end(&to, c, f);
	if (!rc)
		summary_notes(out, &r->not_checked);
	return rc;
}

int
cmd_diff(const struct args *a, FILE *out, enum cli_status *status,
	 struct fault *f)
{
	OWN_CHANGES(c);
	OWN_ASK(r);
	int rc = ask_open(&r, a, 2, f);

	if (!rc)
		rc = ask_start(&r, ASK_DIFF, NULL, f);
	if (!rc)
		rc = a->json ? S_json(a, out, &r, &c, f) :
			       S_text(a, out, &r, &c, f);
	if (rc)
		return rc;
	*status = report_worst(c.equal ? CLI_YES : CLI_NO,
			       summary_status(&r.not_checked));
	return 0;
}
