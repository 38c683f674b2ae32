/*
 * report.h - faults in words and in JSON, and the exit status that counts
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdio.h>

#include "base/fault.h"
#include "cli/cli.h"

enum cli_status
report_status(enum fault_code code);

/* Usage, trouble, refused, damaged, no, unchecked, yes: the earlier one. */
enum cli_status
report_worst(enum cli_status a, enum cli_status b);

/* "holdfast: TEXT" and, where there is one, the hint on a second line. */
void
report_fault(FILE *to, const struct fault *what);

/* {"kind":"error","exit":N,"reason":…,"message":…,"hint":…} */
void
report_fault_json(FILE *to, const struct fault *what);

/*
 * FAULT_TROUBLE once a write to out has failed. Asked for after each line,
 * so that a broken pipe or a full disk ends a long answer early.
 */
int
report_written(FILE *out, struct fault *f);

#endif
