/*
 * schema.h - what kind of database it is, and how it becomes ours
 */
#ifndef LEASE_SCHEMA_H
#define LEASE_SCHEMA_H

#include "base/fault.h"

struct store;

/* 0: one of ours. 1: empty, one of the two older schemas, or not in WAL mode
   yet. FAULT_REFUSED: anything else. */
int
schema_ready(struct store *s, struct fault *f);

/*
 * Makes the schema, or takes the rows of an older one over, in one
 * transaction that looks again under the lock: someone else may have done it.
 *
 * Rows of the schema without epochs become 'legacy': nobody chose their
 * empty epoch. Those of the schema with epochs are native, the empty ones
 * too. Each row gets a fence of its own, in order of its acquisition.
 */
int
schema_make(struct store *s, struct fault *f);

int
schema_foreign(const char *name, struct fault *f);

#endif
