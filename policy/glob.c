/*
 * glob.c - SQLite's GLOB
 */
#include "policy/glob.h"

#include <string.h>

/* The character at *p, which is moved behind it. */
static unsigned
S_next(const unsigned char **p)
{
	unsigned c = *(*p)++;
	unsigned more = c < 0xc0 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;

	if (more)
		c &= 0x3fu >> more;
	while (more--)
		c = c << 6 | (*(*p)++ & 0x3fu);
	return c;
}

/*
 * c against the set behind '[' at *p; *p is moved behind its ']'. -1: the
 * set does not end.
 */
static int
S_set(const unsigned char **p, const unsigned char *end, unsigned c)
{
	bool seen = false, invert = false, first = true;
	unsigned prior = 0, at;

	if (*p < end && **p == '^') {
		invert = true;
		(*p)++;
	}
	for (;; first = false) {
		if (*p == end)
			return -1;
		at = S_next(p);
		if (at == ']' && !first)
			return seen != invert;
		if (at == '-' && prior > 0 && *p < end && **p != ']') {
			at = S_next(p);
			seen |= c >= prior && c <= at;
			prior = 0;
		} else {
			seen |= c == at;
			/* A ']' in front starts no range. */
			prior = first && at == ']' ? 0 : at;
		}
	}
}

/* One character of the pattern other than '*' takes c: 1; 0: it does not. */
static int
S_one(const unsigned char **p, const unsigned char *end, unsigned c)
{
	unsigned at = S_next(p);

	if (at == '[')
		return S_set(p, end, c) == 1;
	return at == '?' || at == c;
}

bool
glob_match(const char *pattern, const unsigned char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)pattern;
	const unsigned char *end = p + strlen(pattern);
	const unsigned char *s = text, *stop = text + n;
	const unsigned char *star = NULL, *from = NULL;

	while (s < stop) {
		if (p < end && *p == '*') {
			star = ++p;
			from = s;
			continue;
		}
		if (p < end) {
			const unsigned char *here = s;

			if (S_one(&p, end, S_next(&s)))
				continue;
			s = here;
		}
		if (!star)
			return false;
		/* The last '*' takes one character more. */
		(void)S_next(&from);
		s = from;
		p = star;
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}
