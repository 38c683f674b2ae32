/*
 * main.c - the program of the lease database; alone reports and exits
 *
 * A program of its own, since the one that captures must link no SQLite.
 * It opens this one database, normally, with the caller's rights.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "lease/cmds.h"
#include "lease/render.h"

enum { MAIN_USAGE = 2, MAIN_REFUSED = 3, MAIN_DAMAGED = 4, MAIN_TROUBLE = 5 };

static int (*const S_verbs[VERB_COUNT])(const struct options *o, FILE *out,
					int *status, struct fault *f) = {
	[VERB_ACQUIRE] = cmds_acquire,
	[VERB_RENEW] = cmds_renew,
	[VERB_RELEASE] = cmds_release,
	[VERB_FORCE] = cmds_force,
	[VERB_CHECK] = cmds_check,
	[VERB_STATUS] = cmds_status,
	[VERB_REAP] = cmds_reap,
	[VERB_EVENTS] = cmds_events,
	[VERB_RUN] = cmds_run,
};

static int
S_status_of(const struct fault *f, const struct options *o)
{
	if (o->verb == VERB_RUN)
		return CMDS_RUN_FAILED;
	switch (f->code) {
	case FAULT_USAGE:
		return MAIN_USAGE;
	case FAULT_REFUSED:
		return MAIN_REFUSED;
	case FAULT_DAMAGED:
		return MAIN_DAMAGED;
	default:
		return MAIN_TROUBLE;
	}
}

/* The database must never be 0, 1 or 2. */
static void
S_fill_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", O_RDONLY) != fd)
			_exit(MAIN_TROUBLE);
}

int
main(int argc, char **argv)
{
	struct fault f = FAULT_INIT;
	struct options o;
	int status = CMDS_YES, rc;

	S_fill_standard_descriptors();
	(void)signal(SIGPIPE, SIG_IGN);
	/* A file size limit is an error of write then, not our end. */
	(void)signal(SIGXFSZ, SIG_IGN);
	rc = options_parse(argc, argv, &o, &f);
	if (rc == 1)
		options_help(stdout);
	else if (rc == 0)
		rc = S_verbs[o.verb](&o, stdout, &status, &f);
	if (rc < 0) {
		status = S_status_of(&f, &o);
		if (o.json)
			render_fault_json(stdout, &f, status);
		render_fault(stderr, &f);
	}
	if (fflush(stdout) || ferror(stdout)) {
		(void)fault_sys(&f, FAULT_TROUBLE, errno,
				"write standard output");
		render_fault(stderr, &f);
		if (rc >= 0 && o.verb != VERB_RUN)
			status = MAIN_TROUBLE;
	}
	return status;
}
