/*
 * attack_flight.h - calls that were let go and may not have returned
 *
 * A call that was let go before an exchange may be carried out after it, and
 * would meet the wrong file. So an exchange waits until they have landed.
 *
 * Lifecycle: flight_went and flight_came with every call; flight_watch, then
 * flight_landed until it is true; flight_release.
 */
#ifndef CONTROLS_ATTACK_FLIGHT_H
#define CONTROLS_ATTACK_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>

#include "controls/attack_target.h"

struct flight {
	struct target_mark *call;
	size_t n, room;
};

/* 0, or -1: no memory. */
int
flight_went(struct flight *f, const struct seccomp_notif *n);

/* This thread stops for us again: its last call has returned. */
void
flight_came(struct flight *f, pid_t thread);

void
flight_watch(struct flight *f);

bool
flight_landed(struct flight *f);

void
flight_release(struct flight *f);

#endif
