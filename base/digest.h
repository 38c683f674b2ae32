/*
 * digest.h - SHA-256, by libcrypto
 *
 * Every variable-length field goes in with its tag and its length in front:
 * ("a3","b") and ("a","3b") must never give the same digest.
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define DIGEST_BYTES 32
#define DIGEST_HEX_BYTES (2 * DIGEST_BYTES + 1)	/* with the NUL */

struct digest;

/* FAULT_TROUBLE: the library does not give the known answer. */
int
digest_setup(struct fault *f);

int
digest_new(struct digest **d, struct fault *f);
void
digest_free(struct digest *d);

/* Forgets all that went in. A new digest is reset already. */
void
digest_reset(struct digest *d);
void
digest_bytes(struct digest *d, const void *bytes, size_t n);
/* One tag byte, the length as 8 bytes little endian, the bytes. */
void
digest_tagged(struct digest *d, unsigned char tag, const void *bytes, size_t n);
/* The digest of all that went in since the reset; resets. */
void
digest_final(struct digest *d, unsigned char out[DIGEST_BYTES]);

/* The digest of one stretch of bytes. */
void
digest_of(const void *bytes, size_t n, unsigned char out[DIGEST_BYTES]);

void
digest_hex(const unsigned char raw[DIGEST_BYTES], char hex[DIGEST_HEX_BYTES]);
/* 0, or 1: not 64 lower-case hexadecimal digits. */
int
digest_unhex(const char *hex, unsigned char raw[DIGEST_BYTES]);

#endif
