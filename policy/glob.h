/*
 * glob.h - SQLite's GLOB
 *
 * Source: patternCompare of SQLite's func.c: '*' any characters, '?' one,
 * '[a-z]' one of a set, '[^a-z]' one that is not; case counts; no escape. A
 * set that does not end matches nothing. Unlike there a NUL is a character
 * and does not end the text.
 */
#ifndef POLICY_GLOB_H
#define POLICY_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Both in valid UTF-8. The time is at most the product of the lengths. */
bool
glob_match(const char *pattern, const unsigned char *text, size_t n);

#endif
