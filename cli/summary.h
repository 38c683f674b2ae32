/*
 * summary.h - what all readers say the same way
 */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include <stdio.h>

#include "cli/ask_run.h"
#include "cli/cli.h"
#include "cli/ndjson.h"
#include "packet/notes.h"

/* "not checked: WHAT: WHY", one line each. */
void
summary_notes(FILE *to, const struct notes *n);

/* yes, or CLI_UNCHECKED where there are notes. */
enum cli_status
summary_status(const struct notes *n);

/* "wal":{…},"journal":{…},"views":{…} of a side. */
void
summary_json_account(struct ndjson *j, const struct facts *t);

/* The same in lines, each behind a heading. */
void
summary_account(FILE *to, const struct facts *t);

#endif
