/*
 * bind.h - which of the open sidecars belong to the main
 *
 * Levels, strongest ground last:
 *   none	there is no sidecar to bind
 *   sole	the writers have no other database open, one file a role, and
 *		each bears main's own name
 *   content	the pages say it: the frames that a checkpoint copied back
 *		equal this main's pages and no other's; the original images of
 *		a journal likewise
 * Anything else is FAULT_AMBIGUOUS: names alone bind nothing.
 *
 * The content is compared by the sandboxed helper over the live
 * descriptors while the writers are stopped.
 */
#ifndef CAPTURE_BIND_H
#define CAPTURE_BIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/role.h"
#include "capture/candidates.h"
#include "capture/memory_bind.h"
#include "capture/proc.h"
#include "reply/ask.h"

#define BIND_NOT_THERE (-1)

struct binding {
	int of[ROLE_COUNT];	/* index of a candidate, BIND_NOT_THERE */
	int quiet;		/* main's own journal by name, which undoes
				   nothing, or BIND_NOT_THERE */
	const char *level;	/* static text */
};

/* Whose files they are; all stand still. */
struct bind_writers {
	const struct proc *procs;	/* borrowed */
	size_t nprocs;
	struct memory_bind *memory;	/* borrowed; what was foreseen */
};

/* Is there something to tell apart? Then the memory is searched. */
bool
bind_is_open(const struct candidates *c);

/* Candidate 0 is the main. Bounded by deadline_ns of clock_mono_ns. */
int
bind_sidecars(const struct candidates *c, const struct bind_writers *w,
	      uint64_t deadline_ns, struct binding *b, struct fault *f);

/*
 * Do the pages of the staged WAL contradict that it is main's? side as
 * packet_writer_side fills it, for the descriptor fd as EVIDENCE_FD. Asked
 * when the writers run again, of what no pages had to tell before.
 * *compared: frames that could be compared. FAULT_REFUSED where they do.
 */
int
bind_confirm(const struct ask_side *side, int fd, int64_t *compared,
	     struct fault *f);

/*
 * Does the content of a sidecar that nobody has open agree with main? Both
 * are held; held[ROLE_SHM] too where there is one. *proven: for a WAL a SHM
 * of its salts, for a journal pages speak for it, and none against.
 * FAULT_REFUSED: the pages of a WAL speak against it.
 */
int
bind_idle(const struct held held[ROLE_COUNT], enum role sidecar,
	  uint64_t deadline_ns, bool *proven, struct fault *f);

#endif
