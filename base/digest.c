/*
 * digest.c - SHA-256, by libcrypto
 */
#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

struct digest {
	EVP_MD_CTX *ctx;
};

static EVP_MD *sha256;

int
digest_setup(struct fault *f)
{
	/* No openssl.cnf: it could name a module to load into us. */
	if (!sha256 &&
	    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) == 1)
		sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	if (!sha256)
		return fault_set(f, FAULT_TROUBLE,
				 "libcrypto has no SHA-256 to offer");
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
	if (n)
		n->ctx = EVP_MD_CTX_new();
	if (!n || !n->ctx || !EVP_DigestInit_ex2(n->ctx, sha256, NULL)) {
		digest_free(n);
		return fault_set(f, FAULT_TROUBLE, "out of memory: digest");
	}
	*d = n;
	return 0;
}

void
digest_free(struct digest *d)
{
	if (!d)
		return;
	EVP_MD_CTX_free(d->ctx);
	free(d);
}

void
digest_reset(struct digest *d)
{
	MUST(EVP_DigestInit_ex2(d->ctx, NULL, NULL) == 1);
}

void
digest_bytes(struct digest *d, const void *bytes, size_t n)
{
	MUST(n == 0 || EVP_DigestUpdate(d->ctx, bytes, n) == 1);
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
	MUST(EVP_DigestFinal_ex(d->ctx, out, NULL) == 1);
	digest_reset(d);
}

void
digest_of(const void *bytes, size_t n, unsigned char out[DIGEST_BYTES])
{
	MUST(sha256 != NULL);
	MUST(EVP_Digest(bytes, n, out, NULL, sha256, NULL) == 1);
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
