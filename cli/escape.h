/*
 * escape.h - text from the evidence, made harmless before it is shown
 */
#ifndef CLI_ESCAPE_H
#define CLI_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes n bytes of what should be UTF-8 on one line. What a terminal must
 * not get is escaped, wherever the text goes: control characters (C0, DEL,
 * C1), line and paragraph separators, bidirectional controls, bytes that are
 * not UTF-8. As \n \r \t, \xNN for other single bytes, \uNNNN for longer
 * characters. A backslash stays one: this is for people, JSON is exact.
 */
void
escape_put(FILE *to, const void *bytes, size_t n);
void
escape_puts(FILE *to, const char *text);

/*
 * The length of the character at s (n > 0 bytes left) and whether a terminal
 * must not get it; 0: no valid UTF-8 starts here. Also in *code.
 */
size_t
escape_char(const unsigned char *s, size_t n, unsigned *code, int *unsafe);

#endif
