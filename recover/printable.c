/*
 * printable.c - text of the evidence as plain ASCII, for sentences of ours
 */
#include "recover/printable.h"

void
printable(const void *bytes, size_t n, char *out, size_t room)
{
	static const char digit[] = "0123456789abcdef";
	const unsigned char *b = bytes;
	size_t to = 0;

	for (size_t i = 0; i < n; i++) {
		if (b[i] >= 0x20 && b[i] < 0x7f && b[i] != '\\') {
			if (room - to <= 1)
				break;
			out[to++] = (char)b[i];
			continue;
		}
		if (room - to <= 4)
			break;
		out[to++] = '\\';
		out[to++] = 'x';
		out[to++] = digit[b[i] >> 4];
		out[to++] = digit[b[i] & 15];
	}
	out[to] = '\0';
}
