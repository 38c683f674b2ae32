/*
 * token.h - SQLite's tokens, as far as the text of a schema object needs
 *
 * Source: https://www.sqlite.org/lang_keywords.html and tokenize.c. Blanks
 * and comments are no tokens.
 */
#ifndef BASE_TOKEN_H
#define BASE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,	/* keyword or plain identifier */
	TOKEN_QUOTED,	/* "x" `x` [x], with the quotes */
	TOKEN_STRING,	/* 'x', with the quotes */
	TOKEN_NUMBER,
	TOKEN_OTHER,	/* one byte */
};

struct token {
	enum token_kind kind;
	const char *at;	/* borrowed from the text */
	size_t len;
};

/* The token at *at; moves *at behind it. */
void
token_next(const char **at, struct token *t);

/* The token is this word, in any case. */
bool
token_is(const struct token *t, const char *word);

/* No difference but in blanks, comments and the case of plain words. */
bool
token_same(const char *a, const char *b);

/* The statement has one of the words (NULL ends the list). */
bool
token_has(const char *sql, const char *const *words);

/* Parentheses within parentheses. */
bool
token_nested(const char *sql);

enum token_object {
	TOKEN_OBJECT_OTHER,	/* index, view, trigger, no CREATE */
	TOKEN_OBJECT_TABLE,
	TOKEN_OBJECT_VIRTUAL,
};

enum token_object
token_object(const char *sql);

/* What stands behind the last parenthesis of a CREATE TABLE. */
void
token_table_options(const char *sql, bool *without_rowid, bool *strict);

/* One literal, with or without a sign and parentheses, or a lone word, which
   DEFAULT takes for a text: all that a DEFAULT may be without an expression,
   but the words for the present time. */
bool
token_literal(const char *sql);

#endif
