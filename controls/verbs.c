/*
 * verbs.c - help, and how a verb fails
 */
#include "controls/verbs.h"

#include <stdarg.h>
#include <stdio.h>

static const char S_text[] =
"usage: holdfast controls list [--json | --markdown]\n"
"       holdfast controls run [--tap | --json] [--junit FILE]\n"
"               [--product PATH] [--allow-skip] [ID]...\n"
"       holdfast controls attack --swap NAME=SUBSTITUTE...\n"
"               [--mode rename|inject] [--at N | --every] [--deadline SEC]\n"
"               [--report FILE] -- COMMAND [ARG]...\n"
"       holdfast controls bootstrap --repo DIR --commit ID --path PATH\n"
"               --sha256 HEX -- [ARG]...\n"
"\n"
"Attack controls: a naive tool is fooled, and Holdfast is not.\n"
"\n"
"options:\n"
"  --json                     JSON, one object a line, and nothing else\n"
"  --markdown                 the page docs/CONTROLS.md\n"
"  --tap                      the Test Anything Protocol, version 13\n"
"  --junit FILE               write a JUnit file as well\n"
"  --product PATH             the holdfast to test (the one beside this)\n"
"  --allow-skip               what can't run here fails nothing\n"
"  --swap NAME=SUBSTITUTE     show SUBSTITUTE where NAME is opened\n"
"  --mode rename|inject       how it is shown (rename)\n"
"  --every                    at every open of each NAME (the default)\n"
"  --at N                     only at the Nth open of each NAME\n"
"  --deadline SEC             end the command after that time; 0: never (60)\n"
"  --report FILE              every open that was seen, as JSON lines\n"
"  --repo DIR                 a Git repository\n"
"  --commit ID                the full id of a commit in it\n"
"  --path PATH                a program in that commit\n"
"  --sha256 HEX               of the program's bytes\n"
"  -h, --help                 this text\n"
"\n"
"exit status:\n"
"  0  all controls ran and held\n"
"  1  the product was fooled, a control is broken, or one was skipped\n"
"  2  the command line is wrong\n"
"  3  bootstrap: these are not the bytes that were asked for\n"
"  5  trouble: rights, I/O\n"
"attack and bootstrap give the status of what they run; what attack gives of\n"
"its own is in 'holdfast controls attack --help'.\n"
"\n"
"example:\n"
"  holdfast controls run\n";

int
verbs_help(void)
{
	(void)fputs(S_text, stdout);
	return VERBS_YES;
}

int
verbs_fail(int status, const char *fmt, ...)
{
	va_list ap;

	(void)fputs("holdfast-controls: ", stderr);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	return status;
}
