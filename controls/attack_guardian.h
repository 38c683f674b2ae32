/*
 * attack_guardian.h - puts back when the supervisor is killed
 *
 * A process in a session of its own, which no signal of a terminal reaches.
 * It waits on a pipe of which the supervisor alone has the other end.
 */
#ifndef CONTROLS_ATTACK_GUARDIAN_H
#define CONTROLS_ATTACK_GUARDIAN_H

#include <stddef.h>
#include <sys/types.h>

#include "controls/attack_swap.h"

struct guardian {
	pid_t pid;
	int pipe;
};

/*
 * Forks it. group is the process group of the command, which it ends when
 * the supervisor is gone. 0, or -1: said why.
 */
int
guardian_start(struct guardian *g, const struct swap *swaps, size_t nswaps,
	       pid_t group);

/* Everything is straight: it ends without doing anything, and is waited for. */
void
guardian_dismiss(struct guardian *g);

#endif
