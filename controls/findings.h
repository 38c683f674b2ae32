/*
 * findings.h - what was seen in a run of a control, and the verdict
 *
 * Format: a line for each thing told: kind, good or bad, symptom and text,
 * with tabs between them; no other control characters, valid UTF-8 only.
 * Several lines of one kind count as one that is good where all are.
 */
#ifndef CONTROLS_FINDINGS_H
#define CONTROLS_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "controls/control.h"

#define FINDINGS_LINE_MAX 1024
#define FINDINGS_LEFT_MAX 8

enum findings_kind {
	FINDINGS_PREDECESSOR,
	FINDINGS_PRODUCT,
	FINDINGS_INVERSE_PREDECESSOR,
	FINDINGS_INVERSE_PRODUCT,
	FINDINGS_SIDES,		/* how many sides there are */
	FINDINGS_EXAMINED = FINDINGS_SIDES,
	FINDINGS_SKIPPED,
	FINDINGS_DIED,		/* trouble: the control's own failure */
	FINDINGS_LEFT,		/* a process or a file that stayed */
	FINDINGS_KINDS,
};

struct findings_side {
	bool told, good;
	char symptom[64];
	char text[FINDINGS_LINE_MAX];	/* of the first bad one, or the first */
};

struct findings {
	struct findings_side side[FINDINGS_SIDES];
	unsigned long examined;
	char skipped[FINDINGS_LINE_MAX], died[FINDINGS_LINE_MAX];
	char left[FINDINGS_LEFT_MAX][FINDINGS_LINE_MAX];
	size_t nleft;		/* more than there is room for is possible */
};

enum outcome {
	OUTCOME_HELD,
	OUTCOME_FOOLED,		/* the product was */
	OUTCOME_BROKEN,		/* the control, or the inverse is wrong */
	OUTCOME_SKIPPED,
	OUTCOMES,
};

#define FINDINGS_REASONS_MAX 16

struct verdict {
	enum outcome outcome;
	char *reason[FINDINGS_REASONS_MAX];	/* empty where it held */
	size_t nreasons;
};

/* "held", "FOOLED", "BROKEN", "skipped" */
extern const char *const findings_outcome_name[OUTCOMES];

/* Writes one line into line[FINDINGS_LINE_MAX], cleaned; its length. */
size_t
findings_line(char *line, enum findings_kind kind, bool good,
	      const char *symptom, const char *text);

/* Takes one line, without its end; false: it is none. */
bool
findings_take(struct findings *f, char *line);

/* Every reason why it did not hold; free with findings_release. */
void
findings_judge(const struct control *c, const struct findings *f,
	       struct verdict *v);

void
findings_release(struct verdict *v);

#endif
