/*
 * counter.h - a line of JSON for each acquire, renew and release
 *
 * An export for whoever counts usage, never the record: that is the table of
 * events. Nothing that happens here fails an operation. One write for each
 * line, to a file that is only appended to.
 */
#ifndef LEASE_COUNTER_H
#define LEASE_COUNTER_H

#include <stdint.h>

#include "lease/ops.h"

#define COUNTER_VARIABLE "HOLDFAST_LEASE_COUNTER"

struct counter_line {
	const char *op;			/* "acquire", "renew", "release" */
	const char *session, *epoch, *agent;	/* or NULL */
	const char *scope;		/* "paths", "fence", "owner" */
	char *const *paths;		/* keys, or the words that were given */
	size_t npaths;
	int64_t ttl;			/* ns; 0: none */
	const struct answer *answer;
};

/* Where the variable names no file: nothing. */
void
counter_add(const struct counter_line *l);

#endif
