/*
 * t_wire.c - reply frames, written and read
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "base/worker.h"
#include "reply/wire.h"

struct ends {
	int fd[2];
	struct wire w;
	struct wire_reader r;
	struct fault f;
};

static void
S_open(struct ends *e)
{
	*e = (struct ends){ .f = FAULT_INIT };
	assert_int_equal(pipe2(e->fd, O_CLOEXEC), 0);
	wire_init(&e->w, e->fd[1], UINT64_MAX);
	wire_reader_init(&e->r, e->fd[0], UINT64_MAX);
}

static void
S_close(struct ends *e)
{
	wire_free(&e->w);
	wire_reader_free(&e->r);
	(void)close(e->fd[0]);
	if (e->fd[1] >= 0)
		(void)close(e->fd[1]);
}

/* Raw bytes, then the end of the stream. */
static void
S_raw(struct ends *e, const void *bytes, size_t n)
{
	S_open(e);
	assert_int_equal(io_write_all(e->fd[1], bytes, n, &e->f), 0);
	(void)close(e->fd[1]);
	e->fd[1] = -1;
}

static void
frames_arrive_as_they_were_sent(void **state)
{
	const struct fault why = { .code = FAULT_DAMAGED, .text = "torn",
				   .hint = "again" };
	struct wire_frame fr;
	struct ends e;
	struct cell c;
	int64_t n;
	OWN_MEM(char, key);
	OWN_MEM(char, value);
	OWN_MEM(char, text);
	OWN_MEM(char, hint);

	(void)state;
	S_open(&e);
	assert_int_equal(wire_fact_int(&e.w, 1, "rows", -7, &e.f), 0);
	assert_int_equal(wire_fact_text(&e.w, 0, "view", "live", &e.f), 0);
	assert_int_equal(wire_fault(&e.w, &why, &e.f), 0);
	assert_int_equal(wire_finish(&e.w, WIRE_NO, &e.f), 0);

	assert_int_equal(wire_read(&e.r, &fr, &e.f), 0);
	assert_int_equal(fr.type, WIRE_FACT);
	assert_int_equal(wire_get_int(&fr, &n, &e.f), 0);
	assert_int_equal(n, 1);
	assert_int_equal(wire_get_text(&fr, &key, &e.f), 0);
	assert_string_equal(key, "rows");
	assert_int_equal(wire_get_done(&fr, &e.f), -FAULT_SANDBOX);
	assert_int_equal(wire_get(&fr, &c, &e.f), 0);
	assert_int_equal(c.integer, -7);
	assert_int_equal(wire_get_done(&fr, &e.f), 0);
	assert_int_equal(wire_get(&fr, &c, &e.f), -FAULT_SANDBOX);

	assert_int_equal(wire_read(&e.r, &fr, &e.f), 0);
	assert_int_equal(wire_get_int(&fr, &n, &e.f), 0);
	assert_int_equal(wire_get_int(&fr, &n, &e.f), -FAULT_SANDBOX);
	assert_int_equal(wire_get_text(&fr, &value, &e.f), 0);
	assert_string_equal(value, "live");

	assert_int_equal(wire_read(&e.r, &fr, &e.f), 0);
	assert_int_equal(fr.type, WIRE_FAULT);
	assert_int_equal(wire_get_int(&fr, &n, &e.f), 0);
	assert_int_equal(n, FAULT_DAMAGED);
	assert_int_equal(wire_get_text(&fr, &text, &e.f), 0);
	assert_string_equal(text, "torn");
	assert_int_equal(wire_get_text(&fr, &hint, &e.f), 0);
	assert_string_equal(hint, "again");

	assert_int_equal(wire_read(&e.r, &fr, &e.f), 0);
	assert_int_equal(fr.type, WIRE_END);
	assert_int_equal(wire_get_int(&fr, &n, &e.f), 0);
	assert_int_equal(n, 3);
	assert_int_equal(wire_get_int(&fr, &n, &e.f), 0);
	assert_int_equal(n, WIRE_NO);
	(void)close(e.fd[1]);
	e.fd[1] = -1;
	assert_int_equal(wire_read(&e.r, &fr, &e.f), 1);
	S_close(&e);
}

#define LARGE (5u << 20)	/* far more than a pipe or the buffer holds */

static void
S_send_large(void *arg)
{
	struct ends *e = arg;
	unsigned char *bytes = malloc(LARGE);

	if (!bytes)
		return;
	for (size_t i = 0; i < LARGE; i++)
		bytes[i] = (unsigned char)(i * 31 >> 3);
	for (int i = 0; i < 3; i++)
		if (wire_begin(&e->w, WIRE_PAGES, &e->f) ||
		    cell_put_int(&e->w.buf, i, &e->f) ||
		    cell_put_blob(&e->w.buf, bytes, LARGE, &e->f) ||
		    wire_end(&e->w, &e->f))
			break;
	(void)wire_finish(&e->w, WIRE_YES, &e->f);
	free(bytes);
}

static void
frames_larger_than_a_pipe_arrive_whole(void **state)
{
	struct fault f = FAULT_INIT;
	struct wire_frame fr;
	struct worker *w;
	struct ends e;
	struct cell c;
	int64_t n;

	(void)state;
	S_open(&e);
	assert_int_equal(worker_start(&w, &f), 0);
	worker_run(w, S_send_large, &e);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(wire_read(&e.r, &fr, &f), 0);
		assert_int_equal(wire_get_int(&fr, &n, &f), 0);
		assert_int_equal(n, i);
		assert_int_equal(wire_get(&fr, &c, &f), 0);
		assert_int_equal(c.len, LARGE);
		for (size_t k = 0; k < LARGE; k++)
			if (c.bytes[k] != (unsigned char)(k * 31 >> 3))
				fail_msg("byte %zu of frame %d", k, i);
	}
	assert_int_equal(wire_read(&e.r, &fr, &f), 0);
	assert_int_equal(fr.type, WIRE_END);
	worker_free(w);
	S_close(&e);
}

static const struct {
	const char *what, *bytes;
	size_t n;
} malformed[] = {
#define BAD(what, s) { what, s, sizeof(s) - 1 }
	BAD("half a head", "\0\0\0\0"),
	BAD("type 0", "\0\0\0\0\0\0\0\0"),
	BAD("a type past the last", "\0\0\0\0\x10\0\0\0"),
	BAD("type 255", "\0\0\0\0\xff\0\0\0"),
	BAD("a filled byte that must be zero", "\0\0\0\0\4\0\0\1"),
	BAD("a payload over the cap", "\xff\xff\xff\xff\4\0\0\0"),
	BAD("a payload cut short", "\5\0\0\0\4\0\0\0nnnn"),
	BAD("no payload at all", "\5\0\0\0\4\0\0\0"),
};

static void
bytes_that_are_no_frame_break_the_sandboxs_word(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		struct wire_frame fr;
		struct ends e;
		int rc;

		S_raw(&e, malformed[i].bytes, malformed[i].n);
		rc = wire_read(&e.r, &fr, &e.f);
		if (rc != -FAULT_SANDBOX)
			fail_msg("%s: %d", malformed[i].what, rc);
		S_close(&e);
	}
}

static void
text_with_a_nul_is_refused_where_a_name_belongs(void **state)
{
	struct wire_frame fr;
	struct ends e;
	char *text = NULL;

	(void)state;
	S_open(&e);
	assert_int_equal(wire_begin(&e.w, WIRE_COLUMNS, &e.f), 0);
	assert_int_equal(cell_put_utf8(&e.w.buf, "a\0b", 3, &e.f), 0);
	assert_int_equal(cell_put_blob(&e.w.buf, "a", 1, &e.f), 0);
	assert_int_equal(wire_end(&e.w, &e.f), 0);
	assert_int_equal(wire_flush(&e.w, &e.f), 0);
	assert_int_equal(wire_read(&e.r, &fr, &e.f), 0);
	assert_int_equal(wire_get_text(&fr, &text, &e.f), -FAULT_SANDBOX);
	assert_int_equal(wire_get_text(&fr, &text, &e.f), -FAULT_SANDBOX);
	assert_null(text);
	S_close(&e);
}

static void
both_ends_keep_the_output_limit(void **state)
{
	struct wire_frame fr;
	struct ends e;

	(void)state;
	S_open(&e);
	e.w.limit = 100;
	assert_int_equal(wire_fact_text(&e.w, 0, "key", "0123456789", &e.f),
			 0);
	assert_int_equal(wire_flush(&e.w, &e.f), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(wire_fact_text(&e.w, 0, "key", "0123456789",
						&e.f), 0);
	assert_int_equal(wire_flush(&e.w, &e.f), -FAULT_CAP);
	assert_non_null(strstr(e.f.text, "output limit"));
	e.r.limit = 10;
	assert_int_equal(wire_read(&e.r, &fr, &e.f), -FAULT_CAP);
	S_close(&e);
}

static void
a_reader_does_not_wait_past_its_deadline(void **state)
{
	struct wire_frame fr;
	struct ends e;
	uint64_t start;

	(void)state;
	S_open(&e);
	assert_int_equal(io_write_all(e.fd[1], "\5\0\0\0\4\0\0\0n", 9, &e.f),
			 0);
	start = clock_mono_ns();
	e.r.deadline_ns = start + CLOCK_NS_PER_SEC / 20;
	assert_int_equal(wire_read(&e.r, &fr, &e.f), -FAULT_CAP);
	assert_true(clock_mono_ns() - start < 5 * CLOCK_NS_PER_SEC);
	S_close(&e);
}

static int
S_signalled(void)
{
	return 2;
}

static void
a_reader_that_is_interrupted_waits_no_longer(void **state)
{
	struct wire_frame fr;
	struct ends e;

	(void)state;
	S_open(&e);
	e.r.interrupted = S_signalled;
	e.r.deadline_ns = clock_mono_ns() + CLOCK_NS_PER_SEC;
	assert_int_equal(wire_read(&e.r, &fr, &e.f), -FAULT_INTERRUPTED);
	S_close(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_arrive_as_they_were_sent),
		cmocka_unit_test(frames_larger_than_a_pipe_arrive_whole),
		cmocka_unit_test(
			bytes_that_are_no_frame_break_the_sandboxs_word),
		cmocka_unit_test(
			text_with_a_nul_is_refused_where_a_name_belongs),
		cmocka_unit_test(both_ends_keep_the_output_limit),
		cmocka_unit_test(a_reader_does_not_wait_past_its_deadline),
		cmocka_unit_test(a_reader_that_is_interrupted_waits_no_longer),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
