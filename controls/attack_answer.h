/*
 * attack_answer.h - what a call that stops for us gets
 */
#ifndef CONTROLS_ATTACK_ANSWER_H
#define CONTROLS_ATTACK_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "controls/attack_swap.h"

struct injected {
	int descriptor;		/* in the command; or -1 */
	int error;		/* the errno it got instead */
	bool gone;		/* it did not wait any more: no attack */
};

/* Lets it go on. 0; 1: it does not wait any more; -1: said why. */
int
answer_continue(int listener, uint64_t id);

/*
 * Answers the open of notification `id`. 0, or -1: said why, and it is not
 * answered.
 */
int
answer_inject(int listener, uint64_t id, uint64_t flags, const struct swap *s,
	      struct injected *out);

#endif
