/*
 * report_tap.c - a run in the Test Anything Protocol, version 13
 */
#include "controls/report.h"

/* A description must not look like a directive or an escape. */
static void
S_description(const char *s, FILE *out)
{
	for (; *s; s++) {
		if (*s == '#' || *s == '\\')
			(void)fputc('\\', out);
		(void)fputc(*s, out);
	}
}

/* A double-quoted YAML scalar; control characters are gone already. */
static void
S_scalar(const char *key, const char *s, FILE *out)
{
	(void)fprintf(out, "  %s: \"", key);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			(void)fputc('\\', out);
		(void)fputc(*s, out);
	}
	(void)fputs("\"\n", out);
}

static void
S_begin(const struct report_run *run, FILE *out)
{
	(void)fprintf(out, "TAP version 13\n1..%zu\n", run->planned);
	(void)fflush(out);
}

static void
S_show(const struct report_run *run, const struct report_row *r, FILE *out)
{
	bool fails = report_fails(run, r);
	const struct findings_side *s = r->findings.side;

	(void)fprintf(out, "%s %zu - ", fails ? "not ok" : "ok", run->done);
	S_description(r->control->id, out);
	if (!fails && r->verdict.outcome == OUTCOME_SKIPPED) {
		(void)fputs(" # SKIP ", out);
		S_description(r->verdict.reason[0], out);
	}
	(void)fputs("\n  ---\n", out);
	S_scalar("outcome", findings_outcome_name[r->verdict.outcome], out);
	S_scalar("symptom", s[FINDINGS_PREDECESSOR].symptom, out);
	S_scalar("predecessor", s[FINDINGS_PREDECESSOR].text, out);
	S_scalar("product", s[FINDINGS_PRODUCT].text, out);
	(void)fprintf(out, "  examined: %lu\n", r->findings.examined);
	for (size_t i = 0; i < r->verdict.nreasons; i++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "reason_%zu", i + 1);
		S_scalar(key, r->verdict.reason[i], out);
	}
	(void)fputs("  ...\n", out);
	(void)fflush(out);
}

static void
S_end(const struct report_run *run, FILE *out)
{
	(void)fprintf(out, "# held %zu, fooled %zu, broken %zu, skipped %zu, "
		      "examined %lu\n", run->count[OUTCOME_HELD],
		      run->count[OUTCOME_FOOLED], run->count[OUTCOME_BROKEN],
		      run->count[OUTCOME_SKIPPED], run->examined);
}

const struct report_form report_tap = { S_begin, S_show, S_end };
