/*
 * t_images.c - no byte is given out that was not checked
 */
#include "recover/images.h"

#include "tests/unit/recover_data.h"

#define BYTES (5 * BLOCK_BYTES + 1000)

struct fixture {
	const char *path;
	unsigned char bytes[BYTES];
	struct ask_side side;
	struct images *im;
	struct images_reader *r;
	struct fault f;
};

static void
S_open(struct fixture *x, bool blocks)
{
	memset(x, 0, sizeof(*x));
	x->path = data_path();
	for (size_t i = 0; i < BYTES; i++)
		x->bytes[i] = (unsigned char)(i * 2654435761u >> 13);
	data_spit(x->path, "", x->bytes, BYTES);
	data_spit(x->path, "-wal", x->bytes, 100);
	data_side(x->path, &x->side);
	if (blocks)
		data_blocks(&x->side);
}

static void
S_start(struct fixture *x)
{
	assert_int_equal(images_open(&x->im, &x->side, &x->f), 0);
	assert_int_equal(images_reader_new(&x->r, x->im, &x->f), 0);
}

static void
S_close(struct fixture *x)
{
	images_reader_free(x->r);
	images_free(x->im);
	data_close(&x->side);
}

static void
S_flip(struct fixture *x, const char *suffix, size_t at)
{
	char name[256];
	unsigned char byte = x->bytes[at] ^ 1;
	int fd;

	(void)snprintf(name, sizeof(name), "%s%s", x->path, suffix);
	fd = open(name, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	(void)close(fd);
}

static void
any_range_reads_as_it_was_written(void **state)
{
	unsigned char got[BYTES];

	(void)state;
	for (int blocks = 0; blocks < 2; blocks++) {
		struct fixture x;
		unsigned seed = 7;

		S_open(&x, blocks);
		S_start(&x);
		for (int i = 0; i < 2000; i++) {
			size_t at = (size_t)rand_r(&seed) % (BYTES + 1);
			size_t n = (size_t)rand_r(&seed) % (BYTES - at + 1);

			if (i % 2)
				n = n % 600;
			assert_int_equal(images_read(x.r, ROLE_MAIN, at, got,
						     n, &x.f), 0);
			assert_memory_equal(got, x.bytes + at, n);
		}
		assert_int_equal(images_size(x.im, ROLE_MAIN), BYTES);
		assert_false(images_has(x.im, ROLE_JOURNAL));
		assert_int_equal(images_size(x.im, ROLE_JOURNAL), 0);
		assert_int_equal(images_finish(x.im, &x.f), 0);
		S_close(&x);
	}
}

static void
a_flipped_byte_names_its_member_and_block(void **state)
{
	unsigned char got[BYTES];
	struct fixture x;

	(void)state;
	S_open(&x, true);
	S_flip(&x, "", 3 * BLOCK_BYTES + 17);
	S_start(&x);
	assert_int_equal(images_read(x.r, ROLE_MAIN, 0, got, 3 * BLOCK_BYTES,
				     &x.f), 0);
	assert_int_equal(images_read(x.r, ROLE_MAIN, 3 * BLOCK_BYTES, got, 1,
				     &x.f), -FAULT_DAMAGED);
	assert_string_equal(x.f.text,
			    "main block 3 (offset 12288): digest differs");
	/* It is kept for who gets no more than an I/O error. */
	memset(&x.f, 0, sizeof(x.f));
	assert_int_equal(images_fault(x.im, &x.f), -FAULT_DAMAGED);
	assert_non_null(strstr(x.f.text, "main block 3"));
	S_close(&x);
}

static void
a_block_is_checked_again_when_it_is_read_again(void **state)
{
	unsigned char got[BLOCK_BYTES];
	struct fixture x;

	(void)state;
	S_open(&x, true);
	S_start(&x);
	assert_int_equal(images_read(x.r, ROLE_MAIN, 0, got, BLOCK_BYTES,
				     &x.f), 0);
	S_flip(&x, "", 5);
	assert_int_equal(images_read(x.r, ROLE_MAIN, 0, got, BLOCK_BYTES,
				     &x.f), -FAULT_DAMAGED);
	S_close(&x);
}

static void
the_end_finds_what_nobody_read(void **state)
{
	static const struct {
		const char *suffix, *says;
		size_t at;
	} flip[] = {
		{ "", "main block 5 (offset 20480)", BYTES - 1 },
		{ "", "main block 0 (offset 0)", 0 },
		{ "-wal", "wal block 0 (offset 0)", 99 },
	};
	unsigned char got[BLOCK_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(flip) / sizeof(flip[0]); i++) {
		struct fixture x;

		S_open(&x, true);
		S_flip(&x, flip[i].suffix, flip[i].at);
		S_start(&x);
		assert_int_equal(images_read(x.r, ROLE_MAIN, BLOCK_BYTES, got,
					     BLOCK_BYTES, &x.f), 0);
		assert_int_equal(images_finish(x.im, &x.f), -FAULT_DAMAGED);
		assert_non_null(strstr(x.f.text, flip[i].says));
		S_close(&x);
	}
}

static void
a_list_must_be_the_manifests(void **state)
{
	struct fixture x;

	(void)state;
	S_open(&x, true);
	x.side.blocks_sha256[31] ^= 1;
	assert_int_equal(images_open(&x.im, &x.side, &x.f), -FAULT_DAMAGED);
	assert_string_equal(x.f.text,
			    "blocks.sha256 differs from the manifest");
	S_close(&x);
}

static void
a_list_must_cover_each_member(void **state)
{
	struct fixture x;

	(void)state;
	S_open(&x, true);
	x.side.member[ROLE_WAL].first_block = x.side.blocks_count;
	assert_int_equal(images_open(&x.im, &x.side, &x.f), -FAULT_DAMAGED);
	x.side.member[ROLE_WAL].first_block = UINT64_MAX;
	assert_int_equal(images_open(&x.im, &x.side, &x.f), -FAULT_DAMAGED);
	x.side.member[ROLE_WAL].first_block = x.side.blocks_count - 1;
	x.side.member[ROLE_MAIN].size = 1ull << 62;
	assert_int_equal(images_open(&x.im, &x.side, &x.f), -FAULT_DAMAGED);
	S_close(&x);
}

static void
a_plain_file_that_became_shorter_is_unstable(void **state)
{
	unsigned char got[BYTES];
	struct fixture x;

	(void)state;
	S_open(&x, false);
	S_start(&x);
	assert_int_equal(truncate(x.path, BYTES - 1), 0);
	assert_int_equal(images_read(x.r, ROLE_MAIN, 0, got, BYTES, &x.f),
			 -FAULT_UNSTABLE);
	memset(&x.f, 0, sizeof(x.f));
	assert_int_equal(images_finish(x.im, &x.f), -FAULT_UNSTABLE);
	S_close(&x);
}

static void
a_member_may_lie_anywhere_in_its_file(void **state)
{
	unsigned char got[100];
	struct fixture x;

	(void)state;
	S_open(&x, false);
	x.side.member[ROLE_MAIN].offset = 777;
	x.side.member[ROLE_MAIN].size = 9000;
	data_blocks(&x.side);
	S_start(&x);
	assert_int_equal(images_read(x.r, ROLE_MAIN, 8900, got, 100, &x.f), 0);
	assert_memory_equal(got, x.bytes + 777 + 8900, 100);
	assert_int_equal(images_finish(x.im, &x.f), 0);
	S_close(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_range_reads_as_it_was_written),
		cmocka_unit_test(a_flipped_byte_names_its_member_and_block),
		cmocka_unit_test(
			a_block_is_checked_again_when_it_is_read_again),
		cmocka_unit_test(the_end_finds_what_nobody_read),
		cmocka_unit_test(a_list_must_be_the_manifests),
		cmocka_unit_test(a_list_must_cover_each_member),
		cmocka_unit_test(a_plain_file_that_became_shorter_is_unstable),
		cmocka_unit_test(a_member_may_lie_anywhere_in_its_file),
	};

	return cmocka_run_group_tests(tests, data_begin, data_end);
}
