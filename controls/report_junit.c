/*
 * report_junit.c - a run as a JUnit file, which CI systems show
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "controls/report.h"
#include "controls/text.h"

static void
S_attribute(FILE *out, const char *name, const char *value)
{
	(void)fprintf(out, " %s=\"", name);
	text_xml(out, value);
	(void)fputc('"', out);
}

static void
S_sides(FILE *out, const struct report_row *r)
{
	const struct findings_side *s = r->findings.side;

	(void)fputs("    <system-out>", out);
	(void)fputs("attack: ", out);
	text_xml(out, r->control->attack);
	(void)fputs("\npredecessor: ", out);
	text_xml(out, s[FINDINGS_PREDECESSOR].symptom);
	(void)fputs(": ", out);
	text_xml(out, s[FINDINGS_PREDECESSOR].text);
	(void)fputs("\nproduct: ", out);
	text_xml(out, s[FINDINGS_PRODUCT].text);
	(void)fprintf(out, "\nexamined: %lu</system-out>\n",
		      r->findings.examined);
}

static void
S_case(FILE *out, const struct report_run *run, const struct report_row *r)
{
	bool fails = report_fails(run, r);
	const char *first = r->verdict.nreasons ? r->verdict.reason[0] : "";

	(void)fputs("  <testcase classname=\"holdfast-controls\"", out);
	S_attribute(out, "name", r->control->id);
	(void)fprintf(out, " time=\"%.3f\">\n", r->seconds);
	if (fails) {
		(void)fputs("    <failure", out);
		S_attribute(out, "type",
			    findings_outcome_name[r->verdict.outcome]);
		S_attribute(out, "message", first);
		(void)fputc('>', out);
		for (size_t i = 0; i < r->verdict.nreasons; i++) {
			text_xml(out, r->verdict.reason[i]);
			(void)fputc('\n', out);
		}
		(void)fputs("</failure>\n", out);
	} else if (r->verdict.outcome == OUTCOME_SKIPPED) {
		(void)fputs("    <skipped", out);
		S_attribute(out, "message", first);
		(void)fputs("/>\n", out);
	}
	S_sides(out, r);
	(void)fputs("  </testcase>\n", out);
}

static void
S_document(FILE *out, const struct report_run *run,
	   const struct report_row *rows)
{
	size_t failures = 0, skipped = 0;
	double seconds = 0;

	for (size_t i = 0; i < run->done; i++) {
		bool fails = report_fails(run, &rows[i]);

		failures += fails;
		skipped += !fails &&
			rows[i].verdict.outcome == OUTCOME_SKIPPED;
		seconds += rows[i].seconds;
	}
	(void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<testsuites>\n<testsuite name=\"holdfast-controls\"",
		    out);
	(void)fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\""
		      " skipped=\"%zu\" time=\"%.3f\">\n", run->done,
		      failures, skipped, seconds);
	for (size_t i = 0; i < run->done; i++)
		S_case(out, run, &rows[i]);
	(void)fputs("</testsuite>\n</testsuites>\n", out);
}

static int
S_undo(FILE *out, char *name)
{
	int err = errno;

	if (out)
		(void)fclose(out);
	(void)unlink(name);
	free(name);
	errno = err;
	return -1;
}

int
report_junit(const char *path, const struct report_run *run,
	     const struct report_row *rows)
{
	char *name = NULL;
	FILE *out = NULL;
	int fd;

	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		return -1;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		free(name);
		return -1;
	}
	(void)fchmod(fd, 0644);
	out = fdopen(fd, "w");
	if (!out)
		return S_undo(NULL, name);
	S_document(out, run, rows);
	if (fflush(out) || ferror(out) || fsync(fd))
		return S_undo(out, name);
	if (fclose(out) || rename(name, path))
		return S_undo(NULL, name);
	free(name);
	return 0;
}
