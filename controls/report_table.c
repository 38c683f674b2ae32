/*
 * report_table.c - a run as a table for people
 *
 * The columns of text are wrapped to the width of the terminal, and cut where
 * a row would take more than a few lines; reasons why a control did not hold
 * stand below its row, whole.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "controls/report.h"

#define TABLE_DEFAULT 100
#define TABLE_LEAST 80
#define TABLE_MOST 150
#define TABLE_ID 24
#define TABLE_SEEN 8
#define TABLE_OUTCOME 7
#define TABLE_LINES 3

static int
S_width(void)
{
	struct winsize w = { .ws_col = 0 };

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) ||
	    w.ws_col == 0)
		return TABLE_DEFAULT;
	return w.ws_col < TABLE_LEAST ? TABLE_LEAST :
		w.ws_col > TABLE_MOST ? TABLE_MOST : w.ws_col;
}

/* Of one of the two columns of text between id and numbers. */
static int
S_column(void)
{
	return (S_width() - TABLE_ID - TABLE_SEEN - TABLE_OUTCOME - 8) / 2;
}

/* Bytes that make up to width characters. */
static int
S_bytes(const char *s, int width)
{
	int n = 0;

	while (s[n] && (width > 0 || (s[n] & 0xc0) == 0x80))
		if ((s[n++] & 0xc0) != 0x80)
			width--;
	return n;
}

static int
S_characters(const char *s, int bytes)
{
	int n = 0;

	for (int i = 0; i < bytes; i++)
		n += (s[i] & 0xc0) != 0x80;
	return n;
}

/*
 * Prints what fits of *s and moves *s on; breaks at blanks, or ends with
 * dots on the last line. The characters that are left free.
 */
static int
S_cell(const char **s, int width, bool last, FILE *out)
{
	int n = S_bytes(*s, width), cut = n;
	bool dots = last && (*s)[n];

	if (dots) {
		cut = S_bytes(*s, width - 3);
	} else if ((*s)[n]) {
		while (cut > 0 && (*s)[cut] != ' ')
			cut--;
		if (cut == 0)
			cut = n;
	}
	(void)fprintf(out, "%.*s%s", cut, *s, dots ? "..." : "");
	width -= S_characters(*s, cut) + (dots ? 3 : 0);
	*s += dots ? (int)strlen(*s) : cut;
	*s += strspn(*s, " ");
	return width;
}

static void
S_row(const char *id, const char *naive, const char *product,
      const char *seen, const char *outcome, FILE *out)
{
	int column = S_column(), left;

	for (int line = 1; line == 1 || *id || *naive || *product; line++) {
		bool last = line == TABLE_LINES;

		left = S_cell(&id, TABLE_ID, last, out);
		(void)fprintf(out, "%*s", left + 2, "");
		left = S_cell(&naive, column, last, out);
		if (*product)
			(void)fprintf(out, "%*s", left + 2, "");
		left = S_cell(&product, column, last, out);
		if (line == 1)
			(void)fprintf(out, "%*s%*s  %s", left + 2, "",
				      TABLE_SEEN, seen, outcome);
		(void)fputc('\n', out);
	}
}

static void
S_begin(const struct report_run *run, FILE *out)
{
	(void)fprintf(out, "product  %s\n\n", run->product);
	S_row("control", "the naive tool showed", "Holdfast did", "examined",
	      "outcome", out);
	(void)fflush(out);
}

static void
S_show(const struct report_run *run, const struct report_row *r, FILE *out)
{
	const struct findings_side *naive =
		&r->findings.side[FINDINGS_PREDECESSOR];
	char seen[32], showed[sizeof(naive->symptom) + sizeof(naive->text) + 2];

	(void)run;
	(void)snprintf(seen, sizeof(seen), "%lu", r->findings.examined);
	(void)snprintf(showed, sizeof(showed), "%s%s%s", naive->symptom,
		       naive->symptom[0] ? ": " : "", naive->text);
	S_row(r->control->id, showed,
	      r->findings.side[FINDINGS_PRODUCT].text, seen,
	      findings_outcome_name[r->verdict.outcome], out);
	for (size_t i = 0; i < r->verdict.nreasons; i++)
		(void)fprintf(out, "    %s: %s\n", r->control->id,
			      r->verdict.reason[i]);
	(void)fflush(out);
}

static void
S_end(const struct report_run *run, FILE *out)
{
	(void)fprintf(out, "\n%zu of %zu held, %zu fooled, %zu broken, "
		      "%zu skipped; %lu things examined%s\n",
		      run->count[OUTCOME_HELD], run->planned,
		      run->count[OUTCOME_FOOLED], run->count[OUTCOME_BROKEN],
		      run->count[OUTCOME_SKIPPED], run->examined,
		      run->count[OUTCOME_SKIPPED] && !run->allow_skip ?
		      "; what was skipped fails the run (--allow-skip)" : "");
}

const struct report_form report_table = { S_begin, S_show, S_end };
