/*
 * render.h - answers as lines for people and as JSON
 */
#ifndef LEASE_RENDER_H
#define LEASE_RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/fault.h"
#include "lease/ops.h"

/* *shown is the caller's: text on one line that a terminal may get. */
int
render_shown(const char *text, char **shown, struct fault *f);

/* ACQUIRED …, or a line BUSY: … for each blocker. */
int
render_acquire(FILE *out, bool json, const struct ops_acquire *q,
	       const struct answer *a, struct fault *f);
int
render_renew(FILE *out, bool json, const struct answer *a, struct fault *f);
int
render_release(FILE *out, bool json, const char *session, const char *epoch,
	       const struct answer *a, struct fault *f);
int
render_force(FILE *out, bool json, const struct answer *a, struct fault *f);
/* FREE, or the row that is in the way as one line of JSON. */
int
render_check(FILE *out, bool json, const char *path, int64_t fence,
	     const struct answer *a, struct fault *f);
int
render_status(FILE *out, bool json, const struct answer *a, struct fault *f);
int
render_reap(FILE *out, bool json, const struct answer *a, struct fault *f);
/* One line for each. */
int
render_event(FILE *out, bool json, const struct ops_event *e,
	     struct fault *f);
/* The summary that ends the lines of JSON. */
int
render_events_end(FILE *out, uint64_t events, int64_t last, size_t pruned,
		  struct fault *f);

/* "holdfast: …" and its hint; or {"kind":"error",…}. */
void
render_fault(FILE *to, const struct fault *what);
void
render_fault_json(FILE *to, const struct fault *what, int status);

#endif
