/*
 * bed_journal.h - rollback journals of a transaction that did not end
 */
#ifndef CONTROLS_BED_JOURNAL_H
#define CONTROLS_BED_JOURNAL_H

#include "controls/bed_writer.h"

/*
 * On a new connection: a bank in DELETE mode with `rows` rows, and an open
 * transaction that sets every bal to 7 and is spilled, so that main shows
 * some of it and the journal is hot.
 */
unsigned
bed_spilled(struct trial *t, struct bed_writer *w, const char *path,
	    unsigned rows);

/*
 * Appends the record that ties the journal of db to a super-journal: page
 * number of the locking page, name, its length and sum of bytes, and the
 * journal's magic (SQLite's file format, "The Rollback Journal").
 */
void
bed_name_super(struct trial *t, const char *db, unsigned page_size,
	       const char *super);

#endif
