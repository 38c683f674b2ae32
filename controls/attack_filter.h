/*
 * attack_filter.h - which calls of the command stop for the supervisor
 */
#ifndef CONTROLS_ATTACK_FILTER_H
#define CONTROLS_ATTACK_FILTER_H

#include <stdbool.h>

struct filter_listener {
	int fd;
	bool killable;	/* signals do not restart a call that we have read */
};

/*
 * Installs the filter in this process, for good. `looks`: not only opens
 * stop, but whatever can show that a name was exchanged. 0, or an errno.
 */
int
filter_install(bool looks, struct filter_listener *l);

/* This call looks up a name, or lists or changes names. */
bool
filter_names(int call);

#endif
