/*
 * cmd_help.c - what there is, and how each command is used
 */
#include "cli/cli.h"

static const enum args_id S_takes[] = { ARGS_HELP, ARGS_END };

const struct args_usage help_usage = {
	.name = "help",
	.summary = "Show the commands, or how one of them is used",
	.takes = S_takes,
	.operands = "[COMMAND]",
	.max_operands = 1,
	.statuses = "  0  shown\n"
		    "  2  there is no such command\n",
	.example = "holdfast help capture",
};

static void
S_list(FILE *out)
{
	(void)fputs("usage: holdfast COMMAND [OPTION]... [ARGUMENT]...\n\n"
		    "Evidence from live SQLite databases.\n\n"
		    "commands:\n", out);
	for (const struct command *c = cli_commands; c->usage; c++)
		(void)fprintf(out, "  %-9s %s\n", c->usage->name,
			      c->usage->summary);
	(void)fputs("\nexit status, the first that applies:\n"
		    "  2  the command line is wrong\n"
		    "  5  trouble: rights, I/O, a limit, the sandbox\n"
		    "  3  refused: the evidence can't be established\n"
		    "  4  the evidence is damaged or not supported\n"
		    "  1  no: different, or a check failed\n"
		    "  6  yes for all that was examined, but not all was\n"
		    "  0  yes\n\n"
		    "'holdfast COMMAND --help' explains a command.\n", out);
}

int
cmd_help(const struct args *a, FILE *out, enum cli_status *status,
	 struct fault *f)
{
	const struct command *c;

	*status = CLI_YES;
	if (a->noperands == 0) {
		S_list(out);
		return 0;
	}
	c = cli_find(a->operand[0]);
	if (!c) {
		(void)fault_set(f, FAULT_USAGE, "there is no command '%s'",
				a->operand[0]);
		return fault_hint(f, "try 'holdfast help'");
	}
	if (c->usage->instead)
		return cli_hand_over(c->usage, (char *[]){
			a->operand[0], (char[]){ "--help" }, NULL }, f);
	args_print_help(c->usage, out);
	return 0;
}
