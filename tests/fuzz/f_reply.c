/*
 * f_reply.c - reply frames as the front end reads them
 *
 * Build: clang -fsanitize=fuzzer,address,undefined with base/ and reply/.
 * The input is what a helper in hostile hands writes. Each frame is read,
 * then taken apart in the ways of the front end: as words of the promised
 * kinds, and as cells to the end. Every cell that decodes must encode to the
 * bytes that it came from.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own.h"
#include "reply/wire.h"

#define REPLY_LIMIT (1u << 20)

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
S_cells(struct wire_frame fr)
{
	struct buf again = BUF_INIT(2 * REPLY_LIMIT);
	const unsigned char *start = fr.at;
	struct fault f = FAULT_INIT;
	struct cell c;

	while (fr.at < fr.end && wire_get(&fr, &c, &f) == 0) {
		size_t n = (size_t)(fr.at - start);

		buf_reset(&again);
		MUST(cell_put(&again, &c, &f) == 0);
		MUST(again.len == n && !memcmp(again.data, start, n));
		start = fr.at;
	}
	/* A cell that is none leaves the place where it stood. */
	MUST(fr.at == start);
	buf_free(&again);
}

static void
S_words(struct wire_frame fr)
{
	struct fault f = FAULT_INIT;
	int64_t n;
	OWN_MEM(char, text);
	OWN_MEM(char, more);

	if (wire_get_int(&fr, &n, &f) == 0 &&
	    wire_get_text(&fr, &text, &f) == 0 &&
	    wire_get_text(&fr, &more, &f) == 0)
		(void)wire_get_done(&fr, &f);
	MUST(!text || strlen(text) < REPLY_LIMIT);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fault f = FAULT_INIT;
	struct wire_frame fr;
	struct wire_reader r;
	uint64_t frames = 0;
	int rc;
	OWN_FD(fd);

	fd = memfd_create("reply", MFD_CLOEXEC);
	if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	wire_reader_init(&r, fd, REPLY_LIMIT);
	while ((rc = wire_read(&r, &fr, &f)) == 0) {
		frames++;
		S_cells(fr);
		S_words(fr);
	}
	MUST(rc == 1 || rc == -FAULT_SANDBOX || rc == -FAULT_CAP);
	MUST(r.frames == frames && r.bytes <= size);
	wire_reader_free(&r);
	return 0;
}
