/*
 * options.h - the words of "holdfast lease …": one table parses and explains
 */
#ifndef LEASE_OPTIONS_H
#define LEASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fault.h"

enum options_verb {
	VERB_ACQUIRE,
	VERB_RENEW,
	VERB_RELEASE,
	VERB_FORCE,
	VERB_CHECK,
	VERB_STATUS,
	VERB_REAP,
	VERB_EVENTS,
	VERB_RUN,
	VERB_COUNT
};

struct options {
	enum options_verb verb;		/* VERB_COUNT: none was understood */
	const char *session, *agent, *cwd, *note, *reason, *db;	/* or NULL */
	const char *epoch;		/* "" where none is given */
	int64_t ttl;			/* ns; 0: none was given */
	int64_t fence, since, prune;	/* 0: none was given */
	bool json;
	char **paths;			/* borrowed from argv */
	int npaths;
	char **command;			/* of run: NULL-terminated */
};

/* 0, or 1: help is wanted. FAULT_USAGE says what was wrong; o->verb and
   o->json are set as far as the words say. */
int
options_parse(int argc, char **argv, struct options *o, struct fault *f);

void
options_help(FILE *to);

#endif
