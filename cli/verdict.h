/*
 * verdict.h - what a policy's judge found, for people and as JSON
 */
#ifndef CLI_VERDICT_H
#define CLI_VERDICT_H

#include <stdio.h>

#include "cli/ask_run.h"
#include "cli/changes.h"
#include "cli/ndjson.h"
#include "policy/policy.h"
#include "policy/violation.h"

struct verdict {
	const struct args *args;	/* all is borrowed */
	const struct ask_run *run;
	const struct changes *changes;
	const struct policy *policy;
	const unsigned char *sha256;	/* of the policy; NULL: --unchanged */
	const struct violations *violations;
};

/* The summary's line. */
void
verdict_json(FILE *out, const struct verdict *v);

void
verdict_text(FILE *out, const struct verdict *v);

#endif
