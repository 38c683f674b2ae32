/*
 * buf.c - a growable byte buffer with a cap
 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/own.h"

#define BUF_FIRST_ROOM 256u

void
buf_init(struct buf *b, size_t cap)
{
	*b = (struct buf)BUF_INIT(cap);
}

void
buf_free(struct buf *b)
{
	free(b->data);
	buf_init(b, b->cap);
}

void
buf_reset(struct buf *b)
{
	b->len = 0;
}

static int
S_reserve(struct buf *b, size_t n, struct fault *f)
{
	size_t room = b->room ? b->room : BUF_FIRST_ROOM;
	unsigned char *data;

	if (n > b->cap || b->len > b->cap - n)
		return fault_set(f, FAULT_CAP,
				 "a buffer would pass its cap of %zu bytes",
				 b->cap);
	while (room < b->len + n)
		room = room > b->cap / 2 ? b->cap : room * 2;
	if (room <= b->room)
		return 0;
	data = realloc(b->data, room);
	if (!data)
		return fault_set(f, FAULT_TROUBLE,
				 "out of memory: %zu bytes", room);
	b->data = data;
	b->room = room;
	return 0;
}

int
buf_extend(struct buf *b, size_t n, unsigned char **at, struct fault *f)
{
	int rc = S_reserve(b, n, f);

	if (rc)
		return rc;
	*at = b->data + b->len;
	b->len += n;
	return 0;
}

int
buf_append(struct buf *b, const void *bytes, size_t n, struct fault *f)
{
	unsigned char *at;
	int rc;

	if (n == 0)
		return 0;
	rc = buf_extend(b, n, &at, f);
	if (rc == 0)
		memcpy(at, bytes, n);
	return rc;
}

int
buf_u8(struct buf *b, uint8_t v, struct fault *f)
{
	return buf_append(b, &v, 1, f);
}

int
buf_u64(struct buf *b, uint64_t v, struct fault *f)
{
	unsigned char raw[8];

	bytes_put_le64(raw, v);
	return buf_append(b, raw, sizeof(raw), f);
}

int
buf_printf(struct buf *b, struct fault *f, const char *fmt, ...)
{
	OWN_MEM(char, text);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		text = NULL;
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	}
	return buf_append(b, text, (size_t)n, f);
}
