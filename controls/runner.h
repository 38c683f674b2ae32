/*
 * runner.h - runs one control and gathers what it tells
 */
#ifndef CONTROLS_RUNNER_H
#define CONTROLS_RUNNER_H

#include <signal.h>

#include "controls/findings.h"

struct runner {
	const char *product;	/* absolute */
	unsigned seconds;	/* for each control */
	int told;		/* signalfd of what ends a run */
	int signo;		/* set once such a signal came */
};

/* Blocks the signals that end a run; 0, or -1 and errno. */
int
runner_init(struct runner *r, const char *product, unsigned seconds);

/*
 * 0 and *f, trouble included: that makes the control broken. 1: a signal
 * came; the control was ended and cleaned up, r->signo says which it was.
 */
int
runner_run(struct runner *r, const struct control *c, struct findings *f);

#endif
