/*
 * evidence.h - what a reader is given: a packet, or a plain database file
 *
 * Lifecycle: evidence_open, hand fds and side to the helper, evidence_still
 * when the helper is done, evidence_free.
 *
 * A plain file must be held open by nobody: it and its sidecars are held
 * under the stopped rules and read in place. For one that a process has
 * open the fault (FAULT_REFUSED) names the process, and its hint is the
 * capture command to use.
 */
#ifndef CAPTURE_EVIDENCE_H
#define CAPTURE_EVIDENCE_H

#include <stdbool.h>

#include "base/fault.h"
#include "base/role.h"
#include "packet/notes.h"
#include "reply/ask.h"

#define EVIDENCE_FDS ROLE_COUNT

struct evidence;

struct evidence_options {
	const char *expect_id;	/* NULL: any; else it must be that packet */
	bool accept_names;
};

int
evidence_open(const char *path, const struct evidence_options *o,
	      struct evidence **e, struct fault *f);

/*
 * Puts up to EVIDENCE_FDS descriptors (borrowed) into fds and their number
 * into *n; side describes them to the helper with numbers from slot on.
 */
void
evidence_side(const struct evidence *e, int slot, int *fds, size_t *n,
	      struct ask_side *side);

/* The packet's id, or NULL for a plain file. */
const char *
evidence_id(const struct evidence *e);

const struct notes *
evidence_notes(const struct evidence *e);

/* Nothing moved since evidence_open, or FAULT_UNSTABLE names what did. */
int
evidence_still(const struct evidence *e, struct fault *f);

void
evidence_free(struct evidence *e);

static inline void
own_evidence_free(struct evidence **e)
{
	evidence_free(*e);
	*e = NULL;
}

#define OWN_EVIDENCE(name) \
	struct evidence *name __attribute__((cleanup(own_evidence_free))) = NULL

#endif
