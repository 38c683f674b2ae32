/*
 * ndjson.c - writes lines of JSON straight to a stream
 */
#include "cli/ndjson.h"

#include <inttypes.h>
#include <string.h>

#include "base/digest.h"
#include "cli/escape.h"

static void
S_puts(struct ndjson *j, const char *text)
{
	(void)fputs_unlocked(text, j->to);
}

static void
S_put_unsafe(struct ndjson *j, unsigned code)
{
	if (code == '\n' || code == '\r' || code == '\t')
		(void)fprintf(j->to, "\\%c",
			      code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
	else
		(void)fprintf(j->to, "\\u%04x", code);
}

/* A byte that is not UTF-8 becomes the four characters \xNN. */
static void
S_string(struct ndjson *j, const void *bytes, size_t n)
{
	const unsigned char *s = bytes;
	size_t i = 0, len, run;
	unsigned code;
	int unsafe;

	(void)putc_unlocked('"', j->to);
	while (i < n) {
		for (run = i; run < n && s[run] >= 0x20 && s[run] < 0x7f &&
			      s[run] != '"' && s[run] != '\\'; run++)
			;
		(void)fwrite_unlocked(s + i, 1, run - i, j->to);
		i = run;
		if (i == n)
			break;
		len = escape_char(s + i, n - i, &code, &unsafe);
		if (len == 0)
			(void)fprintf(j->to, "\\\\x%02x", s[i]);
		else if (unsafe)
			S_put_unsafe(j, code);
		else if (code == '"' || code == '\\')
			(void)fprintf(j->to, "\\%c", (int)code);
		else
			(void)fwrite_unlocked(s + i, 1, len, j->to);
		i += len ? len : 1;
	}
	(void)putc_unlocked('"', j->to);
}

static void
S_lead(struct ndjson *j, const char *key)
{
	if (j->comma)
		(void)putc_unlocked(',', j->to);
	j->comma = true;
	if (!key)
		return;
	S_string(j, key, strlen(key));
	(void)putc_unlocked(':', j->to);
}

void
ndjson_open(struct ndjson *j, const char *key, char bracket)
{
	S_lead(j, key);
	(void)putc_unlocked(bracket, j->to);
	j->comma = false;
}

void
ndjson_close(struct ndjson *j, char bracket)
{
	(void)putc_unlocked(bracket, j->to);
	j->comma = true;
}

void
ndjson_line(struct ndjson *j)
{
	(void)putc_unlocked('\n', j->to);
	j->comma = false;
}

void
ndjson_null(struct ndjson *j, const char *key)
{
	S_lead(j, key);
	S_puts(j, "null");
}

void
ndjson_bool(struct ndjson *j, const char *key, bool v)
{
	S_lead(j, key);
	S_puts(j, v ? "true" : "false");
}

void
ndjson_int(struct ndjson *j, const char *key, int64_t v)
{
	S_lead(j, key);
	(void)fprintf(j->to, "%" PRId64, v);
}

void
ndjson_u64(struct ndjson *j, const char *key, uint64_t v)
{
	S_lead(j, key);
	(void)fprintf(j->to, "%" PRIu64, v);
}

void
ndjson_text(struct ndjson *j, const char *key, const char *text)
{
	if (text)
		ndjson_bytes(j, key, text, strlen(text));
	else
		ndjson_null(j, key);
}

void
ndjson_bytes(struct ndjson *j, const char *key, const void *bytes, size_t n)
{
	S_lead(j, key);
	S_string(j, bytes, n);
}

void
ndjson_hex(struct ndjson *j, const char *key, const unsigned char *bytes,
	   size_t n)
{
	static const char digit[] = "0123456789abcdef";

	S_lead(j, key);
	(void)putc_unlocked('"', j->to);
	for (size_t i = 0; i < n; i++) {
		(void)putc_unlocked(digit[bytes[i] >> 4], j->to);
		(void)putc_unlocked(digit[bytes[i] & 15], j->to);
	}
	(void)putc_unlocked('"', j->to);
}

/* RFC 4648, with padding. */
static void
S_base64(struct ndjson *j, const unsigned char *s, size_t n)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789+/";

	(void)putc_unlocked('"', j->to);
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		unsigned w = (unsigned)s[i] << 16;

		w |= left > 1 ? (unsigned)s[i + 1] << 8 : 0;
		w |= left > 2 ? (unsigned)s[i + 2] : 0;
		(void)putc_unlocked(digit[w >> 18], j->to);
		(void)putc_unlocked(digit[w >> 12 & 63], j->to);
		(void)putc_unlocked(left > 1 ? digit[w >> 6 & 63] : '=', j->to);
		(void)putc_unlocked(left > 2 ? digit[w & 63] : '=', j->to);
	}
	(void)putc_unlocked('"', j->to);
}

void
ndjson_name(struct ndjson *j, const char *key, const char *name)
{
	if (!name || !cell_utf8_check(name, strlen(name))) {
		ndjson_text(j, key, name);
		return;
	}
	S_lead(j, NULL);
	(void)fprintf(j->to, "\"%s64\":", key);
	S_base64(j, (const unsigned char *)name, strlen(name));
}

void
ndjson_shown(struct ndjson *j, const char *key, const char *name)
{
	ndjson_text(j, key, name);
	if (name && cell_utf8_check(name, strlen(name)))
		ndjson_name(j, key, name);
}

static void
S_blob(struct ndjson *j, uint64_t bytes, const unsigned char *sha256)
{
	S_puts(j, "[\"blob\",");
	j->comma = false;
	ndjson_open(j, NULL, '{');
	ndjson_u64(j, "bytes", bytes);
	ndjson_hex(j, "sha256", sha256, DIGEST_BYTES);
	ndjson_close(j, '}');
	(void)putc_unlocked(']', j->to);
}

void
ndjson_cell(struct ndjson *j, const char *key, const struct cell *c)
{
	unsigned char sum[DIGEST_BYTES];

	if (c->tag == CELL_NULL) {
		ndjson_null(j, key);
		return;
	}
	S_lead(j, key);
	switch (c->tag) {
	case CELL_NULL:
		break;
	case CELL_INT:
		(void)fprintf(j->to, "[\"int\",\"%" PRId64 "\"]", c->integer);
		break;
	case CELL_REAL:
		(void)fprintf(j->to, "[\"real\",\"%a\"]", c->real);
		break;
	case CELL_TEXT:
		/* Many readers of JSON lose text behind a NUL. */
		if (!memchr(c->bytes, '\0', c->len)) {
			S_puts(j, "[\"text\",");
			S_string(j, c->bytes, c->len);
			(void)putc_unlocked(']', j->to);
			break;
		}
		/* fall through */
	case CELL_TEXT8:
	case CELL_TEXT16:
		S_puts(j, c->tag == CELL_TEXT16 ? "[\"text16\","
						: "[\"text64\",");
		S_base64(j, c->bytes, c->len);
		(void)putc_unlocked(']', j->to);
		break;
	case CELL_BLOB:
		digest_of(c->bytes, c->len, sum);
		S_blob(j, c->len, sum);
		break;
	case CELL_BLOBSUM:
		S_blob(j, (uint64_t)c->integer, c->bytes);
		break;
	}
	j->comma = true;
}

void
ndjson_notes(struct ndjson *j, const struct notes *n)
{
	ndjson_open(j, "not_checked", '[');
	for (size_t i = 0; i < n->count; i++) {
		ndjson_open(j, NULL, '{');
		ndjson_text(j, "what", n->note[i].what);
		ndjson_text(j, "why", n->note[i].why);
		ndjson_close(j, '}');
	}
	ndjson_close(j, ']');
}
