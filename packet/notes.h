/*
 * notes.h - what could not be checked, and why
 */
#ifndef PACKET_NOTES_H
#define PACKET_NOTES_H

#include <stddef.h>

#include "base/fault.h"

struct note {
	char *what, *why;
};

struct notes {
	struct note *note;
	size_t count;
};

#define NOTES_INIT { .note = NULL, .count = 0 }

int
notes_add(struct notes *n, struct fault *f, const char *what, const char *fmt,
	  ...) __attribute__((format(printf, 4, 5)));
void
notes_free(struct notes *n);

#endif
