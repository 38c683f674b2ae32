/*
 * ask_run.h - one question to the helper about one or two databases
 *
 * Lifecycle: ask_open, ask_start, ask_next until it returns 1 or a fault,
 * ask_finish, ask_free. FACT and SKIP frames are taken in here; all others
 * go to the caller, who checks their shape.
 */
#ifndef CLI_ASK_RUN_H
#define CLI_ASK_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "capture/evidence.h"
#include "cli/args.h"
#include "cli/facts.h"
#include "packet/notes.h"
#include "reply/ask.h"
#include "reply/wire.h"
#include "warden/warden.h"

struct ask_run {
	/* owned; NULL: a file of ours */
	struct evidence *evidence[ASK_SIDES];
	size_t sides;
	const char *name[ASK_SIDES];		/* borrowed */
	struct ask ask;
	int fds[ASK_SIDES * EVIDENCE_FDS];	/* borrowed */
	size_t nfds;
	struct warden_limits limits;
	struct warden *warden;			/* owned */
	struct facts facts[ASK_SIDES];		/* owned */
	struct notes not_checked;		/* owned */
	size_t kept;		/* bytes of text that were kept */
	enum wire_verdict verdict;		/* after ask_next gave 1 */
};

/* Opens the first operands of a, sides of them, as evidence. */
int
ask_open(struct ask_run *r, const struct args *a, size_t sides,
	 struct fault *f);

/* text: the SQL of ASK_QUERY, or NULL. May be called again with another op
   once the answer to the first was read to its end. */
int
ask_start(struct ask_run *r, enum ask_op op, const char *text,
	  struct fault *f);

/* 0: *fr is the caller's to read; 1: the answer is complete. */
int
ask_next(struct ask_run *r, struct wire_frame *fr, struct fault *f);

/* All facts came, and nothing moved under the evidence meanwhile. */
int
ask_finish(struct ask_run *r, struct fault *f);

void
ask_free(struct ask_run *r);

/*
 * wire_get_text for text that is kept until the end: FAULT_CAP once it
 * would be more than a front end of bounded memory may keep.
 */
int
ask_keep_text(struct ask_run *r, struct wire_frame *fr, char **text,
	      struct fault *f);

/* FAULT_SANDBOX: "the helper's answer is malformed: " and what. */
int
ask_malformed(struct fault *f, const char *what);

#define OWN_ASK(name) \
	struct ask_run name __attribute__((cleanup(ask_free))) = { .sides = 0 }

#endif
