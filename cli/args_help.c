/*
 * args_help.c - the usage line and all that --help says
 */
#include "cli/args.h"

#include <string.h>

#include "cli/args_table.h"

#define ARGS_COLUMNS 80

void
args_spell(const struct args_option *o, char text[ARGS_SPELT_BYTES])
{
	char letter[8] = "";

	if (o->letter)
		(void)snprintf(letter, sizeof(letter), "-%c%s", o->letter,
			       o->name ? ", " : "");
	(void)snprintf(text, ARGS_SPELT_BYTES, "%s%s%s%s%s", letter,
		       o->name ? "--" : "", o->name ? o->name : "",
		       o->value ? " " : "", o->value ? o->value : "");
}

/* One word of the usage line, on a new line where it would not fit. */
static void
S_put_word(FILE *to, const char *word, int indent, int *column)
{
	int n = (int)strlen(word);

	if (*column + 1 + n > ARGS_COLUMNS) {
		(void)fprintf(to, "\n%*s", indent, "");
		*column = indent;
	} else {
		(void)fputc(' ', to);
		*column += 1;
	}
	(void)fputs(word, to);
	*column += n;
}

void
args_print_usage(const struct args_usage *u, FILE *to)
{
	char word[96], spelt[ARGS_SPELT_BYTES];
	int column = fprintf(to, "usage: holdfast %s", u->name);
	int indent = column + 1;

	if (u->choice)
		S_put_word(to, u->choice, indent, &column);
	for (const enum args_id *id = u->takes + u->nchoice; *id != ARGS_END;
	     id++) {
		if (*id == ARGS_HELP)
			continue;
		args_spell(&args_options[*id], spelt);
		(void)snprintf(word, sizeof(word),
			       *id == u->required ? "%s" : "[%s]%s", spelt,
			       args_options[*id].repeats ? "..." : "");
		S_put_word(to, word, indent, &column);
	}
	if (*u->operands)
		S_put_word(to, u->operands, indent, &column);
	(void)fputc('\n', to);
}

void
args_print_help(const struct args_usage *u, FILE *to)
{
	char spelt[ARGS_SPELT_BYTES];

	args_print_usage(u, to);
	(void)fprintf(to, "\n%s.\n\noptions:\n", u->summary);
	for (const enum args_id *id = u->takes; *id != ARGS_END; id++) {
		args_spell(&args_options[*id], spelt);
		(void)fprintf(to, "  %-25s  %s\n", spelt,
			      args_options[*id].help);
	}
	(void)fprintf(to, "\nexit status:\n%s\nexample:\n  %s\n", u->statuses,
		      u->example);
}
