/*
 * bed.h - runs commands and the product for a control
 *
 * Everything here dies (trial_die) where it can't do what it is asked, so a
 * control reads as a straight line. What is returned lives as long as the
 * control's process.
 */
#ifndef CONTROLS_BED_H
#define CONTROLS_BED_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "controls/trial.h"

#define BED_ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })

struct bed_run {
	int status;		/* exit status, or 128 and the signal */
	bool late;		/* it would not have ended by itself */
	char *out, *err;	/* with a NUL behind them */
	size_t nout, nerr;
};

/* printf into memory. */
__attribute__((format(printf, 2, 3))) char *
bed_text(struct trial *t, const char *fmt, ...);

/* The folder's own path, absolute. */
const char *
bed_folder(struct trial *t);

/*
 * Runs argv in the folder with nothing on standard input, searched in PATH,
 * never by a shell. A command that does not end in 30 s is `late`; so is,
 * at once, one that waits for somebody to write to the fifo. Its process
 * group is ended with it.
 */
const struct bed_run *
bed_command(struct trial *t, const char *const *argv);
const struct bed_run *
bed_command_fifo(struct trial *t, const char *fifo, const char *const *argv);

/* Its words are in three parts. */
const struct bed_run *
bed_command_with(struct trial *t, const char *const *first,
		 const char *const *then, const char *const *last);

/* A command that must succeed: its standard output. */
const char *
bed_output(struct trial *t, const char *const *argv);

/* The product under test with these words: BED_ARGV("capture", ...). */
const struct bed_run *
bed_product(struct trial *t, const char *const *words);

/* The words below `holdfast-controls attack`, without the verb itself. */
const struct bed_run *
bed_attack(struct trial *t, const char *const *words);

/* The line at *rest, or NULL where that is no object; *rest moves on. */
const cJSON *
bed_json_next(const char **rest);

/* The last line of its output as an object. */
const cJSON *
bed_json(struct trial *t, const struct bed_run *r);

/* Whatever it wrote has this word: in output or errors. */
bool
bed_says(const struct bed_run *r, const char *word);

/* "exit 3: first line of its errors", without the folder's path. */
const char *
bed_told(struct trial *t, const struct bed_run *r);

/* `capture --json -o PACKET DB`, with an option in between or NULL. */
const struct bed_run *
bed_capture(struct trial *t, const char *db, const char *packet,
	    const char *option);

/* Exit 0, or 6: something was not checked, and that was said. */
bool
bed_yes(const struct bed_run *r);

/* The rows in the output of `query --json`, as bed_product_rows; or NULL. */
const char *
bed_rows(struct trial *t, const struct bed_run *r);

/*
 * The rows that the product shows of a packet or file: columns divided by
 * '|', rows by '\n', NULL as nothing, as sqlite3's list mode and
 * bed_sql. NULL and *why (may be NULL): it showed none.
 */
const char *
bed_product_rows(struct trial *t, const char *evidence, const char *sql,
		 const struct bed_run **why);

#endif
