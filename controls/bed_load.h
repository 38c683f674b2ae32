/*
 * bed_load.h - money that moves without end while the product looks
 */
#ifndef CONTROLS_BED_LOAD_H
#define CONTROLS_BED_LOAD_H

#include "controls/bed_writer.h"

/*
 * On a new connection, in WAL mode: table acct(id, who, bal), of which the
 * first row has 1000 and the last one, in another page, nothing. Every
 * commit keeps the sum.
 */
unsigned
bed_money(struct trial *t, struct bed_writer *w, const char *path);

#define BED_MONEY_SQL "select sum(bal) || ' in all' from acct"
#define BED_MONEY_ROWS "1000 in all"
/* For sqlite3, that the file is called sound as well. */
#define BED_MONEY_SOUND BED_MONEY_SQL "; pragma integrity_check"

/* From the first row to the last one, in one transaction. */
void
bed_move(struct trial *t, struct bed_writer *w, unsigned connection,
	 int amount);

/* A process that moves money and checkpoints without end. */
struct bed_load {
	pid_t pid;
	_Atomic unsigned long *commits;
};

struct bed_load
bed_load_start(struct trial *t, const char *path);
/* Until it has made another commit; dies where it does not. */
void
bed_load_wait(struct trial *t, const struct bed_load *l);
void
bed_load_end(struct trial *t, struct bed_load *l);

/* Each of some captures, with commits before and after it, has the sum. */
void
bed_ours_loaded(struct trial *t, const struct bed_load *l, const char *path);

/*
 * A second writer moves money and checkpoints without end; each of some
 * captures beside it, in which commits were made, must have the sum.
 */
void
bed_ours_under_load(struct trial *t, const char *path);

#endif
