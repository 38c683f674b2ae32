/*
 * attack_window.h - the time in which a name shows another file
 *
 * Lifecycle: window_begin; window_open with an open that is to be attacked;
 * window_came before any other call is answered and window_look from time to
 * time, as long as the stage is not WINDOW_SHUT; window_end.
 *
 * Every function that can go wrong gives 0, or -1 and it is said why: then
 * the run is over.
 */
#ifndef CONTROLS_ATTACK_WINDOW_H
#define CONTROLS_ATTACK_WINDOW_H

#include <stdint.h>

#include "controls/attack_account.h"
#include "controls/attack_filter.h"
#include "controls/attack_flight.h"
#include "controls/attack_swap.h"
#include "controls/attack_target.h"

enum window_stage {
	WINDOW_SHUT,
	WINDOW_AWAITED,		/* other calls have to land first */
	WINDOW_OPEN,		/* the names are crossed */
};

struct window {
	int listener;
	bool killable;		/* attack_filter.h: signals restart nothing */
	struct account *account;
	struct flight flight;
	enum window_stage stage;
	struct swap *swap;
	struct seccomp_notif call;
	struct target_mark mark;
	cJSON *line;
	int64_t since;
};

void
window_begin(struct window *w, const struct filter_listener *listener,
	     struct account *account);

/* Takes the line. */
int
window_open(struct window *w, const struct seccomp_notif *n,
	    struct swap *swap, cJSON *line);

/* A call has stopped: the window is shut if it is of the same thread. */
int
window_came(struct window *w, const struct seccomp_notif *n);

/* Goes on where that is possible: crosses, or puts back. */
int
window_look(struct window *w);

/* All names are as before, whatever the stage. */
int
window_end(struct window *w);

#endif
