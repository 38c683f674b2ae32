/*
 * bed_sides.h - tells what a side showed, held against exact rows
 *
 * Each counts as one thing examined. Wrong rows are exact ones too: a naive
 * tool that fails in another way than that is not the predecessor.
 */
#ifndef CONTROLS_BED_SIDES_H
#define CONTROLS_BED_SIDES_H

#include "controls/bed.h"

/* Rows, or NULL and the run that gave none. */
struct bed_shown {
	const char *rows;
	const struct bed_run *why;
};

/* The output of a command that prints rows as sqlite3 does. */
struct bed_shown
bed_show_run(const struct bed_run *r);
/* sqlite3 DB SQL */
struct bed_shown
bed_show_sqlite3(struct trial *t, const char *db, const char *sql);
/* capture, into a fresh packet, then query; option may be NULL. */
struct bed_shown
bed_show_captured(struct trial *t, const char *db, const char *option,
		  const char *sql);
/* query on a file that nobody holds. */
struct bed_shown
bed_show_file(struct trial *t, const char *file, const char *sql);

/* Attack on: it showed exactly `fooled`, where `want` is so. */
void
bed_naive(struct trial *t, struct bed_shown s, const char *symptom,
	  const char *fooled, const char *want);
void
bed_naive_inverse(struct trial *t, struct bed_shown s, const char *want);

void
bed_ours(struct trial *t, struct bed_shown s, const char *want);
void
bed_ours_inverse(struct trial *t, struct bed_shown s, const char *want);

/*
 * Attack on: the product ended with this status (3 refused, 4 damaged) and
 * said the word; where r is a capture, `packet` must not be there (NULL:
 * none was asked for).
 */
void
bed_ours_refuses(struct trial *t, const struct bed_run *r, int status,
		 const char *word, const char *packet);

/* The same for `capture DB`. */
void
bed_ours_refuses_capture(struct trial *t, const char *db, int status,
			 const char *word);

#endif
