/*
 * escape.c - text from the evidence, made harmless before it is shown
 */
#include "cli/escape.h"

#include <stdbool.h>
#include <string.h>

#include "base/cell.h"

/* C0, DEL, C1; the marks that turn the reading order; line separators. */
static bool
S_unsafe(unsigned c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c ||
	       c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

size_t
escape_char(const unsigned char *s, size_t n, unsigned *code, int *unsafe)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (len > n || cell_utf8_check(s, len))
		return 0;
	*code = len == 1 ? s[0] : s[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++)
		*code = *code << 6 | (s[i] & 0x3fu);
	*unsafe = S_unsafe(*code);
	return len;
}

static void
S_put_escaped(FILE *to, unsigned code)
{
	if (code == '\n' || code == '\r' || code == '\t')
		(void)fprintf(to, "\\%c",
			      code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
	else
		(void)fprintf(to, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
}

void
escape_put(FILE *to, const void *bytes, size_t n)
{
	const unsigned char *s = bytes;
	size_t i = 0, len;
	unsigned code;
	int unsafe;

	while (i < n) {
		for (len = 0; i + len < n && s[i + len] >= 0x20 &&
			      s[i + len] < 0x7f; len++)
			;
		(void)fwrite_unlocked(s + i, 1, len, to);
		i += len;
		if (i == n)
			break;
		len = escape_char(s + i, n - i, &code, &unsafe);
		if (len == 0)
			(void)fprintf(to, "\\x%02x", s[i]);
		else if (unsafe)
			S_put_escaped(to, code);
		else
			(void)fwrite_unlocked(s + i, 1, len, to);
		i += len ? len : 1;
	}
}

void
escape_puts(FILE *to, const char *text)
{
	escape_put(to, text, strlen(text));
}
