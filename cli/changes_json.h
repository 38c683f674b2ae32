/*
 * changes_json.h - a delta as lines of JSON
 */
#ifndef CLI_CHANGES_JSON_H
#define CLI_CHANGES_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/ask_run.h"
#include "cli/changes.h"
#include "cli/ndjson.h"

struct changes_json {
	FILE *out;	/* borrowed */
	bool full;	/* the unchanged cells of changed rows as well */
};

/* {"kind":"setting",…} {"kind":"schema",…} {"kind":"row",…}; j is borrowed. */
struct changes_sink
changes_json_sink(struct changes_json *j);

/*
 * The summary up to its violations: kind, verdict, equal, before, after,
 * policy_sha256 (NULL: there is none), version, tables. The caller adds
 * violations and not_checked and closes the object.
 */
void
changes_json_summary(struct ndjson *j, const struct ask_run *r,
		     const struct changes *c, bool pass,
		     const unsigned char *policy_sha256);

#endif
