/*
 * attack_supervise.h - answers the command's calls, and attacks
 */
#ifndef CONTROLS_ATTACK_SUPERVISE_H
#define CONTROLS_ATTACK_SUPERVISE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "controls/attack_filter.h"
#include "controls/attack_launch.h"
#include "controls/attack_account.h"
#include "controls/attack_swap.h"

struct plan {
	struct swap *swaps;
	size_t nswaps;
	bool inject, every;
	unsigned long at;	/* which open of each name, from 1 */
	unsigned long seconds;	/* deadline; 0: none */
};

struct outcome {
	int status;		/* exit status of the command, or ours */
	bool ended;		/* the command ended by itself */
};

/* These are the supervisor's; blocked from before launch_fork on. */
void
supervise_signals(sigset_t *set);

/*
 * Until the command has ended, a signal came or the time is over. All names
 * are as before then; else the status is ATTACK_TROUBLE, said why.
 */
void
supervise_run(const struct plan *p, const struct launch *l,
	      const struct filter_listener *listener, struct account *r,
	      struct outcome *out);

#endif
