/*
 * attack_account.h - the account of a run, for programs
 *
 * Format: JSON lines. One {"kind":"open"} for each open that was seen, with
 * call, path (as asked), resolved, flags, process, thread, done, and for a
 * named file swap and open (its number); descriptor, error and window_ns
 * where there are any. The last is {"kind":"summary"}. Bytes that are not
 * UTF-8 are written as \xNN.
 */
#ifndef CONTROLS_ATTACK_ACCOUNT_H
#define CONTROLS_ATTACK_ACCOUNT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

#include "controls/attack_target.h"
#include "controls/attack_where.h"

struct account {
	FILE *f;		/* NULL: nobody asked for one */
	unsigned long opens;
};

/* 0, or -1: said why. */
int
account_start(struct account *r, const char *path);

/* An open that was seen; NULL without a report. For account_done. */
cJSON *
account_seen(struct account *r, pid_t thread, const struct target_open *o,
	    const struct where *w);

/* Writes the line and frees it. */
void
account_done(struct account *r, cJSON *line, const char *done);

/* Writes the summary and frees it. 0, or -1: the file isn't whole, said. */
int
account_end(struct account *r, cJSON *summary);

/* Adds text whose bytes may be any. */
void
account_text(cJSON *o, const char *key, const char *text);

#endif
