/*
 * token.c - SQLite's tokens, as far as the text of a schema object needs
 */
#include "base/token.h"

#include <string.h>
#include <strings.h>

static bool
S_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static bool
S_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
S_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       S_digit(c) || c == '_' || c == '$' || (c & 0x80);
}

static const char *
S_skip_blanks(const char *p)
{
	for (;;) {
		if (S_blank(*p)) {
			p++;
		} else if (p[0] == '-' && p[1] == '-') {
			while (*p && *p != '\n')
				p++;
		} else if (p[0] == '/' && p[1] == '*') {
			const char *end = strstr(p + 2, "*/");

			p = end ? end + 2 : p + strlen(p);
		} else {
			return p;
		}
	}
}

/* Behind the closing quote; a doubled quote stands for itself. */
static const char *
S_skip_quoted(const char *p)
{
	char quote = *p++;

	if (quote == '[') {
		while (*p && *p != ']')
			p++;
		return *p ? p + 1 : p;
	}
	for (; *p; p++) {
		if (*p != quote)
			continue;
		if (p[1] != quote)
			return p + 1;
		p++;
	}
	return p;
}

static const char *
S_skip_number(const char *p)
{
	while (S_word(*p) || *p == '.' ||
	       ((*p == '+' || *p == '-') && (p[-1] == 'e' || p[-1] == 'E') &&
		S_digit(p[1])))
		p++;
	return p;
}

void
token_next(const char **at, struct token *t)
{
	const char *p = S_skip_blanks(*at);

	t->at = p;
	if (*p == '\0') {
		t->kind = TOKEN_END;
	} else if (*p == '\'') {
		t->kind = TOKEN_STRING;
		p = S_skip_quoted(p);
	} else if (*p == '"' || *p == '`' || *p == '[') {
		t->kind = TOKEN_QUOTED;
		p = S_skip_quoted(p);
	} else if (S_digit(*p) || (*p == '.' && S_digit(p[1]))) {
		t->kind = TOKEN_NUMBER;
		p = S_skip_number(p + 1);
	} else if (S_word(*p)) {
		t->kind = TOKEN_WORD;
		while (S_word(*p))
			p++;
	} else {
		t->kind = TOKEN_OTHER;
		p++;
	}
	t->len = (size_t)(p - t->at);
	*at = p;
}

bool
token_is(const struct token *t, const char *word)
{
	return t->len == strlen(word) && strncasecmp(t->at, word, t->len) == 0;
}

bool
token_same(const char *a, const char *b)
{
	struct token ta, tb;

	do {
		token_next(&a, &ta);
		token_next(&b, &tb);
		if (ta.kind != tb.kind || ta.len != tb.len)
			return false;
		if (ta.kind == TOKEN_WORD
		    ? strncasecmp(ta.at, tb.at, ta.len) != 0
		    : memcmp(ta.at, tb.at, ta.len) != 0)
			return false;
	} while (ta.kind != TOKEN_END);
	return true;
}

bool
token_has(const char *sql, const char *const *words)
{
	struct token t;

	for (token_next(&sql, &t); t.kind != TOKEN_END; token_next(&sql, &t)) {
		if (t.kind != TOKEN_WORD)
			continue;
		for (size_t i = 0; words[i]; i++) {
			if (token_is(&t, words[i]))
				return true;
		}
	}
	return false;
}

bool
token_nested(const char *sql)
{
	struct token t;
	int depth = 0;

	for (token_next(&sql, &t); t.kind != TOKEN_END; token_next(&sql, &t)) {
		if (token_is(&t, "(") && ++depth > 1)
			return true;
		if (token_is(&t, ")"))
			depth--;
	}
	return false;
}

enum token_object
token_object(const char *sql)
{
	struct token t;

	token_next(&sql, &t);
	if (!token_is(&t, "create"))
		return TOKEN_OBJECT_OTHER;
	token_next(&sql, &t);
	if (token_is(&t, "temp") || token_is(&t, "temporary"))
		token_next(&sql, &t);
	if (token_is(&t, "virtual"))
		return TOKEN_OBJECT_VIRTUAL;
	return token_is(&t, "table") ? TOKEN_OBJECT_TABLE : TOKEN_OBJECT_OTHER;
}

void
token_table_options(const char *sql, bool *without_rowid, bool *strict)
{
	struct token t;
	int depth = 0;
	bool closed = false, without = false;

	*without_rowid = *strict = false;
	for (token_next(&sql, &t); t.kind != TOKEN_END; token_next(&sql, &t)) {
		if (token_is(&t, "("))
			depth++;
		else if (token_is(&t, ")"))
			closed = --depth == 0;
		else if (closed && token_is(&t, ";"))
			return;
		else if (closed && token_is(&t, "strict"))
			*strict = true;
		else if (closed && without && token_is(&t, "rowid"))
			*without_rowid = true;
		without = token_is(&t, "without");
	}
}

static bool
S_literal_word(const struct token *t)
{
	return token_is(t, "null") || token_is(t, "true") ||
	       token_is(t, "false");
}

static bool
S_time_word(const struct token *t)
{
	return token_is(t, "current_time") || token_is(t, "current_date") ||
	       token_is(t, "current_timestamp");
}

static bool
S_at_end(const char *sql)
{
	struct token t;

	token_next(&sql, &t);
	return t.kind == TOKEN_END;
}

bool
token_literal(const char *sql)
{
	struct token t;
	int depth = 0;

	token_next(&sql, &t);
	if (t.kind == TOKEN_WORD && S_at_end(sql))
		return !S_time_word(&t);
	while (token_is(&t, "(") || token_is(&t, "+") || token_is(&t, "-")) {
		depth += token_is(&t, "(");
		token_next(&sql, &t);
	}
	if (t.kind == TOKEN_WORD && token_is(&t, "x") && *sql == '\'')
		token_next(&sql, &t);
	else if (t.kind == TOKEN_WORD && !S_literal_word(&t))
		return false;
	if (t.kind == TOKEN_END || t.kind == TOKEN_OTHER)
		return false;
	for (token_next(&sql, &t); token_is(&t, ")"); token_next(&sql, &t))
		depth--;
	return t.kind == TOKEN_END && depth == 0;
}
