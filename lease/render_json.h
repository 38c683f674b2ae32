/*
 * render_json.h - answers as JSON; each function writes one line
 *
 * Paths that are not UTF-8 stand in base64 under their key with 64 behind it.
 * Instants are text (UTC), and nanoseconds since the boot as digits.
 */
#ifndef LEASE_RENDER_JSON_H
#define LEASE_RENDER_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "lease/ops.h"

int
render_json_acquire(FILE *out, const struct ops_acquire *q,
		    const struct answer *a, struct fault *f);
int
render_json_fence(FILE *out, const char *kind, const struct answer *a,
		  struct fault *f);
int
render_json_release(FILE *out, const char *session, const char *epoch,
		    const struct answer *a, struct fault *f);
/* whole: an object with an outcome around the row, else the row alone. */
int
render_json_check(FILE *out, bool whole, const char *path, int64_t fence,
		  const struct answer *a, struct fault *f);
int
render_json_reap(FILE *out, const struct answer *a, struct fault *f);
/* A line for each row and the summary. */
int
render_json_status(FILE *out, const struct answer *a, struct fault *f);
int
render_json_event(FILE *out, const struct ops_event *e, struct fault *f);

#endif
