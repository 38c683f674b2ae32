/*
 * wire.h - the frames in which the recover helper answers
 *
 * Format: 4 bytes little endian length of the payload, one type byte, three
 * zero bytes, the payload: cells (base/cell.h) one after another, as listed.
 *
 * Trust: the writer may have been taken over by the database it read. The
 * reader caps each frame and the whole, checks that the cells are those that
 * the type promises, and believes nothing of what they say.
 *
 * A text need not be UTF-8 and holds no NUL.
 *
 * type		cells
 * HELLO	int protocol, text version, int landlock ABI (0: none),
 *		text SQLite's version, text its source id
 * FAULT	int fault_code, text, text hint
 * SKIP		text what was not checked, text why
 * FACT		int side, text key, any value       (keys: docs/FORMATS.md)
 * SETTING	text name, any before, any after
 * OBJECT	int change, text type, text name, text table,
 *		text|null sql before, text|null sql after, int structure
 *		differs, text|null name before, text|null table before,
 *		text|null type before (null: the same as after), int n (0, or
 *		WIRE_STORED for each side that has it), n × any: type, name,
 *		table and sql as they are stored, where the texts are not all
 * TABLE	text name, int enum wire_key, int n, n × text key columns,
 *		int n, n × text columns before, int n, n × text columns after,
 *		int n (-1: not known), n × any default of AFTER's own columns
 * ROW		int change, the key cells, then the before cells (removed,
 *		changed), then the after cells (added, changed); of TABLE's widths
 * TABLE_END	text name, int added, int removed, int changed,
 *		int rows before, int rows after
 * TABLE_SUM	int side, text name, int rows, blob 32-byte fingerprint
 * COLUMNS	n × text				(query)
 * RESULT	n × any, as wide as COLUMNS		(query)
 * PAGES	int offset, blob bytes			(export)
 * MATCH	int extra (sidecar), int extra (main), int compared,
 *		int equal, int distinctive		(bind; a main with
 *		itself: has a header, is in WAL mode, 0)
 * END		int frames before this one, int enum wire_verdict
 */
#ifndef REPLY_WIRE_H
#define REPLY_WIRE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/cell.h"
#include "base/fault.h"

#define WIRE_PROTOCOL 2
#define WIRE_HEAD_BYTES 8
/* One frame: SQLite's largest cell here (WIRE_CELL_MAX) and some words. */
#define WIRE_CELL_MAX (512u << 20)
#define WIRE_FRAME_MAX (WIRE_CELL_MAX + (64u << 20))

enum wire_type {
	WIRE_HELLO = 1,
	WIRE_FAULT,
	WIRE_SKIP,
	WIRE_FACT,
	WIRE_SETTING,
	WIRE_OBJECT,
	WIRE_TABLE,
	WIRE_ROW,
	WIRE_TABLE_END,
	WIRE_TABLE_SUM,
	WIRE_COLUMNS,
	WIRE_RESULT,
	WIRE_PAGES,
	WIRE_MATCH,
	WIRE_END,
	WIRE_TYPES
};

/* The fact "integrity" where SQLite could not check all: SKIP frames say
   what not. */
#define WIRE_OK_PARTLY "ok where checked"

enum wire_change {
	WIRE_ADDED = 1,
	WIRE_REMOVED,
	WIRE_CHANGED,
};

enum wire_key {
	WIRE_KEY_DECLARED = 1,	/* the declared PRIMARY KEY */
	WIRE_KEY_ROWID,
	WIRE_KEY_NONE,		/* multiset */
};

/* Columns of sqlite_schema that an object is stored in. */
#define WIRE_STORED 4

enum wire_verdict {
	WIRE_YES,		/* equal; sound */
	WIRE_NO,		/* different; a check failed */
};

/*
 * The writing end: frames collect in a buffer and go out in stretches.
 * Lifecycle: wire_init, {wire_begin, cell_put… into w->buf, wire_end}…,
 * wire_flush, wire_free.
 */
struct wire {
	int fd;			/* borrowed */
	struct buf buf;
	size_t frame_at;	/* where the open frame starts */
	uint64_t frames;	/* closed so far */
	uint64_t bytes;		/* written so far */
	uint64_t limit;		/* of bytes: FAULT_CAP past it */
};

void
wire_init(struct wire *w, int fd, uint64_t limit);
void
wire_free(struct wire *w);
int
wire_begin(struct wire *w, enum wire_type type, struct fault *f);
int
wire_end(struct wire *w, struct fault *f);
int
wire_flush(struct wire *w, struct fault *f);

/* Whole frames of the plain kinds. */
int
wire_fault(struct wire *w, const struct fault *what, struct fault *f);
int
wire_skip(struct wire *w, const char *what, const char *why, struct fault *f);
int
wire_fact_int(struct wire *w, int side, const char *key, int64_t v,
	      struct fault *f);
int
wire_fact_text(struct wire *w, int side, const char *key, const char *v,
	       struct fault *f);
/* END and a flush. */
int
wire_finish(struct wire *w, enum wire_verdict v, struct fault *f);

/* The reading end: one frame, its payload borrowed until the next read. */
struct wire_frame {
	enum wire_type type;
	const unsigned char *at;	/* next cell */
	const unsigned char *end;
};

/* Cells of a frame, one at a time; FAULT_SANDBOX where the kind is off. */
int
wire_get(struct wire_frame *fr, struct cell *c, struct fault *f);
int
wire_get_int(struct wire_frame *fr, int64_t *v, struct fault *f);
/* Text, copied and NUL-terminated; text that holds a NUL is a fault. */
int
wire_get_text(struct wire_frame *fr, char **text, struct fault *f);
/* The frame has no cell left, or FAULT_SANDBOX. */
int
wire_get_done(const struct wire_frame *fr, struct fault *f);

/*
 * Reads from a pipe into a buffer of its own. 0 and *fr; 1 at the end of
 * the stream; FAULT_SANDBOX where the bytes are no frame, FAULT_CAP past the
 * limit or the deadline, FAULT_INTERRUPTED where interrupted (NULL: nothing)
 * says so while there is nothing to read.
 */
struct wire_reader {
	int fd;			/* borrowed */
	struct buf buf;
	size_t taken;		/* bytes of buf that were given out */
	uint64_t frames;
	uint64_t bytes;
	uint64_t limit;
	uint64_t deadline_ns;	/* of clock_mono_ns; 0: none */
	int (*interrupted)(void);
};

void
wire_reader_init(struct wire_reader *r, int fd, uint64_t limit);
void
wire_reader_free(struct wire_reader *r);
int
wire_read(struct wire_reader *r, struct wire_frame *fr, struct fault *f);

#endif
