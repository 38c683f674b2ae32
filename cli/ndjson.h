/*
 * ndjson.h - writes lines of JSON straight to a stream
 *
 * Lifecycle: ndjson_open, members, ndjson_close, ndjson_line. Millions of
 * rows and cells of any size go through here, so no tree is built: no memory
 * is taken, and nothing can fail but the stream, which keeps its own error
 * (report_written). key is NULL inside an array. For small documents that are
 * read back: json/write.h.
 *
 * Characters that a terminal must not get are written as \uNNNN, which
 * changes nothing for a reader.
 */
#ifndef CLI_NDJSON_H
#define CLI_NDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cell.h"
#include "packet/notes.h"

struct ndjson {
	FILE *to;	/* borrowed */
	bool comma;	/* one belongs in front of the next value */
};

#define NDJSON_INIT(stream) { .to = (stream), .comma = false }

/* bracket: '{' or '['; its partner closes it. */
void
ndjson_open(struct ndjson *j, const char *key, char bracket);
void
ndjson_close(struct ndjson *j, char bracket);
/* The end of an object that is a line of its own. */
void
ndjson_line(struct ndjson *j);

void
ndjson_null(struct ndjson *j, const char *key);
void
ndjson_bool(struct ndjson *j, const char *key, bool v);
void
ndjson_int(struct ndjson *j, const char *key, int64_t v);
void
ndjson_u64(struct ndjson *j, const char *key, uint64_t v);
/* Words and messages: bytes that are not UTF-8 become the four characters
   \xNN. NULL is null. */
void
ndjson_text(struct ndjson *j, const char *key, const char *text);
void
ndjson_bytes(struct ndjson *j, const char *key, const void *bytes, size_t n);
/* A name, exactly: under key where it is UTF-8, else its base64 under key64.
   NULL is null. key must not be NULL. */
void
ndjson_name(struct ndjson *j, const char *key, const char *name);
/* A name or text of the evidence, which may be any bytes: as ndjson_text, and
   where it is not UTF-8 its base64 under key64 as well. */
void
ndjson_shown(struct ndjson *j, const char *key, const char *name);
/* 2n lower-case digits. */
void
ndjson_hex(struct ndjson *j, const char *key, const unsigned char *bytes,
	 size_t n);

/* null, ["int","42"], ["real","0x1.8p+0"], ["text","…"], ["text64","…"],
   ["text16","…"], ["blob",{"bytes":n,"sha256":"…"}] */
void
ndjson_cell(struct ndjson *j, const char *key, const struct cell *c);

/* "not_checked":[{"what":…,"why":…},…] */
void
ndjson_notes(struct ndjson *j, const struct notes *n);

#endif
