/*
 * buf.h - a growable byte buffer with a cap
 *
 * Lifecycle: buf_init, then append, then buf_free. After a failure the
 * bytes that were there before the call are still there.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct buf {
	unsigned char *data;	/* owned; may be NULL while len is 0 */
	size_t len;		/* bytes in use */
	size_t room;		/* bytes allocated */
	size_t cap;		/* room never grows past this */
};

#define BUF_INIT(max) { .data = NULL, .len = 0, .room = 0, .cap = (max) }

void
buf_init(struct buf *b, size_t cap);

void
buf_free(struct buf *b);

/* len becomes 0; the memory is kept for the next use. */
void
buf_reset(struct buf *b);

/* FAULT_CAP past the cap, FAULT_TROUBLE out of memory. */
int
buf_append(struct buf *b, const void *bytes, size_t n, struct fault *f);

/* Room for n more bytes at the end; *at (borrowed) points to it, len grows. */
int
buf_extend(struct buf *b, size_t n, unsigned char **at, struct fault *f);

int
buf_u8(struct buf *b, uint8_t v, struct fault *f);
/* Little endian. */
int
buf_u64(struct buf *b, uint64_t v, struct fault *f);

int
buf_printf(struct buf *b, struct fault *f, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
