/*
 * main.c - the table of subcommands; alone reports faults and exits
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/own.h"
#include "cli/cli.h"
#include "cli/report.h"

#define MAIN_BUFFER (256u << 10)
#define MAIN_KEEP (64 << 20)

const struct command cli_commands[] = {
	{ &capture_usage, cmd_capture },
	{ &recover_usage, cmd_recover },
	{ &query_usage, cmd_query },
	{ &export_usage, cmd_export },
	{ &diff_usage, cmd_diff },
	{ &verify_usage, cmd_verify },
	{ &lease_usage, NULL },
	{ &controls_usage, NULL },
	{ &help_usage, cmd_help },
	{ &version_usage, cmd_version },
	{ NULL, NULL },
};

const struct command *
cli_find(const char *name)
{
	const struct command *c = cli_commands;

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	while (c->usage && strcmp(c->usage->name, name))
		c++;
	return c->usage ? c : NULL;
}

/* No evidence may ever be opened as 0, 1 or 2 and be written to. */
static void
S_fill_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", O_RDONLY) != fd)
			_exit(CLI_TROUBLE);
}

int
cli_hand_over(const struct args_usage *u, char **argv, struct fault *f)
{
	OWN_FD(program);
	int rc = u->instead(&program, f);

	if (rc)
		return rc;
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)fexecve(program, argv, environ);
	return fault_sys(f, FAULT_TROUBLE, errno, "run the program of '%s'",
			 u->name);
}

static enum cli_status
S_run(int argc, char **argv, struct fault *f)
{
	const struct command *c = argc > 0 ? cli_find(argv[0]) : NULL;
	enum cli_status status = CLI_YES;
	OWN_ARGS(a);
	int rc;

	args_init(&a);
	if (!c) {
		(void)fault_set(f, FAULT_USAGE,
				argc > 0 ? "there is no command '%s'"
					 : "which command?%s",
				argc > 0 ? argv[0] : "");
		(void)fault_hint(f, "try 'holdfast help'");
		return CLI_USAGE;
	}
	if (c->usage->instead)
		return report_status((enum fault_code)
				     -cli_hand_over(c->usage, argv, f));
	rc = digest_setup(f);
	if (!rc)
		rc = args_parse(c->usage, argc, argv, &a, f);
	if (rc == 1)
		args_print_help(c->usage, stdout);
	else if (rc == 0)
		rc = c->run(&a, stdout, &status, f);
	return rc < 0 ? report_status(f->code) : status;
}

/* As the shell expects of a program that a signal ended. */
static void
S_die_of(int signo)
{
	(void)signal(signo, SIG_DFL);
	(void)raise(signo);
}

int
main(int argc, char **argv)
{
	struct fault f = FAULT_INIT;
	enum cli_status status;

	S_fill_standard_descriptors();
	(void)signal(SIGPIPE, SIG_IGN);
	/* A file size limit is an error of write then, not our end. */
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)setvbuf(stdout, NULL, _IOFBF, MAIN_BUFFER);
	/*
	 * What was used before a pause is used again inside it: a heap that
	 * shrinks in between would have to be faulted in a second time.
	 */
	(void)mallopt(M_TRIM_THRESHOLD, MAIN_KEEP);
	status = S_run(argc - 1, argv + 1, &f);
	if (f.code != FAULT_NONE && args_want_json(argc, argv))
		report_fault_json(stdout, &f);
	if (fflush(stdout) || ferror(stdout)) {
		if (f.code == FAULT_NONE)
			(void)report_written(stdout, &f);
		status = report_worst(status, CLI_TROUBLE);
	}
	if (f.code != FAULT_NONE)
		report_fault(stderr, &f);
	if (f.code == FAULT_INTERRUPTED)
		S_die_of(f.err > 0 ? f.err : SIGINT);
	return (int)status;
}
