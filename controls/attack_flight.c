/*
 * attack_flight.c - calls that were let go and may not have returned
 *
 * Only calls that look up names count: the others may wait for ever, and
 * show nothing. A thread that died leaves its last call here; such ones are
 * dropped when the list is looked through.
 */
#include "controls/attack_flight.h"

#include <stdlib.h>

#include "controls/attack_filter.h"

/* Below that, the dead are not looked for. */
#define FLIGHT_FEW 64

static void
S_drop(struct flight *f, size_t i)
{
	f->call[i] = f->call[--f->n];
}

static bool
S_room(struct flight *f)
{
	struct target_mark *more;
	size_t room = f->room ? 2 * f->room : FLIGHT_FEW;

	if (f->n < f->room)
		return true;
	for (size_t i = f->n; i-- > 0;)
		if (!target_process(f->call[i].thread))
			S_drop(f, i);
	if (f->n < f->room / 2)
		return true;
	more = realloc(f->call, room * sizeof(*more));
	if (!more)
		return false;
	f->call = more;
	f->room = room;
	return true;
}

int
flight_went(struct flight *f, const struct seccomp_notif *n)
{
	if (!filter_names(n->data.nr))
		return 0;
	if (!S_room(f))
		return -1;
	f->call[f->n++] = (struct target_mark){ .thread = (pid_t)n->pid,
						.call = n->data.nr };
	return 0;
}

void
flight_came(struct flight *f, pid_t thread)
{
	for (size_t i = f->n; i-- > 0;)
		if (f->call[i].thread == thread)
			S_drop(f, i);
}

void
flight_watch(struct flight *f)
{
	for (size_t i = 0; i < f->n; i++)
		target_watch(&f->call[i]);
}

bool
flight_landed(struct flight *f)
{
	for (size_t i = f->n; i-- > 0;)
		if (target_through(&f->call[i]))
			S_drop(f, i);
	return !f->n;
}

void
flight_release(struct flight *f)
{
	free(f->call);
	*f = (struct flight){ 0 };
}
