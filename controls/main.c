/*
 * main.c - holdfast-controls: the table of verbs
 *
 * Links nothing of the other rooms: whoever doubts them can read this one
 * alone, and what it does to them is done from outside.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "controls/verbs.h"

static int
S_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return verbs_help();
}

static int
S_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	(void)puts("holdfast-controls " HOLDFAST_VERSION);
	return VERBS_YES;
}

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} S_verbs[] = {
	{ "list", list_main },
	{ "run", run_main },
	{ "attack", attack_main },
	{ "bootstrap", bootstrap_main },
	{ "help", S_help },
	{ "--help", S_help },
	{ "-h", S_help },
	{ "version", S_version },
	{ "--version", S_version },
};

/* No file that an attack touches may become 0, 1 or 2. */
static void
S_fill_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", O_RDONLY) != fd)
			_exit(VERBS_TROUBLE);
}

int
main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	int status = -1;

	S_fill_standard_descriptors();
	for (size_t i = 0; i < sizeof(S_verbs) / sizeof(S_verbs[0]); i++)
		if (strcmp(S_verbs[i].name, verb) == 0)
			status = S_verbs[i].main(argc - 1, argv + 1);
	if (status < 0)
		return verbs_fail(VERBS_USAGE, "%s%s: one of list, run, attack,"
				  " bootstrap, help, version",
				  *verb ? "there is no verb " : "a verb is "
				  "missing", verb);
	if (fflush(stdout) || ferror(stdout))
		return verbs_fail(VERBS_TROUBLE, "write standard output");
	return status;
}
