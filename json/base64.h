/*
 * base64.h - base64 of RFC 4648, with padding and without line breaks
 */
#ifndef JSON_BASE64_H
#define JSON_BASE64_H

#include <stddef.h>

#include "base/fault.h"

/* *text is the caller's. FAULT_TROUBLE out of memory. */
int
base64_encode(const void *bytes, size_t n, char **text, struct fault *f);

/*
 * *bytes is the caller's, with a NUL behind its *n bytes. 1: text is not
 * what base64_encode writes for any bytes.
 */
int
base64_decode(const char *text, unsigned char **bytes, size_t *n,
	      struct fault *f);

#endif
