/*
 * cmd_verify.c - may it differ so? The policy says it
 *
 * --unchanged is the empty policy. The document is read before any evidence
 * is: nothing of the evidence can change what it means.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/own.h"
#include "cli/ask_run.h"
#include "cli/changes.h"
#include "cli/changes_json.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/summary.h"
#include "cli/verdict.h"
#include "policy/judge.h"

static const enum args_id S_takes[] = {
	ARGS_POLICY, ARGS_BIND, ARGS_UNCHANGED, ARGS_FULL, ARGS_IGNORE_ROWID,
	ARGS_EXPECT_ID, ARGS_ACCEPT_NAMES, ARGS_MEMORY_LIMIT, ARGS_TIME_LIMIT,
	ARGS_OUTPUT_LIMIT, ARGS_JSON, ARGS_HELP, ARGS_END,
};

const struct args_usage verify_usage = {
	.name = "verify",
	.summary = "Prove that only what a policy allows changed",
	.takes = S_takes,
	.required = ARGS_POLICY,
	.or_else = ARGS_UNCHANGED,
	.choice = "{--policy FILE [--bind NAME=CELL]... | --unchanged}",
	.nchoice = 3,
	.operands = "BEFORE AFTER",
	.min_operands = 2,
	.max_operands = 2,
	.statuses = "  0  pass: the policy holds\n"
		    "  1  fail: the violations are named\n"
		    "  2  the command line or the policy is wrong\n"
		    "  3  refused: the evidence can't be established\n"
		    "  4  the evidence is damaged or not supported\n"
		    "  5  trouble: rights, I/O, a limit, the sandbox\n"
		    "  6  pass, but something was not examined\n",
	.example = "holdfast verify --policy migration.json before.holdfast"
		   " after.holdfast",
};

struct verify {
	const struct args *a;
	struct policy *policy;		/* owned */
	struct judge *judge;		/* owned */
	unsigned char sha256[DIGEST_BYTES];
	struct ask_run run;
	struct changes changes;
	struct changes_json json;
	struct changes_sink lines;	/* --json prints the delta as well */
	struct changes_sink judged;
};

static void
S_free(struct verify *v)
{
	judge_free(v->judge);
	policy_free(v->policy);
	changes_free(&v->changes);
	ask_free(&v->run);
}

static int
S_setting(void *arg, const char *name, const struct cell *before,
	  const struct cell *after, bool matters, struct fault *f)
{
	struct verify *v = arg;
	int rc = v->judged.setting(v->judge, name, before, after, matters, f);

	if (!rc && v->a->json)
		rc = v->lines.setting(&v->json, name, before, after, matters,
				      f);
	return rc;
}

static int
S_object(void *arg, const struct changes_object *o, struct fault *f)
{
	struct verify *v = arg;
	int rc = v->judged.object(v->judge, o, f);

	return rc || !v->a->json ? rc : v->lines.object(&v->json, o, f);
}

static int
S_table(void *arg, const struct changes_table *t, struct fault *f)
{
	struct verify *v = arg;

	return v->judged.table(v->judge, t, f);
}

static int
S_row(void *arg, const struct changes_table *t, const struct changes_row *row,
      struct fault *f)
{
	struct verify *v = arg;
	int rc = v->judged.row(v->judge, t, row, f);

	return rc || !v->a->json ? rc : v->lines.row(&v->json, t, row, f);
}

static int
S_table_end(void *arg, const struct changes_table *t,
	    const struct changes_counts *n, struct fault *f)
{
	struct verify *v = arg;

	return v->judged.table_end(v->judge, t, n, f);
}

/* *bytes is the caller's. */
static int
S_read_file(const char *path, unsigned char **bytes, size_t *n,
	    struct fault *f)
{
	OWN_FD(fd);

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "open");
	*bytes = malloc(POLICY_BYTES_MAX + 1u);
	if (!*bytes)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	/* One byte more than a policy may have: the reader refuses it. */
	return io_read(fd, *bytes, POLICY_BYTES_MAX + 1u, n, f);
}

static int
S_load(struct verify *v, struct fault *f)
{
	OWN_MEM(unsigned char, bytes);
	size_t n;
	int rc;

	if (!v->a->policy)
		return policy_empty(&v->policy, f);
	rc = S_read_file(v->a->policy, &bytes, &n, f);
	if (!rc)
		rc = policy_parse(&v->policy, bytes, n, v->a->binds,
				  v->a->nbinds, f);
	if (rc)
		return fault_wrap(f, "policy %s", v->a->policy);
	digest_of(bytes, n, v->sha256);
	return 0;
}

/* Asks for the delta of the policy's renames. */
static int
S_start(struct verify *v, struct fault *f)
{
	struct buf text = BUF_INIT(ASK_TEXT_MAX);
	int rc = renames_write(&v->policy->renames, &text, f);

	if (rc == -FAULT_CAP)
		rc = fault_set(f, FAULT_USAGE, "policy %s: the renames' names"
			       " pass %u bytes", v->a->policy, ASK_TEXT_MAX);
	if (!rc)
		rc = ask_open(&v->run, v->a, 2, f);
	if (!rc)
		rc = ask_start(&v->run, ASK_DIFF, (const char *)text.data, f);
	buf_free(&text);
	return rc;
}

static int
S_judge(struct verify *v, struct fault *f)
{
	const struct changes_sink sink = {
		.arg = v,
		.setting = S_setting,
		.object = S_object,
		.table = S_table,
		.row = S_row,
		.table_end = S_table_end,
	};
	int rc = judge_new(&v->judge, v->policy, f);

	if (rc)
		return rc;
	v->lines = changes_json_sink(&v->json);
	v->judged = judge_sink(v->judge);
	rc = changes_read(&v->run, &v->policy->renames, &sink, &v->changes,
			  f);
	return rc ? rc : judge_end(v->judge, f);
}

int
cmd_verify(const struct args *a, FILE *out, enum cli_status *status,
	   struct fault *f)
{
	struct verify v __attribute__((cleanup(S_free))) = {
		.a = a,
		.json = { .out = out, .full = a->full },
	};
	struct verdict verdict = {
		.args = a,
		.run = &v.run,
		.changes = &v.changes,
		.sha256 = a->policy ? v.sha256 : NULL,
	};
	int rc = S_load(&v, f);

	if (!rc)
		rc = S_start(&v, f);
	if (!rc)
		rc = S_judge(&v, f);
	if (rc)
		return rc;
	verdict.policy = v.policy;
	verdict.violations = judge_violations(v.judge);
	if (a->json)
		verdict_json(out, &verdict);
	else
		verdict_text(out, &verdict);
	*status = report_worst(verdict.violations->total ? CLI_NO : CLI_YES,
			       summary_status(&v.run.not_checked));
	return 0;
}
