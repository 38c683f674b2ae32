/*
 * scan.c - is it JSON, to the letter?
 */
#include "json/scan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cell.h"

struct scan {
	const unsigned char *start, *at, *end;
	const struct json_rules *rules;
	unsigned depth;
	size_t values;
	struct fault *f;
};

static int
S_value(struct scan *s);

static int
S_fail(struct scan *s, const char *what)
{
	const unsigned char *from = s->start;
	size_t line = 1;

	for (const unsigned char *p = s->start; p < s->at; p++) {
		if (*p != '\n')
			continue;
		line++;
		from = p + 1;
	}
	return fault_set(s->f, s->rules->code, "line %zu, column %zu: %s",
			 line, (size_t)(s->at - from) + 1, what);
}

static void
S_skip_space(struct scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'
				  || *s->at == '\n' || *s->at == '\r'))
		s->at++;
}

/* The byte here, or -1 at the end. */
static int
S_peek(const struct scan *s)
{
	return s->at < s->end ? *s->at : -1;
}

static int
S_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
		return S_fail(s, "no JSON value starts like this");
	s->at += n;
	return 0;
}

static size_t
S_digits(struct scan *s)
{
	const unsigned char *from = s->at;

	while (S_peek(s) >= '0' && S_peek(s) <= '9')
		s->at++;
	return (size_t)(s->at - from);
}

static int
S_number(struct scan *s)
{
	const unsigned char *from = s->at;

	if (S_peek(s) == '-')
		s->at++;
	if (S_peek(s) == '0')
		s->at++;
	else if (S_digits(s) == 0)
		return S_fail(s, "a number without digits");
	if (s->rules->integers && (S_peek(s) == '.' || S_peek(s) == 'e' ||
				   S_peek(s) == 'E'))
		return S_fail(s, "a number here is an integer, without '.'"
			      " and 'e'");
	if (S_peek(s) == '.') {
		s->at++;
		if (S_digits(s) == 0)
			return S_fail(s, "a number ends with its point");
	}
	if (S_peek(s) == 'e' || S_peek(s) == 'E') {
		s->at++;
		if (S_peek(s) == '+' || S_peek(s) == '-')
			s->at++;
		if (S_digits(s) == 0)
			return S_fail(s, "a number with an empty exponent");
	}
	if ((size_t)(s->at - from) > SCAN_NUMBER_MAX)
		return S_fail(s, "a number of too many digits");
	return 0;
}

/* The four hexadecimal digits behind \u, or -1. */
static int32_t
S_hex4(struct scan *s)
{
	int32_t v = 0;

	if (s->end - s->at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int c = *s->at++;

		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			v = v << 4 | (c - 'A' + 10);
		else
			return -1;
	}
	return v;
}

static int
S_unicode_escape(struct scan *s)
{
	int32_t v = S_hex4(s);

	if (v < 0)
		return S_fail(s, "\\u without four hexadecimal digits");
	if (v == 0)
		return S_fail(s, "\\u0000 is not allowed");
	if (v < 0xd800 || v > 0xdfff)
		return 0;
	if (v > 0xdbff || s->end - s->at < 2 || s->at[0] != '\\'
	    || s->at[1] != 'u')
		return S_fail(s, "half of a surrogate pair");
	s->at += 2;
	v = S_hex4(s);
	if (v < 0xdc00 || v > 0xdfff)
		return S_fail(s, "half of a surrogate pair");
	return 0;
}

static int
S_escape(struct scan *s)
{
	int c;

	s->at++;
	c = S_peek(s);
	if (c > 0 && strchr("\"\\/bfnrt", c)) {
		s->at++;
		return 0;
	}
	if (c != 'u')
		return S_fail(s, "JSON has no such escape");
	s->at++;
	return S_unicode_escape(s);
}

static int
S_string(struct scan *s)
{
	const unsigned char *from = ++s->at;
	int c, rc;

	while ((c = S_peek(s)) != '"') {
		if (c < 0)
			return S_fail(s, "the text ends inside a string");
		if (c < 0x20)
			return S_fail(s, "a control character in a string");
		if (c != '\\') {
			s->at++;
			continue;
		}
		rc = S_escape(s);
		if (rc)
			return rc;
	}
	if (cell_utf8_check(from, (size_t)(s->at - from)))
		return S_fail(s, "a string is not valid UTF-8");
	s->at++;
	return 0;
}

static int
S_key(struct scan *s)
{
	int rc;

	if (S_peek(s) != '"')
		return S_fail(s, "a key must be a string");
	rc = S_string(s);
	if (rc)
		return rc;
	S_skip_space(s);
	if (S_peek(s) != ':')
		return S_fail(s, "no ':' behind a key");
	s->at++;
	return 0;
}

/* An array or an object: its items up to the closing byte. */
static int
S_items(struct scan *s, bool object)
{
	int close = object ? '}' : ']', rc;

	if (++s->depth > s->rules->depth)
		return S_fail(s, "nested too deep");
	s->at++;
	S_skip_space(s);
	if (S_peek(s) == close)
		goto closed;
	for (;;) {
		S_skip_space(s);
		rc = object ? S_key(s) : 0;
		if (rc == 0)
			rc = S_value(s);
		if (rc)
			return rc;
		if (S_peek(s) == close)
			break;
		if (S_peek(s) != ',')
			return S_fail(s, object ? "no ',' or '}' here"
						: "no ',' or ']' here");
		s->at++;
	}
closed:
	s->at++;
	s->depth--;
	return 0;
}

static int
S_bare_value(struct scan *s)
{
	switch (S_peek(s)) {
	case '{':
		return S_items(s, true);
	case '[':
		return S_items(s, false);
	case '"':
		return S_string(s);
	case 't':
		return S_word(s, "true");
	case 'f':
		return S_word(s, "false");
	case 'n':
		return S_word(s, "null");
	case '-': case '0': case '1': case '2': case '3': case '4':
	case '5': case '6': case '7': case '8': case '9':
		return S_number(s);
	case -1:
		return S_fail(s, "the text ends early");
	default:
		return S_fail(s, "no JSON value starts like this");
	}
}

static int
S_value(struct scan *s)
{
	int rc;

	if (++s->values > s->rules->values)
		return S_fail(s, "too many values");
	S_skip_space(s);
	rc = S_bare_value(s);
	if (rc)
		return rc;
	S_skip_space(s);
	return 0;
}

int
scan_json(const void *bytes, size_t n, const struct json_rules *rules,
	  struct fault *f)
{
	struct scan s = { .start = bytes, .at = bytes, .rules = rules, .f = f };
	int rc;

	if (n > rules->bytes)
		return fault_set(f, rules->code,
				 "%zu bytes of JSON: the cap is %zu", n,
				 rules->bytes);
	s.end = s.start + n;
	rc = S_value(&s);
	if (rc)
		return rc;
	if (s.at != s.end)
		return S_fail(&s, "text behind the end");
	return 0;
}
