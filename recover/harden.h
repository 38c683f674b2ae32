/*
 * harden.h - SQLite as a whole and each connection, made fit for evidence
 */
#ifndef RECOVER_HARDEN_H
#define RECOVER_HARDEN_H

#include <sqlite3.h>

#include "base/fault.h"

/* No writing, nothing from the schema trusted, every limit set. Reads the
   database's schema, so that its faults come up here. */
int
harden(sqlite3 *db, struct fault *f);

#endif
