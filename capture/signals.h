/*
 * signals.h - holds back what would end us in the middle of a capture
 *
 * While held, SIGINT, SIGTERM and SIGHUP wait (unless they were ignored
 * anyway, as under nohup) and signals_pending says so; nothing is consumed,
 * so after signals_restore they do what they always do. SIGCHLD waits too:
 * the stop of a traced thread announces itself by it.
 *
 * Lifecycle: OWN_SIGNALS first of all owners, signals_block before the
 * first thread is started: threads inherit the mask.
 */
#ifndef CAPTURE_SIGNALS_H
#define CAPTURE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct signals {
	bool held;
	sigset_t mask;			/* as it was */
	struct sigaction child;		/* of SIGCHLD, as it was */
};

void
signals_block(struct signals *s);
/* A signal that waited takes effect here. */
void
signals_restore(struct signals *s);
/* What asked us to end came too late: the work was done. Then it restores. */
void
signals_drop(struct signals *s);

/*
 * Nobody at the terminal stops us (Ctrl-Z) while we have stopped others:
 * they would stand still as long as we do. It takes effect afterwards. In
 * the calling thread: the others must block it as well (base/worker.h).
 */
struct signals_stops {
	bool held;
	sigset_t mask;			/* as it was */
};

void
signals_hold_stops(struct signals_stops *s);
void
signals_allow_stops(struct signals_stops *s);

/* The number of a held-back signal that asks us to end, or 0. */
int
signals_pending(void);

#define OWN_SIGNALS(name) \
	struct signals name __attribute__((cleanup(signals_restore))) = \
		{ .held = false }

#endif
