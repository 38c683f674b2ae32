/*
 * trial.h - what a control tells while it runs
 *
 * A control runs in a process of its own, in a session of its own, in a
 * fresh folder of mode 0700 that is its working directory, its home and its
 * TMPDIR. So its code is a straight line: it makes its data, attacks, tells
 * what it saw, and returns. What it leaves in the folder is removed by the
 * keeper (keeper.h), processes that it leaves are a failure.
 *
 * Each of the four sides must be told at least once, and all that is told
 * must be right:
 *
 *			attack on		attack off
 *   predecessor	is fooled, as named	is right
 *   product		is not fooled		is right
 */
#ifndef CONTROLS_TRIAL_H
#define CONTROLS_TRIAL_H

#include <stdbool.h>

#include "controls/control.h"

struct trial {
	const struct control *control;
	const char *product;	/* path of the product under test */
	int report;		/* to the keeper */
};

#define TRIAL_PRINTF(n) __attribute__((format(printf, n, n + 1)))

/* How many things were looked at: files, rows, runs. Adds up. */
void
trial_examined(struct trial *t, unsigned long n);

/*
 * Attack on: symptom is what the predecessor showed, a SYMPTOM_, or NULL
 * where it was not fooled. The text says what was seen, in few words.
 */
void
trial_predecessor(struct trial *t, const char *symptom, const char *fmt, ...)
	TRIAL_PRINTF(3);
/* Attack on: held, the product was not fooled. */
void
trial_product(struct trial *t, bool held, const char *fmt, ...)
	TRIAL_PRINTF(3);
/* Attack off. */
void
trial_inverse_predecessor(struct trial *t, bool right, const char *fmt, ...)
	TRIAL_PRINTF(3);
void
trial_inverse_product(struct trial *t, bool right, const char *fmt, ...)
	TRIAL_PRINTF(3);

/* The control can't go on: it is broken. Ends the process. */
_Noreturn void
trial_die(struct trial *t, const char *fmt, ...) TRIAL_PRINTF(2);
/* It can't run here. Ends the process. */
_Noreturn void
trial_skip(struct trial *t, const char *fmt, ...) TRIAL_PRINTF(2);

/* In the control's process: runs it and ends. */
_Noreturn void
trial_run(struct trial *t);

#endif
