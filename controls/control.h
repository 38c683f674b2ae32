/*
 * control.h - one control: an attack, who falls for it, and who must not
 *
 * The texts are for people and are all that `list` prints; run() does what
 * they say. It runs in a process and a folder of its own (trial.h).
 */
#ifndef CONTROLS_CONTROL_H
#define CONTROLS_CONTROL_H

struct trial;

/* What a naive tool shows when it is fooled. What it shows has a name, so */
/* that a failure of another kind is not taken for it. */
#define SYMPTOM_FOREIGN "foreign rows"
#define SYMPTOM_MISSING "committed rows are missing"
#define SYMPTOM_OLD "rows of an older state"
#define SYMPTOM_UNCOMMITTED "uncommitted rows"
#define SYMPTOM_TORN "a state that never was"
#define SYMPTOM_HANGS "does not come back"
#define SYMPTOM_MEMORY "its memory is used up"
#define SYMPTOM_VICTIM "another file is gone"
#define SYMPTOM_RAN "the substitute ran"
#define SYMPTOM_EQUAL "a difference is not seen"
#define SYMPTOM_SOUND "damage is called sound"
#define SYMPTOM_STANDS "the writer stands still"
#define SYMPTOM_CALLS "the kernel carries out the calls"
#define SYMPTOM_RIGHTS "hostile bytes are read with all rights"

/* What a control can't do without; what lacks is a skip that says so. */
enum control_needs {
	CONTROL_ROOT = 1,	/* uid 0 */
	CONTROL_PAUSE = 2,	/* another process may be traced */
	CONTROL_NOTIFY = 4,	/* seccomp user notification */
	CONTROL_SQLITE3 = 8,	/* the stock commands */
	CONTROL_SQLDIFF = 16,
	CONTROL_GIT = 32,
};

struct control {
	const char *id;		/* lower case and dashes; NULL ends a group */
	const char *title;
	const char *attack;
	const char *predecessor;	/* and what it imitates, if a script */
	const char *symptom;	/* a SYMPTOM_ */
	const char *expected;	/* of the product, under the attack */
	const char *inverse;	/* without the attack, of both */
	unsigned needs;		/* of enum control_needs */
	void (*run)(struct trial *t);
};

#endif
