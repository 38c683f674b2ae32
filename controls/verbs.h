/*
 * verbs.h - the verbs of holdfast-controls
 */
#ifndef CONTROLS_VERBS_H
#define CONTROLS_VERBS_H

/* Exit statuses. */
enum verbs_status {
	VERBS_YES = 0,		/* all ran and held */
	VERBS_NO = 1,		/* fooled, broken, or skipped unasked */
	VERBS_USAGE = 2,
	VERBS_REFUSED = 3,	/* bootstrap: not the reviewed bytes */
	VERBS_TROUBLE = 5,
};

/* argv[0] is the verb; each prints, and gives the exit status. */
int
list_main(int argc, char **argv);
int
run_main(int argc, char **argv);
int
attack_main(int argc, char **argv);
int
bootstrap_main(int argc, char **argv);

/* "holdfast-controls: sentence" on standard error; gives status. */
__attribute__((format(printf, 2, 3))) int
verbs_fail(int status, const char *fmt, ...);

/* The text of --help, to standard output; VERBS_YES. */
int
verbs_help(void);

#endif
