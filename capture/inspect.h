/*
 * inspect.h - what the sandboxed helper finds in the staged files
 *
 * Asked after the writers run again and before anything is published. The
 * helper may lie about what it was given; it can't make the bytes others.
 *
 * Lifecycle: inspect_begin, warden_ready before anybody is paused (nobody is
 * for a capture that nothing could look into), inspect_ask, inspect_answer,
 * warden_free.
 */
#ifndef CAPTURE_INSPECT_H
#define CAPTURE_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "capture/hold.h"
#include "packet/packet_write.h"
#include "warden/warden.h"

struct inspection {
	char header[32];	/* "ok", "empty", "short", "not-a-database" */
	bool wal_mode;
	bool salts_agree;
	int64_t wal_committed;	/* frames up to the last commit */
	char journal[16];	/* "none", "empty", "cold", "hot" */
	char super[1024];	/* the super-journal's name, or empty */
};

/* The helper starts, with the packet in hand; it belongs to the caller. */
int
inspect_begin(struct warden **helper, const struct packet_writer *w,
	      struct fault *f);

/* All is staged: it may look, once. What it finds comes with the answer. */
int
inspect_ask(struct warden *helper, const struct packet_writer *w,
	    uint64_t now_ns, struct fault *f);
int
inspect_answer(struct warden *helper, struct inspection *i, struct fault *f);

/*
 * Do the files make one database? FAULT_REFUSED says why not;
 * FAULT_AMBIGUOUS where another moment may show another picture.
 */
int
inspect_judge(const struct inspection *i, const struct hold *h,
	      bool refuse_journal, struct fault *f);

/* What could not be looked into: evidence all the same. */
int
inspect_note(const struct inspection *i, struct notes *notes, struct fault *f);

#endif
