/*
 * notes.c - what could not be checked, and why
 */
#include "packet/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

int
notes_add(struct notes *n, struct fault *f, const char *what, const char *fmt,
	  ...)
{
	struct note *grown = reallocarray(n->note, n->count + 1, sizeof(*grown));
	OWN_MEM(char, why);
	OWN_MEM(char, copy);
	va_list ap;

	if (grown)
		n->note = grown;
	va_start(ap, fmt);
	if (vasprintf(&why, fmt, ap) < 0)
		why = NULL;
	va_end(ap);
	copy = strdup(what);
	if (!grown || !why || !copy)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	n->note[n->count].what = TAKE_MEM(copy);
	n->note[n->count].why = TAKE_MEM(why);
	n->count++;
	return 0;
}

void
notes_free(struct notes *n)
{
	for (size_t i = 0; i < n->count; i++) {
		free(n->note[i].what);
		free(n->note[i].why);
	}
	free(n->note);
	*n = (struct notes)NOTES_INIT;
}
