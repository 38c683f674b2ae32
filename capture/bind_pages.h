/*
 * bind_pages.h - what the pages say of sidecars and mains, for bind*.c alone
 */
#ifndef CAPTURE_BIND_PAGES_H
#define CAPTURE_BIND_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "capture/candidates.h"
#include "reply/ask.h"

/* What the helper found of one sidecar against one main. */
struct match {
	int64_t compared, equal, distinctive;
};

struct matches {
	size_t n;			/* candidates handed over */
	struct match m[ASK_EXTRAS][ASK_EXTRAS];	/* [sidecar][main] */
};

/* By the sandboxed helper, over the held descriptors. */
int
bind_ask(const struct candidates *c, uint64_t deadline_ns, struct matches *ms,
	 struct fault *f);

#endif
