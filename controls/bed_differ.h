/*
 * bed_differ.h - what stock commands and the product call a difference
 *
 * Both kinds give text that is held against exact rows (bed_sides.h).
 */
#ifndef CONTROLS_BED_DIFFER_H
#define CONTROLS_BED_DIFFER_H

#include "controls/bed_sides.h"

/* What the stock ones show. */
#define BED_SAME "no difference"
#define BED_DIFFERENT "a difference"

/*
 * A statement that shows one of them: rows of the table that only one side
 * has, as `select ... except select ...` sees them, both ways.
 */
struct bed_shown
bed_differ_except(struct trial *t, const char *before, const char *after,
		  const char *table);

/*
 * `sqlite3 MODE FILE COMMAND` on each, the outputs compared byte by byte;
 * MODE is "-list" or the like. A command that fails is shown as it is.
 */
struct bed_shown
bed_differ_output(struct trial *t, const char *before, const char *after,
		  const char *mode, const char *command);

/* The same with a script of sh, whose $0 is the file. */
struct bed_shown
bed_differ_script(struct trial *t, const char *before, const char *after,
		  const char *script);

/* Whether `sqldiff BEFORE AFTER` writes anything. */
struct bed_shown
bed_differ_sqldiff(struct trial *t, const char *before, const char *after);
/* Whether its --changeset is another than that of BEFORE and BEFORE. */
struct bed_shown
bed_differ_changeset(struct trial *t, const char *before, const char *after);
bool
bed_differ_has_sqldiff(void);

/* What the product shows where it says yes. */
#define BED_UNCHANGED "unchanged"
#define BED_AS_DECLARED "as the policy says"

/*
 * Each difference that `verify --unchanged` names, a line each: "user_version
 * differs", "view v changed", "t: added id=7" (the key, or "a row" where it
 * has none). Whether there are any must agree with the exit status. The
 * option may be NULL.
 */
struct bed_shown
bed_show_verified(struct trial *t, const char *before, const char *after,
		  const char *option);

/*
 * The same for each sentence of a policy that was broken: "t: changed id=7",
 * the rule and the key of the row, if it is about one.
 */
struct bed_shown
bed_show_judged(struct trial *t, const char *policy, const char *before,
		const char *after);

#endif
