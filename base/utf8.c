/*
 * utf8.c - is it strictly valid UTF-8?
 *
 * Apart from cell.c, so that a program may ask without libcrypto.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cell.h"

static bool
S_tail_byte(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* The length of the valid sequence at s, or 0. Table 3-7 of Unicode. */
static size_t
S_utf8_sequence(const unsigned char *s, size_t n)
{
	unsigned char low = 0x80, high = 0xbf;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4 || n < 2)
		return 0;
	if (s[0] < 0xe0)
		return S_tail_byte(s[1]) ? 2 : 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high || n < 3 || !S_tail_byte(s[2]))
		return 0;
	if (s[0] < 0xf0)
		return 3;
	return n >= 4 && S_tail_byte(s[3]) ? 4 : 0;
}

int
cell_utf8_check(const void *bytes, size_t n)
{
	const unsigned char *s = bytes;
	size_t i = 0, step;
	uint64_t word;

	while (i < n) {
		/* Most text is ASCII: eight bytes at a time. */
		while (n - i >= sizeof(word)) {
			memcpy(&word, s + i, sizeof(word));
			if (word & 0x8080808080808080ull)
				break;
			i += sizeof(word);
		}
		if (i == n)
			break;
		step = S_utf8_sequence(s + i, n - i);
		if (step == 0)
			return 1;
		i += step;
	}
	return 0;
}
