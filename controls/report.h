/*
 * report.h - shows a run: for people, TAP, JSON, JUnit
 */
#ifndef CONTROLS_REPORT_H
#define CONTROLS_REPORT_H

#include <stdio.h>

#include "controls/findings.h"

struct report_row {
	const struct control *control;
	struct findings findings;
	struct verdict verdict;
	double seconds;
};

struct report_run {
	const char *product;
	bool allow_skip;
	size_t planned, done;
	size_t count[OUTCOMES];
	unsigned long examined;
	bool failed;		/* the run, so far */
};

/* One way to show it; begin, a row as each control ends, end. */
struct report_form {
	void (*begin)(const struct report_run *run, FILE *out);
	void (*row)(const struct report_run *run, const struct report_row *r,
		    FILE *out);
	void (*end)(const struct report_run *run, FILE *out);
};

extern const struct report_form report_table, report_tap, report_json;

/* True: this row makes the run fail. */
bool
report_fails(const struct report_run *run, const struct report_row *r);

/*
 * Writes the file whole or not at all: beside it, then renamed. 0, or -1
 * and errno.
 */
int
report_junit(const char *path, const struct report_run *run,
	     const struct report_row *rows);

/* The fields of a control, for list and run: free with cJSON_Delete. */
struct cJSON;
struct cJSON *
report_control_json(const struct control *c);
void
report_print_json(struct cJSON *o, FILE *out);

#endif
