/*
 * base64_encode.c - base64 of RFC 4648, without libcrypto
 *
 * Apart from base64.c, since loading libcrypto would cost the program of the
 * lease database more than a lease does.
 */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "json/base64.h"

static const char S_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Up to three bytes as four characters. */
static void
S_group(const unsigned char *in, size_t n, char out[4])
{
	uint32_t v = (uint32_t)in[0] << 16;

	if (n > 1)
		v |= (uint32_t)in[1] << 8;
	if (n > 2)
		v |= in[2];
	out[0] = S_digits[v >> 18];
	out[1] = S_digits[v >> 12 & 63];
	out[2] = n > 1 ? S_digits[v >> 6 & 63] : '=';
	out[3] = n > 2 ? S_digits[v & 63] : '=';
}

int
base64_encode(const void *bytes, size_t n, char **text, struct fault *f)
{
	const unsigned char *in = bytes;
	char *t;

	if (n > INT_MAX / 2)
		return fault_set(f, FAULT_CAP, "%zu bytes of base64", n);
	t = malloc((n + 2) / 3 * 4 + 1);
	if (!t)
		return fault_set(f, FAULT_TROUBLE, "out of memory: base64");
	*text = t;
	for (; n > 0; in += 3, t += 4) {
		S_group(in, n, t);
		n -= n < 3 ? n : 3;
	}
	*t = '\0';
	return 0;
}
