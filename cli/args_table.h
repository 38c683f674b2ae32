/*
 * args_table.h - the rows behind args.h, for what parses and what explains
 */
#ifndef CLI_ARGS_TABLE_H
#define CLI_ARGS_TABLE_H

#include "cli/args.h"

struct args_option {
	char letter;		/* or 0 */
	const char *name;	/* or NULL */
	const char *value;	/* or NULL: it takes none */
	bool repeats;
	const char *help;
};

extern const struct args_option args_options[ARGS_COUNT];

#define ARGS_SPELT_BYTES 80

/* "--pid PID", "-o FILE", "-h, --help" */
void
args_spell(const struct args_option *o, char text[ARGS_SPELT_BYTES]);

#endif
