/*
 * cmd_lease.c - hands its words to the program of the lease database
 *
 * That one links SQLite, which this one must never do. It takes this
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
	int rc = place_open_lease(&program, f);

	(void)argc;
	if (rc)
		return rc;
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)fexecve(program, argv, environ);
	return fault_sys(f, FAULT_TROUBLE, errno, "run " PLACE_LEASE);
}

const struct args_usage lease_usage = {
	.name = "lease",
	.summary = "Say who may write a path on this machine",
	.instead = S_instead,
};
