/*
 * text.c - text that came from elsewhere, made fit to be shown
 */
#include "controls/text.h"

#include <stdbool.h>
#include <string.h>

/*
 * The length of the UTF-8 sequence at p and its code point; 0 where there is
 * none (RFC 3629: no overlong forms, no surrogates, up to U+10FFFF).
 */
static size_t
S_sequence(const unsigned char *p, unsigned *point)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 :
		*p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
	unsigned c = n == 1 ? *p : n ? *p & (0x7fu >> n) : 0;

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*point = c;
	return n;
}

/* Controls, and what turns the direction of a line around. */
static bool
S_showable(unsigned c)
{
	return c >= 0x20 && !(c >= 0x7f && c < 0xa0) &&
		!(c >= 0x200b && c <= 0x200f) &&
		!(c >= 0x2028 && c <= 0x202e) &&
		!(c >= 0x2066 && c <= 0x2069) && c != 0xfeff &&
		c != 0xfffe && c != 0xffff;
}

size_t
text_clean(char *out, size_t max, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = 0;

	while (*p) {
		unsigned c = 0;
		size_t len = S_sequence(p, &c);
		bool blank = c == '\n' || c == '\t' || c == '\r' || c == ' ';

		if (n + 4 + 3 > max)
			break;
		if (blank) {
			if (n > 0 && out[n - 1] != ' ')
				out[n++] = ' ';
		} else if (len == 0 || !S_showable(c)) {
			out[n++] = '?';
		} else {
			memcpy(out + n, p, len);
			n += len;
		}
		p += len ? len : 1;
	}
	if (*p) {
		memcpy(out + n, "...", 3);
		n += 3;
	}
	while (n > 0 && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
	return n;
}

void
text_xml(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			(void)fputs("&amp;", out);
			break;
		case '<':
			(void)fputs("&lt;", out);
			break;
		case '>':
			(void)fputs("&gt;", out);
			break;
		case '"':
			(void)fputs("&quot;", out);
			break;
		case '\'':
			(void)fputs("&apos;", out);
			break;
		default:
			(void)fputc(*text, out);
		}
}
