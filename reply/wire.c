/*
 * wire.c - the frames in which the recover helper answers
 */
#include "reply/wire.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/io.h"

#define WIRE_FLUSH_AT (256u << 10)
#define WIRE_READ_STEP (256u << 10)
#define WIRE_LOOK_MS 20		/* between two looks for an interruption */

void
wire_init(struct wire *w, int fd, uint64_t limit)
{
	*w = (struct wire){ .fd = fd, .limit = limit };
	buf_init(&w->buf, WIRE_FRAME_MAX + WIRE_FLUSH_AT);
}

void
wire_free(struct wire *w)
{
	buf_free(&w->buf);
}

int
wire_begin(struct wire *w, enum wire_type type, struct fault *f)
{
	unsigned char head[WIRE_HEAD_BYTES] = { 0 };

	w->frame_at = w->buf.len;
	head[4] = (unsigned char)type;
	return buf_append(&w->buf, head, sizeof(head), f);
}

int
wire_end(struct wire *w, struct fault *f)
{
	size_t payload = w->buf.len - w->frame_at - WIRE_HEAD_BYTES;

	if (payload > WIRE_FRAME_MAX)
		return fault_set(f, FAULT_CAP,
				 "one row is larger than a reply frame may be"
				 " (%u MiB)", WIRE_FRAME_MAX >> 20);
	bytes_put_le32(w->buf.data + w->frame_at, (uint32_t)payload);
	w->frames++;
	return w->buf.len >= WIRE_FLUSH_AT ? wire_flush(w, f) : 0;
}

static int
S_past(uint64_t limit, struct fault *f)
{
	(void)fault_set(f, FAULT_CAP, "the answer passes the output limit of"
			" %llu MiB", (unsigned long long)(limit >> 20));
	return fault_hint(f, "--output-limit MIB allows more");
}

int
wire_flush(struct wire *w, struct fault *f)
{
	int rc;

	if (w->bytes + w->buf.len > w->limit)
		return S_past(w->limit, f);
	rc = io_write_all(w->fd, w->buf.data, w->buf.len, f);
	if (rc == 0) {
		w->bytes += w->buf.len;
		buf_reset(&w->buf);
	}
	return rc;
}

int
wire_fault(struct wire *w, const struct fault *what, struct fault *f)
{
	int rc = wire_begin(w, WIRE_FAULT, f);

	if (!rc)
		rc = cell_put_int(&w->buf, what->code, f);
	if (!rc)
		rc = cell_put_utf8(&w->buf, what->text, strlen(what->text), f);
	if (!rc)
		rc = cell_put_utf8(&w->buf, what->hint, strlen(what->hint), f);
	if (!rc)
		rc = wire_end(w, f);
	return rc;
}

int
wire_skip(struct wire *w, const char *what, const char *why, struct fault *f)
{
	int rc = wire_begin(w, WIRE_SKIP, f);

	if (!rc)
		rc = cell_put_utf8(&w->buf, what, strlen(what), f);
	if (!rc)
		rc = cell_put_utf8(&w->buf, why, strlen(why), f);
	if (!rc)
		rc = wire_end(w, f);
	return rc;
}

static int
S_fact_head(struct wire *w, int side, const char *key, struct fault *f)
{
	int rc = wire_begin(w, WIRE_FACT, f);

	if (!rc)
		rc = cell_put_int(&w->buf, side, f);
	if (!rc)
		rc = cell_put_text(&w->buf, key, f);
	return rc;
}

int
wire_fact_int(struct wire *w, int side, const char *key, int64_t v,
	      struct fault *f)
{
	int rc = S_fact_head(w, side, key, f);

	if (!rc)
		rc = cell_put_int(&w->buf, v, f);
	if (!rc)
		rc = wire_end(w, f);
	return rc;
}

int
wire_fact_text(struct wire *w, int side, const char *key, const char *v,
	       struct fault *f)
{
	int rc = S_fact_head(w, side, key, f);

	if (!rc)
		rc = cell_put_utf8(&w->buf, v, strlen(v), f);
	if (!rc)
		rc = wire_end(w, f);
	return rc;
}

int
wire_finish(struct wire *w, enum wire_verdict v, struct fault *f)
{
	int64_t before = (int64_t)w->frames;
	int rc = wire_begin(w, WIRE_END, f);

	if (!rc)
		rc = cell_put_int(&w->buf, before, f);
	if (!rc)
		rc = cell_put_int(&w->buf, v, f);
	if (!rc)
		rc = wire_end(w, f);
	if (!rc)
		rc = wire_flush(w, f);
	return rc;
}

static int
S_malformed(struct fault *f, const char *what)
{
	return fault_set(f, FAULT_SANDBOX,
			 "the helper's answer is malformed: %s", what);
}

int
wire_get(struct wire_frame *fr, struct cell *c, struct fault *f)
{
	struct fault why = FAULT_INIT;

	if (cell_get(&fr->at, fr->end, c, &why))
		return S_malformed(f, why.text);
	return 0;
}

int
wire_get_int(struct wire_frame *fr, int64_t *v, struct fault *f)
{
	struct cell c;
	int rc = wire_get(fr, &c, f);

	if (rc)
		return rc;
	if (c.tag != CELL_INT)
		return S_malformed(f, "no integer where one belongs");
	*v = c.integer;
	return 0;
}

int
wire_get_text(struct wire_frame *fr, char **text, struct fault *f)
{
	struct cell c;
	char *copy;
	int rc = wire_get(fr, &c, f);

	if (rc)
		return rc;
	if ((c.tag != CELL_TEXT && c.tag != CELL_TEXT8) ||
	    memchr(c.bytes, '\0', c.len))
		return S_malformed(f, "no text where some belongs");
	copy = malloc(c.len + 1);
	if (!copy)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	memcpy(copy, c.bytes, c.len);
	copy[c.len] = '\0';
	*text = copy;
	return 0;
}

int
wire_get_done(const struct wire_frame *fr, struct fault *f)
{
	return fr->at == fr->end ? 0 : S_malformed(f, "cells left over");
}

void
wire_reader_init(struct wire_reader *r, int fd, uint64_t limit)
{
	*r = (struct wire_reader){ .fd = fd, .limit = limit };
	buf_init(&r->buf, WIRE_FRAME_MAX + WIRE_HEAD_BYTES + WIRE_READ_STEP);
}

void
wire_reader_free(struct wire_reader *r)
{
	buf_free(&r->buf);
}

/* 0 when there is something to read, or its end. */
static int
S_wait(const struct wire_reader *r, struct fault *f)
{
	struct pollfd p = { .fd = r->fd, .events = POLLIN };
	int n, most = r->interrupted ? WIRE_LOOK_MS : INT_MAX;

	do {
		/* Rounded up: at its end the deadline has passed. */
		uint64_t left = r->deadline_ns ?
				(clock_left_ns(r->deadline_ns) + 999999) /
				1000000 : UINT64_MAX;

		if (r->interrupted && r->interrupted())
			return fault_set(f, FAULT_INTERRUPTED, "interrupted");
		if (left == 0)
			return fault_set(f, FAULT_CAP, "the helper did not "
					 "answer in time");
		n = poll(&p, 1, left < (uint64_t)most ? (int)left : most);
	} while (n == 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "wait for the helper's answer");
	return 0;
}

/* At least need untaken bytes in the buffer: 0, or 1 at a clean end. */
static int
S_fill(struct wire_reader *r, size_t need, struct fault *f)
{
	unsigned char *at;
	ssize_t got;
	int rc;

	if (r->taken > 0 && r->buf.len - r->taken < need) {
		memmove(r->buf.data, r->buf.data + r->taken,
			r->buf.len - r->taken);
		r->buf.len -= r->taken;
		r->taken = 0;
	}
	while (r->buf.len - r->taken < need) {
		rc = S_wait(r, f);
		if (!rc)
			rc = buf_extend(&r->buf, WIRE_READ_STEP, &at, f);
		if (rc)
			return rc;
		do
			got = read(r->fd, at, WIRE_READ_STEP);
		while (got < 0 && errno == EINTR);
		r->buf.len -= WIRE_READ_STEP - (size_t)(got > 0 ? got : 0);
		if (got < 0)
			return fault_sys(f, FAULT_TROUBLE, errno,
					 "read the helper's answer");
		if (got == 0)
			return r->buf.len == r->taken ? 1 :
			       S_malformed(f, "it ends inside a frame");
		r->bytes += (uint64_t)got;
		if (r->bytes > r->limit)
			return S_past(r->limit, f);
	}
	return 0;
}

int
wire_read(struct wire_reader *r, struct wire_frame *fr, struct fault *f)
{
	const unsigned char *head;
	size_t payload;
	int rc = S_fill(r, WIRE_HEAD_BYTES, f);

	if (rc)
		return rc;
	head = r->buf.data + r->taken;
	payload = bytes_le32(head);
	if (payload > WIRE_FRAME_MAX || head[4] == 0 ||
	    head[4] >= WIRE_TYPES || head[5] || head[6] || head[7])
		return S_malformed(f, "no frame starts so");
	rc = S_fill(r, WIRE_HEAD_BYTES + payload, f);
	if (rc == 1)
		return S_malformed(f, "it ends inside a frame");
	if (rc)
		return rc;
	head = r->buf.data + r->taken;
	fr->type = (enum wire_type)head[4];
	fr->at = head + WIRE_HEAD_BYTES;
	fr->end = fr->at + payload;
	r->taken += WIRE_HEAD_BYTES + payload;
	r->frames++;
	return 0;
}
