/*
 * attack_launch.h - the command: started under the filter, and ended
 *
 * Lifecycle: launch_fork, then launch_listener, launch_go; launch_end at the
 * end in any case.
 */
#ifndef CONTROLS_ATTACK_LAUNCH_H
#define CONTROLS_ATTACK_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "controls/attack_filter.h"

struct launch {
	pid_t pid;		/* and the number of its process group */
	int socket;
	bool terminal;		/* we gave it the terminal */
};

/*
 * Forks the command's process, which puts the filter on itself and waits
 * with `mask` for launch_go. Whatever the command leaves behind becomes our
 * child. 0, or -1: said why.
 */
int
launch_fork(struct launch *l, char *const *argv, bool looks,
	    const sigset_t *mask);

/* 0 and the listener, or an exit status: said why. */
int
launch_listener(struct launch *l, struct filter_listener *listener);

/* It may run. 0, or -1: said why. */
int
launch_go(struct launch *l);

/* When it has ended: the exit status if it never became the command, or 0. */
int
launch_failed(struct launch *l, const char *command);

/* Ends it and every descendant but `spared`, and waits for them. */
void
launch_end(struct launch *l, pid_t spared);

#endif
