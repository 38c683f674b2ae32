/*
 * args.h - the options of all commands: one table parses and explains them
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/fault.h"
#include "reply/ask.h"

enum args_id {
	ARGS_END,		/* ends a list */
	ARGS_PID,
	ARGS_CHECK,
	ARGS_JOURNAL,
	ARGS_TIMEOUT,
	ARGS_MAX_PAUSE,
	ARGS_DISPLACED,
	ARGS_POLICY,
	ARGS_BIND,
	ARGS_UNCHANGED,
	ARGS_VIEW,
	ARGS_FULL,
	ARGS_IGNORE_ROWID,
	ARGS_EXPECT_ID,
	ARGS_ACCEPT_NAMES,
	ARGS_MEMORY_LIMIT,
	ARGS_TIME_LIMIT,
	ARGS_OUTPUT_LIMIT,
	ARGS_OUTPUT,
	ARGS_FORCE,
	ARGS_CSV,
	ARGS_JSON,
	ARGS_HELP,
	ARGS_COUNT
};

/* What one command takes, in the order in which help lists it. */
struct args_usage {
	const char *name;
	const char *summary;		/* one line, no full stop */
	const enum args_id *takes;	/* up to ARGS_END */
	enum args_id required;		/* one of them, or ARGS_END */
	enum args_id or_else;		/* in place of required, or ARGS_END */
	const char *choice;		/* the usage's words for the first of
					   takes, or NULL */
	int nchoice;			/* so many of them */
	const char *operands;		/* "BEFORE AFTER", or "" */
	int min_operands, max_operands;
	const char *statuses;		/* lines of help */
	const char *example;		/* one line */
	/* Or NULL. Opens the program (O_PATH) that reads the words instead. */
	int (*instead)(int *program, struct fault *f);
};

struct args {
	pid_t *pids;			/* owned */
	size_t npids;
	bool check, refuse_journal, displaced, unchanged, live, full;
	bool ignore_rowid, accept_names, force, csv, json;
	double timeout_s, max_pause_s;
	const char *expect_id[ASK_SIDES];
	size_t nexpected;
	uint64_t memory_limit;		/* bytes; 0: the default */
	uint64_t output_limit;		/* bytes; 0: the default */
	uint32_t cpu_seconds;		/* 0: the default */
	const char *policy;		/* a file */
	const char **binds;		/* owned; the words are argv's */
	size_t nbinds;
	const char *output;
	char **operand;			/* borrowed from argv */
	int noperands;
};

void
args_init(struct args *a);
void
args_free(struct args *a);

#define OWN_ARGS(name) \
	struct args name __attribute__((cleanup(args_free)))

/*
 * argv[0] is the command's name; argv is put into another order. 0, or 1:
 * help is wanted; FAULT_USAGE says what was wrong.
 */
int
args_parse(const struct args_usage *u, int argc, char **argv, struct args *a,
	   struct fault *f);

/* --json stands among the options, however wrong the rest may be. */
bool
args_want_json(int argc, char **argv);

/* "usage: holdfast NAME …", at most 80 columns wide. */
void
args_print_usage(const struct args_usage *u, FILE *to);

/* All that --help says. */
void
args_print_help(const struct args_usage *u, FILE *to);

#endif
