/*
 * needs.h - what this system lets a control do
 */
#ifndef CONTROLS_NEEDS_H
#define CONTROLS_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

#include "controls/control.h"

/* True and a sentence: one of the needs (enum control_needs) is not met. */
bool
needs_lack(unsigned needs, char *why, size_t room);

/* "root, sqlite3", or "nothing". */
void
needs_words(unsigned needs, char *words, size_t room);

#endif
