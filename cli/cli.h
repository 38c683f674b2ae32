/*
 * cli.h - the table of subcommands and what a command gives back
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdio.h>

#include "base/fault.h"
#include "cli/args.h"

/* Exit statuses; report_worst knows which of two counts. */
enum cli_status {
	CLI_YES = 0,
	CLI_NO = 1,		/* different, broken, a check failed */
	CLI_USAGE = 2,
	CLI_REFUSED = 3,	/* the evidence can't be established */
	CLI_DAMAGED = 4,
	CLI_TROUBLE = 5,	/* permission, I/O, a cap, the sandbox */
	CLI_UNCHECKED = 6,	/* what was examined holds; not all was */
};

/*
 * A command prints its answer to out and sets *status, or fills f; main
 * alone reports faults, flushes and exits. run is NULL where the usage says
 * that another program takes the words.
 */
struct command {
	const struct args_usage *usage;
	int (*run)(const struct args *a, FILE *out, enum cli_status *status,
		   struct fault *f);
};

/* The last one has no usage. */
extern const struct command cli_commands[];

/* NULL: there is no such command. */
const struct command *
cli_find(const char *name);

/*
 * The program behind a command takes this process over, so signals, status
 * and output are its own. Returns on failure only.
 */
int
cli_hand_over(const struct args_usage *u, char **argv, struct fault *f);

#define CLI_COMMAND(name) \
	extern const struct args_usage name##_usage; \
	int cmd_##name(const struct args *a, FILE *out, \
		       enum cli_status *status, struct fault *f)

CLI_COMMAND(capture);
CLI_COMMAND(recover);
CLI_COMMAND(query);
CLI_COMMAND(export);
CLI_COMMAND(diff);
CLI_COMMAND(verify);
extern const struct args_usage lease_usage;
extern const struct args_usage controls_usage;
CLI_COMMAND(help);
CLI_COMMAND(version);

#endif
