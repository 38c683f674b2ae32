/*
 * standin.h - functions that a schema calls and SQLite does not have
 */
#ifndef VERIFY_STANDIN_H
#define VERIFY_STANDIN_H

#include <sqlite3.h>

/*
 * As sqlite3_prepare_v2, but a function that is not there gets a stand-in
 * that gives NULL. For a statement whose result does not hang on it.
 */
int
standin_prepare(sqlite3 *db, const char *text, sqlite3_stmt **s);

#endif
