/*
 * cmd_controls.c - hands its words to the program of the attack controls
 *
 * That one links nothing of ours, as little as we link of it. It takes this
 * process over, so signals, status and output are its own.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/cli.h"
#include "warden/place.h"

static int
S_instead(int argc, char **argv, struct fault *f)
{
	OWN_FD(program);
	int rc = place_open_controls(&program, f);

	(void)argc;
	if (rc)
		return rc;
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)fexecve(program, argv, environ);
	return fault_sys(f, FAULT_TROUBLE, errno, "run " PLACE_CONTROLS);
}

const struct args_usage controls_usage = {
	.name = "controls",
	.summary = "Attack a naive tool, and this one: it must not be fooled",
	.instead = S_instead,
};
