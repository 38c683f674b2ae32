/*
 * attack_where.h - which name the command's open arrives at
 */
#ifndef CONTROLS_ATTACK_WHERE_H
#define CONTROLS_ATTACK_WHERE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "controls/attack_swap.h"
#include "controls/attack_target.h"

struct where {
	struct swap *swap;	/* the one it is about; NULL: none */
	bool by_descriptor;	/* through a link of /proc, not by a name */
	int dir;		/* held folder of the last component, or -1 */
	char last[NAME_MAX + 1];
};

/*
 * Walks the path as the kernel will for this thread, up to the first named
 * file. where_release in any case.
 */
void
where_find(struct where *w, pid_t thread, const struct target_open *o,
	   struct swap *swaps, size_t nswaps);

void
where_release(struct where *w);

/* The place as an absolute path; false: not known. */
bool
where_text(const struct where *w, char *text, size_t size);

#endif
