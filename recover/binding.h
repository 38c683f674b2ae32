/*
 * binding.h - which sidecar belongs to which main, by their content
 *
 * A frame that a checkpoint has copied equals main's page, and a journal's
 * record equals main's page until that is overwritten. Where a page differs
 * in every other candidate, that is evidence for this main alone.
 *
 * Trust: names, and the order of descriptors, play no part.
 */
#ifndef RECOVER_BINDING_H
#define RECOVER_BINDING_H

#include <stdint.h>

#include "base/fault.h"
#include "reply/ask.h"

#define BINDING_PAGES_MAX 1024u	/* of one sidecar, that are compared */

/*
 * Numbers of extras of the ask. A main is emitted against itself: compared
 * says that it has a header, equal that the header asks for a WAL.
 */
struct binding_match {
	uint32_t sidecar;
	uint32_t main;		/* SHM: the WAL's number */
	uint32_t compared;	/* pages with evidence; SHM: both have salts */
	uint32_t equal;		/* of them; SHM: the salts are equal */
	uint32_t distinctive;	/* of these: different in each other main */
};

/*
 * Calls emit for each main, each pair of a WAL or journal and a main, and of
 * a SHM and a WAL. A fault of emit ends the run.
 */
int
binding_run(const struct ask *a,
	    int (*emit)(void *arg, const struct binding_match *m,
			struct fault *f),
	    void *arg, struct fault *f);

#endif
