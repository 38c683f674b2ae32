/*
 * signals.c - holds back what would end us in the middle of a capture
 */
#include "capture/signals.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

#include "base/fault.h"

static const int ENDING[] = { SIGINT, SIGTERM, SIGHUP };
#define ENDINGS (sizeof(ENDING) / sizeof(ENDING[0]))

void
signals_block(struct signals *s)
{
	/* With SIG_IGN, as one may inherit it, no stop would be announced. */
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t held;

	MUST(!s->held);
	MUST(sigemptyset(&held) == 0 && sigaddset(&held, SIGCHLD) == 0);
	for (size_t i = 0; i < ENDINGS; i++) {
		struct sigaction now;

		/* A blocked signal would be pending even where ignored. */
		MUST(sigaction(ENDING[i], NULL, &now) == 0);
		if (now.sa_handler != SIG_IGN)
			MUST(sigaddset(&held, ENDING[i]) == 0);
	}
	MUST(sigaction(SIGCHLD, &plain, &s->child) == 0);
	MUST(pthread_sigmask(SIG_BLOCK, &held, &s->mask) == 0);
	s->held = true;
}

void
signals_restore(struct signals *s)
{
	if (!s->held)
		return;
	s->held = false;
	MUST(sigaction(SIGCHLD, &s->child, NULL) == 0);
	MUST(pthread_sigmask(SIG_SETMASK, &s->mask, NULL) == 0);
}

void
signals_drop(struct signals *s)
{
	const struct timespec now = { .tv_sec = 0 };
	sigset_t ending;

	MUST(sigemptyset(&ending) == 0);
	for (size_t i = 0; i < ENDINGS; i++)
		MUST(sigaddset(&ending, ENDING[i]) == 0);
	while (s->held && sigtimedwait(&ending, NULL, &now) > 0)
		;
	signals_restore(s);
}

void
signals_hold_stops(struct signals_stops *s)
{
	sigset_t stops;

	MUST(!s->held);
	MUST(sigemptyset(&stops) == 0 && sigaddset(&stops, SIGTSTP) == 0 &&
	     sigaddset(&stops, SIGTTIN) == 0 &&
	     sigaddset(&stops, SIGTTOU) == 0);
	MUST(pthread_sigmask(SIG_BLOCK, &stops, &s->mask) == 0);
	s->held = true;
}

void
signals_allow_stops(struct signals_stops *s)
{
	if (!s->held)
		return;
	s->held = false;
	MUST(pthread_sigmask(SIG_SETMASK, &s->mask, NULL) == 0);
}

int
signals_pending(void)
{
	sigset_t waiting;

	MUST(sigpending(&waiting) == 0);
	for (size_t i = 0; i < ENDINGS; i++)
		if (sigismember(&waiting, ENDING[i]) == 1)
			return ENDING[i];
	return 0;
}
