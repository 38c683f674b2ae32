/*
 * delta_run.h - the delta of two plain connections
 */
#ifndef VERIFY_DELTA_RUN_H
#define VERIFY_DELTA_RUN_H

#include <sqlite3.h>

#include "verify/delta.h"

/* As delta_run; a and b are borrowed, each used by one thread at a time. */
int
delta_databases(sqlite3 *before, sqlite3 *after,
		const struct delta_options *o, const struct delta_sink *sink,
		bool *equal, struct fault *f);

#endif
