/*
 * text.h - text that came from elsewhere, made fit to be shown
 */
#ifndef CONTROLS_TEXT_H
#define CONTROLS_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Copies text into out, which has room for max bytes and the final NUL, and
 * returns its length: one line of valid UTF-8. White space becomes one
 * blank, other control characters and invalid bytes '?'; what is too long
 * ends with "...".
 */
size_t
text_clean(char *out, size_t max, const char *text);

/* For XML, within a double-quoted attribute too. */
void
text_xml(FILE *out, const char *text);

#endif
