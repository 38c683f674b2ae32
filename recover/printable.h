/*
 * printable.h - text of the evidence as plain ASCII, for sentences of ours
 */
#ifndef RECOVER_PRINTABLE_H
#define RECOVER_PRINTABLE_H

#include <stddef.h>

/*
 * What is not printable ASCII, and the backslash, becomes \xNN. out has room
 * bytes, at least 1; what does not fit is cut off behind a whole character.
 */
void
printable(const void *bytes, size_t n, char *out, size_t room);

#endif
