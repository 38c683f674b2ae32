/*
 * t_stage.c - packet/stage.h: the two reads and the hashing
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "packet/stage.h"
#include "reply/ask.h"

#define LARGE (5u << 20)
#define SHIFT 4096u

static unsigned char bytes[LARGE];
static struct stage *stage;

static int
S_setup(uint64_t foreseen)
{
	struct fault f = FAULT_INIT;
	uint64_t x = 88172645463325252ull;

	for (size_t i = 0; i < LARGE; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bytes[i] = (unsigned char)x;
	}
	return stage_new(&stage, foreseen, &f);
}

static int
S_large(void **state)
{
	(void)state;
	return S_setup(LARGE);
}

/* What was foreseen small may turn out as large as anything. */
static int
S_small(void **state)
{
	(void)state;
	return S_setup(1);
}

static int
S_teardown(void **state)
{
	(void)state;
	stage_free(stage);
	return 0;
}

static int
S_file(size_t n)
{
	struct fault f = FAULT_INIT;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_pwrite_all(fd, bytes, n, 0, &f), 0);
	return fd;
}

static int
S_copy(int from, uint64_t n, int to, struct fault *f)
{
	return stage_copy(stage, from, n, to, SHIFT, 0, NULL, f);
}

static int
S_compare(int from, uint64_t n, int to, struct fault *f)
{
	return stage_compare(stage, from, n, to, SHIFT, 0, NULL, f);
}

static void
S_poke(int fd, uint64_t at)
{
	struct fault f = FAULT_INIT;
	unsigned char c = (unsigned char)~bytes[at];

	assert_int_equal(io_pwrite_all(fd, &c, 1, at, &f), 0);
}

static void
both_reads_agree_on_a_still_file(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 262143, 262144,
					262145, 1u << 20, (1u << 20) + 1,
					LARGE - 1, LARGE };
	unsigned char *back = malloc(LARGE);
	struct fault f = FAULT_INIT;

	(void)state;
	assert_non_null(back);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i], got;
		OWN_FD(from);
		OWN_FD(to);

		from = S_file(n);
		to = S_file(0);
		assert_int_equal(S_copy(from, n, to, &f), 0);
		assert_int_equal(S_compare(from, n, to, &f), 0);
		assert_int_equal(io_pread(to, back, LARGE, SHIFT, &got, &f),
				 0);
		assert_int_equal(got, n);
		assert_memory_equal(back, bytes, n);
	}
	free(back);
}

/* Differences at at and in every chunk behind it. */
static void
S_difference_is_named(uint64_t at)
{
	struct fault f = FAULT_INIT;
	char expect[64];
	OWN_FD(from);
	OWN_FD(to);

	from = S_file(LARGE);
	to = S_file(0);
	assert_int_equal(S_copy(from, LARGE, to, &f), 0);
	S_poke(from, at);
	for (uint64_t more = at + 1; more < LARGE; more += 200000)
		S_poke(from, more);
	(void)snprintf(expect, sizeof(expect),
		       "the second read differs at offset %llu",
		       (unsigned long long)at);
	/* Which lane meets it is chance. */
	for (int round = 0; round < 20; round++) {
		assert_int_equal(S_compare(from, LARGE, to, &f),
				 -FAULT_UNSTABLE);
		assert_string_equal(f.text, expect);
	}
}

static void
the_first_difference_is_named(void **state)
{
	(void)state;
	S_difference_is_named(0);
	S_difference_is_named(1);
	S_difference_is_named(4096);
	S_difference_is_named(262143);
	S_difference_is_named(262144);
	S_difference_is_named(1048577);
	S_difference_is_named(2097152);
	S_difference_is_named(LARGE - 1);
}

static void
a_file_that_ends_early_is_unstable(void **state)
{
	struct fault f = FAULT_INIT;
	OWN_FD(from);
	OWN_FD(to);

	(void)state;
	from = S_file(LARGE);
	to = S_file(0);
	assert_int_equal(S_copy(from, LARGE + 1, to, &f), -FAULT_UNSTABLE);
	assert_non_null(strstr(f.text, "ends at offset 5242880"));
	assert_int_equal(S_copy(from, LARGE, to, &f), 0);
	assert_int_equal(ftruncate(from, LARGE - 1), 0);
	assert_int_equal(S_compare(from, LARGE, to, &f), -FAULT_UNSTABLE);
}

static void
past_the_deadline_it_is_refused(void **state)
{
	struct fault f = FAULT_INIT;
	OWN_FD(from);
	OWN_FD(to);

	(void)state;
	from = S_file(LARGE);
	to = S_file(0);
	assert_int_equal(stage_copy(stage, from, LARGE, to, 0, 1, NULL, &f),
			 -FAULT_REFUSED);
	assert_non_null(strstr(f.text, "--max-pause"));
	assert_int_equal(S_copy(from, LARGE, to, &f), 0);
	assert_int_equal(stage_compare(stage, from, LARGE, to, SHIFT, 1, NULL,
				       &f), -FAULT_REFUSED);
	assert_int_equal(stage_compare(stage, from, LARGE, to, SHIFT,
				       clock_mono_ns() + 60000000000ull, NULL,
				       &f), 0);
}

static int polls_left;

static int
S_interrupted(void)
{
	return polls_left-- <= 0;
}

static void
an_interrupt_ends_every_pass(void **state)
{
	struct stage_blocks blocks = { .fd = -1 };
	unsigned char sum[DIGEST_BYTES];
	struct fault f = FAULT_INIT;
	OWN_FD(from);
	OWN_FD(to);

	(void)state;
	from = S_file(LARGE);
	to = S_file(0);
	polls_left = 0;
	assert_int_equal(stage_copy(stage, from, LARGE, to, 0, 0,
				    S_interrupted, &f), -FAULT_INTERRUPTED);
	/* Amid a file too small for the second lane. */
	polls_left = 3;
	assert_int_equal(stage_copy(stage, from, 1000000, to, 0, 0,
				    S_interrupted, &f), -FAULT_INTERRUPTED);
	assert_int_equal(S_copy(from, LARGE, to, &f), 0);
	polls_left = 0;
	assert_int_equal(stage_compare(stage, from, LARGE, to, SHIFT, 0,
				       S_interrupted, &f),
			 -FAULT_INTERRUPTED);
	polls_left = 3;
	assert_int_equal(stage_compare(stage, from, 1000000, to, SHIFT, 0,
				       S_interrupted, &f),
			 -FAULT_INTERRUPTED);
	polls_left = 0;
	assert_int_equal(stage_hash(stage, from, 0, LARGE, &blocks,
				    S_interrupted, NULL, NULL, sum, &f),
			 -FAULT_INTERRUPTED);
	polls_left = 0;
	assert_int_equal(stage_prepare(stage, to, 0, LARGE, S_interrupted,
				       &f), -FAULT_INTERRUPTED);
}

static uint64_t last_progress;

static void
S_progress(void *arg, uint64_t done)
{
	assert_ptr_equal(arg, &last_progress);
	assert_true(done > last_progress);
	last_progress = done;
}

/* Against digests of the same bytes taken in one piece each. */
static void
S_check_hash(size_t n)
{
	struct stage_blocks blocks = { .offset = 64 };
	unsigned char sum[DIGEST_BYTES], expect[DIGEST_BYTES];
	unsigned char list[DIGEST_BYTES * (LARGE / BLOCK_BYTES)];
	size_t count = (n + BLOCK_BYTES - 1) / BLOCK_BYTES, got;
	struct fault f = FAULT_INIT;
	OWN_FD(fd);
	OWN_FD(out);

	fd = S_file(n);
	out = S_file(0);
	blocks.fd = out;
	assert_int_equal(digest_new(&blocks.digest, &f), 0);
	last_progress = 0;
	assert_int_equal(stage_hash(stage, fd, 0, n, &blocks, NULL, S_progress,
				    &last_progress, sum, &f), 0);
	assert_int_equal(last_progress, n);
	digest_of(bytes, n, expect);
	assert_memory_equal(sum, expect, DIGEST_BYTES);
	assert_int_equal(blocks.offset, 64 + count * DIGEST_BYTES);
	assert_int_equal(io_pread(out, list, sizeof(list), 64, &got, &f), 0);
	assert_int_equal(got, count * DIGEST_BYTES);
	for (size_t i = 0; i < count; i++) {
		size_t at = i * BLOCK_BYTES, left = n - at;

		digest_of(bytes + at, left < BLOCK_BYTES ? left : BLOCK_BYTES,
			  expect);
		assert_memory_equal(list + i * DIGEST_BYTES, expect,
				    DIGEST_BYTES);
	}
	digest_final(blocks.digest, sum);
	digest_of(list, got, expect);
	assert_memory_equal(sum, expect, DIGEST_BYTES);
	digest_free(blocks.digest);
}

static void
hashes_are_those_of_the_bytes(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 262144, 262145,
					LARGE - 1, LARGE };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		S_check_hash(sizes[i]);
}

static void
room_that_is_not_there_is_trouble(void **state)
{
	const struct rlimit little = { 1u << 20, RLIM_INFINITY };
	struct fault f = FAULT_INIT;
	struct rlimit before;
	OWN_FD(from);
	OWN_FD(to);

	(void)state;
	from = S_file(LARGE);
	to = S_file(0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	assert_int_equal(stage_prepare(stage, to, 0, LARGE, NULL, &f),
			 -FAULT_TROUBLE);
	assert_int_equal(S_copy(from, LARGE, to, &f), -FAULT_TROUBLE);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(stage_prepare(stage, to, 0, LARGE, NULL, &f), 0);
	assert_int_equal(S_copy(from, LARGE, to, &f), 0);
	assert_int_equal(S_compare(from, LARGE, to, &f), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_reads_agree_on_a_still_file),
		cmocka_unit_test(the_first_difference_is_named),
		cmocka_unit_test(a_file_that_ends_early_is_unstable),
		cmocka_unit_test(past_the_deadline_it_is_refused),
		cmocka_unit_test(an_interrupt_ends_every_pass),
		cmocka_unit_test(hashes_are_those_of_the_bytes),
		cmocka_unit_test(room_that_is_not_there_is_trouble),
	};

	return cmocka_run_group_tests_name("large", tests, S_large,
					   S_teardown) +
	       cmocka_run_group_tests_name("small", tests, S_small,
					   S_teardown);
}
