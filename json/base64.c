/*
 * base64.c - base64 of RFC 4648, with padding and without line breaks
 */
#include "json/base64.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

/* libcrypto takes more than it writes: so the way back must be the same. */
static int
S_same(const unsigned char *bytes, size_t n, const char *text, struct fault *f)
{
	OWN_MEM(char, again);
	int rc = base64_encode(bytes, n, &again, f);

	if (rc)
		return rc;
	return strcmp(again, text) != 0;
}

int
base64_decode(const char *text, unsigned char **bytes, size_t *n,
	      struct fault *f)
{
	size_t len = strlen(text), got;
	OWN_MEM(unsigned char, raw);
	int rc;

	if (len % 4 != 0 || len > INT_MAX / 2)
		return 1;
	raw = malloc(len / 4 * 3 + 1);
	if (!raw)
		return fault_set(f, FAULT_TROUBLE, "out of memory: base64");
	if (EVP_DecodeBlock(raw, (const unsigned char *)text, (int)len)
	    != (int)(len / 4 * 3))
		return 1;
	got = len / 4 * 3;
	for (size_t pad = 0; pad < 2 && got > 0 && len > pad
	     && text[len - 1 - pad] == '='; pad++)
		got--;
	raw[got] = '\0';
	rc = S_same(raw, got, text, f);
	if (rc)
		return rc;
	*bytes = TAKE_MEM(raw);
	*n = got;
	return 0;
}
