/*
 * bed_trace.h - catches a program while it reads evidence, by ptrace
 *
 * bed_catch; then bed_caught_pid to look from outside, or bed_inject once;
 * then bed_let_go, which is always the last. The control may have no other
 * child meanwhile.
 */
#ifndef CONTROLS_BED_TRACE_H
#define CONTROLS_BED_TRACE_H

#include <stdint.h>
#include <sys/types.h>

#include "controls/bed.h"

struct bed_caught;

/*
 * Runs the command until it, or with `child` another process that it made,
 * is about to read by position from the file with this inode; that thread
 * stands there, the others run on.
 */
struct bed_caught *
bed_catch(struct trial *t, const char *const *argv, ino_t evidence,
	  bool child);

/* The process that reads. */
pid_t
bed_caught_pid(const struct bed_caught *c);

#define BED_CALL_ARGS 6
/* Arguments that are known only when it stands there. */
#define BED_ARG_SELF (UINT64_MAX - 100)	/* its pid */
#define BED_ARG_TEXT (UINT64_MAX - 101)	/* address of the text */
#define BED_ARG_FILE (UINT64_MAX - 102)	/* its descriptor of the evidence */

struct bed_call {
	const char *name;
	long call;		/* SYS_... */
	uint64_t arg[BED_CALL_ARGS];
	const char *text;	/* put into its memory, or NULL */
};

struct bed_answer {
	bool died;		/* of the call; signal says by which */
	int signal;
	int64_t result;		/* as the kernel gave it: -errno, or not */
};

/* The thread makes this call instead of its read. */
struct bed_answer
bed_inject(struct trial *t, struct bed_caught *c,
	   const struct bed_call *call);

/* Lets all run to their end; or, with end, ends all by SIGKILL. */
const struct bed_run *
bed_let_go(struct trial *t, struct bed_caught *c, bool end);

#endif
