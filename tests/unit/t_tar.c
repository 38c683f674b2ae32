/*
 * t_tar.c - packet/tar.h: headers that can be spelled in one way only
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "packet/tar.h"
#include "tests/unit/skipped.h"

static void
S_member(struct tar_member *m, uint64_t head, const char *name, uint64_t size)
{
	struct fault f = FAULT_INIT;

	memset(m, 0, sizeof(*m));
	(void)snprintf(m->name, sizeof(m->name), "%s", name);
	m->size = size;
	m->mtime = 1769860800;
	assert_int_equal(tar_place(head, name, size, &m->place, &f), 0);
}

static size_t
S_head(const struct tar_member *m, unsigned char out[TAR_HEAD_MAX])
{
	tar_head_make(m, out);
	return (size_t)(m->place.data - m->place.head);
}

static void
data_is_aligned_wherever_a_member_starts(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 511, 512, 513, 4095, 4096,
					  4097, TAR_SIZE_PAX - 1,
					  TAR_SIZE_PAX, 1ull << 40 };
	unsigned char head[TAR_HEAD_MAX];
	struct fault f = FAULT_INIT;
	char name[TAR_PATH_MAX + 1];
	struct tar_member m, back;

	(void)state;
	for (uint64_t at = 0; at < 9; at++)
		for (size_t len = 1; len <= TAR_PATH_MAX; len += len < 90
		     || len > 110 ? 37 : 1)
			for (size_t i = 0; i < 11; i++) {
				memset(name, len % 2 ? 'n' : 0xff, len);
				name[len] = '\0';
				S_member(&m, at * TAR_BLOCK, name, sizes[i]);
				assert_int_equal(m.place.data % TAR_ALIGN, 0);
				assert_int_equal(m.place.end % TAR_BLOCK, 0);
				assert_true(m.place.end - m.place.data
					    >= m.size);
				assert_true(m.place.end - m.place.data
					    < m.size + TAR_BLOCK);
				assert_true(m.place.data - m.place.head
					    < 3 * TAR_BLOCK + 1024 + TAR_ALIGN);
				assert_int_equal(
					tar_head_parse(head, S_head(&m, head),
						       at * TAR_BLOCK, &back,
						       &f), 0);
				assert_memory_equal(&back.place, &m.place,
						    sizeof(m.place));
				assert_string_equal(back.name, name);
				assert_true(back.size == m.size);
				assert_true(back.mtime == m.mtime);
			}
}

static void
what_no_archive_can_hold_is_refused(void **state)
{
	char name[TAR_PATH_MAX + 2];
	struct fault f = FAULT_INIT;
	struct tar_place p;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(tar_place(0, name, 1, &p, &f), -FAULT_CAP);
	assert_int_equal(tar_place(0, "n", UINT64_MAX, &p, &f), -FAULT_CAP);
	assert_int_equal(tar_place(1ull << 62, "n", 1, &p, &f), -FAULT_CAP);
}

static void
S_no_flip_is_taken(const char *name, uint64_t size)
{
	unsigned char head[TAR_HEAD_MAX];
	struct fault f = FAULT_INIT;
	struct tar_member m, back;
	size_t n;

	S_member(&m, 1536, name, size);
	n = S_head(&m, head);
	for (size_t i = 0; i < n * 8; i++) {
		head[i / 8] ^= (unsigned char)(1 << i % 8);
		/* No sum covers the records: another name or size is another
		   header, which the manifest then contradicts. */
		if (tar_head_parse(head, n, 1536, &back, &f) == 0
		    && back.size == m.size && strcmp(back.name, m.name) == 0)
			fail_msg("bit %zu of the header was taken", i);
		head[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	assert_int_equal(tar_head_parse(head, n, 1536, &back, &f), 0);
	for (size_t cut = 0; cut < n; cut += 17)
		assert_int_equal(tar_head_parse(head, cut, 1536, &back, &f),
				 -FAULT_DAMAGED);
	/* The same bytes belong to one place only. */
	assert_int_equal(tar_head_parse(head, n, 2048, &back, &f),
			 -FAULT_DAMAGED);
}

static void
no_bit_of_a_header_can_be_another(void **state)
{
	char name[300];

	(void)state;
	S_no_flip_is_taken("db/app.db", 4096);
	memset(name, 0xe9, sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	S_no_flip_is_taken(name, TAR_SIZE_PAX + 7);
}

static int
S_archive(const unsigned char *bytes, size_t n)
{
	struct fault f = FAULT_INIT;
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_pwrite_all(fd, bytes, n, 0, &f), 0);
	return fd;
}

/* One member of three bytes, padded, and then end zeros and behind others. */
static int
S_walk(size_t end, size_t behind, size_t dirty, size_t *at)
{
	static unsigned char bytes[16384];
	struct fault f = FAULT_INIT;
	struct tar_member m;
	OWN_FD(fd);
	size_t n;
	int rc;

	S_member(&m, 0, "db/a", 3);
	memset(bytes, 0, sizeof(bytes));
	tar_head_make(&m, bytes);
	memcpy(bytes + m.place.data, "abc", 3);
	n = m.place.end + end;
	memset(bytes + n, 1, behind);
	n += behind;
	if (dirty)
		bytes[m.place.data + dirty] = 1;
	fd = S_archive(bytes, n);
	*at = m.place.end;
	rc = tar_walk(fd, n, 0, &m, &f);
	return rc ? rc : tar_walk(fd, n, m.place.end, &m, &f);
}

static void
an_archive_ends_with_two_blocks_of_zeros_and_the_file(void **state)
{
	size_t at;

	(void)state;
	assert_int_equal(S_walk(1024, 0, 0, &at), 1);
	assert_int_equal(S_walk(0, 0, 0, &at), -FAULT_DAMAGED);
	assert_int_equal(S_walk(512, 0, 0, &at), -FAULT_DAMAGED);
	assert_int_equal(S_walk(1023, 0, 0, &at), -FAULT_DAMAGED);
	assert_int_equal(S_walk(1025, 0, 0, &at), -FAULT_DAMAGED);
	assert_int_equal(S_walk(1536, 0, 0, &at), -FAULT_DAMAGED);
	assert_int_equal(S_walk(1024, 1, 0, &at), -FAULT_DAMAGED);
	assert_int_equal(S_walk(1024, 512, 0, &at), -FAULT_DAMAGED);
	assert_int_equal(S_walk(512, 512, 0, &at), -FAULT_DAMAGED);
}

static void
padding_is_zero(void **state)
{
	size_t at;

	(void)state;
	for (size_t i = 3; i < TAR_BLOCK; i++)
		assert_int_equal(S_walk(1024, 0, i, &at), -FAULT_DAMAGED);
}

static void
a_member_beyond_the_end_is_damage(void **state)
{
	unsigned char head[TAR_HEAD_MAX];
	struct fault f = FAULT_INIT;
	struct tar_member m;
	OWN_FD(fd);
	size_t n;

	(void)state;
	S_member(&m, 0, "db/a", 1ull << 61);
	n = S_head(&m, head);
	fd = S_archive(head, n);
	assert_int_equal(tar_walk(fd, n, 0, &m, &f), -FAULT_DAMAGED);
	assert_non_null(strstr(f.text, "ends inside a member"));
}

/* What stock tar prints for a member of more than 8 GiB. */
static void
stock_tar_reads_a_size_beyond_8_gib(void **state)
{
	char path[] = "/tmp/t_tar-XXXXXX", command[128], line[256] = "";
	unsigned char head[TAR_HEAD_MAX];
	struct fault f = FAULT_INIT;
	struct tar_member m;
	OWN_FD(fd);
	FILE *p;

	(void)state;
	if (system("tar --version >/dev/null 2>&1") != 0)
		SKIP("needs tar");
	fd = mkostemp(path, O_CLOEXEC);
	assert_true(fd >= 0);
	S_member(&m, 0, "db/large", TAR_SIZE_PAX + 12345);
	assert_int_equal(io_pwrite_all(fd, head, S_head(&m, head), 0, &f), 0);
	assert_int_equal(ftruncate(fd, (off_t)(m.place.end + TAR_END)), 0);
	(void)snprintf(command, sizeof(command), "tar tvf %s 2>&1", path);
	p = popen(command, "r");
	assert_non_null(p);
	assert_non_null(fgets(line, sizeof(line), p));
	assert_int_equal(pclose(p), 0);
	(void)unlink(path);
	assert_non_null(strstr(line, "8589946937"));
	assert_non_null(strstr(line, "-rw-------"));
	assert_non_null(strstr(line, "db/large"));
}

static void
a_database_is_no_archive(void **state)
{
	unsigned char head[TAR_HEAD_MAX] = "SQLite format 3";
	struct tar_member m;

	(void)state;
	memcpy(head + 257, "ustar", 5);
	assert_int_equal(tar_begins(head, 512), 1);
	assert_int_equal(tar_begins(head, 0), 1);
	assert_int_equal(tar_begins((const unsigned char *)"hello", 5), 1);
	S_member(&m, 0, "db/a", 3);
	tar_head_make(&m, head);
	for (size_t n = 1; n <= 512; n++)
		assert_int_equal(tar_begins(head, n), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_is_aligned_wherever_a_member_starts),
		cmocka_unit_test(what_no_archive_can_hold_is_refused),
		cmocka_unit_test(no_bit_of_a_header_can_be_another),
		cmocka_unit_test(
			an_archive_ends_with_two_blocks_of_zeros_and_the_file),
		cmocka_unit_test(padding_is_zero),
		cmocka_unit_test(a_member_beyond_the_end_is_damage),
		cmocka_unit_test(stock_tar_reads_a_size_beyond_8_gib),
		cmocka_unit_test(a_database_is_no_archive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
