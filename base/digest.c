/*
 * digest.c - SHA-256, by libcrypto
 *
 * The EVP interface allocates each time that it starts over, and there is
 * one digest for each block: so the plain one, which cannot fail, and which
 * reads no configuration that could name a module to load into us.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/digest.h"

#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

struct digest {
	SHA256_CTX ctx;
};

int
digest_setup(struct fault *f)
{
	/* FIPS 180-2, appendix B.1. */
	static const unsigned char abc[DIGEST_BYTES] = {
		0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
		0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
		0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
		0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
	};
	unsigned char got[DIGEST_BYTES];
	struct digest d;

	digest_reset(&d);
	digest_bytes(&d, "abc", 3);
	digest_final(&d, got);
	if (memcmp(got, abc, sizeof(got)))
		return fault_set(f, FAULT_TROUBLE, "libcrypto's SHA-256 does "
				 "not give the known answer on this machine");
	return 0;
}

int
digest_new(struct digest **d, struct fault *f)
{
	struct digest *n;
	int rc = digest_setup(f);

	if (rc)
		return rc;
	n = calloc(1, sizeof(*n));
	if (!n)
		return fault_set(f, FAULT_TROUBLE, "out of memory: digest");
	digest_reset(n);
	*d = n;
	return 0;
}

void
digest_free(struct digest *d)
{
	free(d);
}

void
digest_reset(struct digest *d)
{
	MUST(SHA256_Init(&d->ctx) == 1);
}

void
digest_bytes(struct digest *d, const void *bytes, size_t n)
{
	MUST(n == 0 || SHA256_Update(&d->ctx, bytes, n) == 1);
}

void
digest_tagged(struct digest *d, unsigned char tag, const void *bytes, size_t n)
{
	unsigned char head[9];

	head[0] = tag;
	bytes_put_le64(head + 1, n);
	digest_bytes(d, head, sizeof(head));
	digest_bytes(d, bytes, n);
}

void
digest_final(struct digest *d, unsigned char out[DIGEST_BYTES])
{
	MUST(SHA256_Final(out, &d->ctx) == 1);
	digest_reset(d);
}

void
digest_of(const void *bytes, size_t n, unsigned char out[DIGEST_BYTES])
{
	struct digest d;

	digest_reset(&d);
	digest_bytes(&d, bytes, n);
	digest_final(&d, out);
}

void
digest_hex(const unsigned char raw[DIGEST_BYTES], char hex[DIGEST_HEX_BYTES])
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < DIGEST_BYTES; i++) {
		hex[2 * i] = digit[raw[i] >> 4];
		hex[2 * i + 1] = digit[raw[i] & 15];
	}
	hex[2 * DIGEST_BYTES] = '\0';
}

static int
S_nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int
digest_unhex(const char *hex, unsigned char raw[DIGEST_BYTES])
{
	if (strlen(hex) != 2 * DIGEST_BYTES)
		return 1;
	for (size_t i = 0; i < DIGEST_BYTES; i++) {
		int hi = S_nibble(hex[2 * i]), lo = S_nibble(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return 1;
		raw[i] = (unsigned char)(hi << 4 | lo);
	}
	return 0;
}
