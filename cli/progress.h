/*
 * progress.h - one moving line on a terminal's stderr
 *
 * Lifecycle: progress_init, progress_step as often as it likes,
 * progress_end. Nothing is shown before the first second, none at all where
 * stderr is no terminal.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	FILE *to;		/* NULL: shows nothing */
	uint64_t start_ns;
	uint64_t shown_ns;	/* when the line was last written, 0: never */
};

void
progress_init(struct progress *p, FILE *to);
/* As struct capture_request's progress; arg is a struct progress. total 0:
   not known. */
void
progress_step(void *arg, const char *step, uint64_t done, uint64_t total);
/* Takes the line away. */
void
progress_end(struct progress *p);

#endif
