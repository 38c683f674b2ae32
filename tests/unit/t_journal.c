/*
 * t_journal.c - our account of a rollback journal is what playback takes
 */
#include "recover/journal.h"

#include "base/bytes.h"
#include "tests/unit/recover_data.h"

struct reading {
	struct ask_side side;
	struct images *im;
	struct images_reader *r;
	struct journal *j;
	const struct journal_account *a;
	struct fault f;
};

static const unsigned char magic[8] = {
	0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7
};

static void
S_read(struct reading *x, const char *path)
{
	memset(x, 0, sizeof(*x));
	data_side(path, &x->side);
	assert_int_equal(images_open(&x->im, &x->side, &x->f), 0);
	assert_int_equal(images_reader_new(&x->r, x->im, &x->f), 0);
	assert_int_equal(journal_read(x->r, 1024, 64u << 20, &x->j, &x->f), 0);
	x->a = journal_account(x->j);
}

static void
S_done(struct reading *x)
{
	journal_free(x->j);
	images_reader_free(x->r);
	images_free(x->im);
	data_close(&x->side);
}

/* A closed database of some forty pages. */
static const char *
S_database(int page_size)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);

	data_exec(db, "PRAGMA page_size=%d; CREATE TABLE t(id INTEGER PRIMARY "
		  "KEY, x); WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 "
		  "FROM n WHERE i < 40) INSERT INTO t SELECT i, "
		  "randomblob(%d) FROM n", page_size, page_size * 3 / 4);
	(void)sqlite3_close(db);
	return path;
}

#define CHANGE "BEGIN; UPDATE t SET x = zeroblob(length(x)) WHERE id <= 30"

static void
a_hot_journal_records_the_pages_of_before(void **state)
{
	(void)state;
	for (int size = 512; size <= 65536; size *= 2) {
		const char *path = S_database(size);
		unsigned char *seen, *before, *journal;
		size_t n, nj;
		struct reading x;

		before = data_slurp(path, "", &n);
		seen = calloc(n / (size_t)size + 1, 1);
		data_crash(path, "PRAGMA cache_size=5;" CHANGE);
		journal = data_slurp(path, "-journal", &nj);
		S_read(&x, path);
		assert_string_equal(x.a->state, "hot");
		assert_true(journal_hot(x.j));
		assert_int_equal(x.a->page_size, size);
		assert_int_equal(x.a->pages, n / (size_t)size);
		assert_true(x.a->segments > 1);
		assert_true(x.a->records >= 20);
		assert_int_equal(x.a->damaged, 0);
		assert_false(x.a->super);
		for (uint64_t i = 0; i < x.a->records; i++) {
			struct journal_record r = journal_record(x.j, i);

			assert_in_range(r.pgno, 1, x.a->pages);
			assert_int_equal(seen[r.pgno]++, 0);
			assert_memory_equal(journal + r.offset, before +
					    (r.pgno - 1) * (size_t)size,
					    (size_t)size);
		}
		S_done(&x);
		free(before);
		free(journal);
		free(seen);
	}
}

static void
pages_that_were_never_synced_are_no_records(void **state)
{
	const char *path = S_database(1024);
	struct reading x;

	(void)state;
	/* The cache holds all: main is not written, and the header neither. */
	data_crash(path, "PRAGMA cache_size=1000;" CHANGE);
	S_read(&x, path);
	assert_true(images_size(x.im, ROLE_JOURNAL) > 20 * 1024);
	assert_string_equal(x.a->state, "cold");
	assert_int_equal(x.a->records, 0);
	S_done(&x);
}

static void
a_count_of_zero_is_no_record(void **state)
{
	const char *path = S_database(1024);
	struct reading x;
	size_t n;
	unsigned char *b;

	(void)state;
	data_crash(path, "PRAGMA synchronous=OFF; PRAGMA cache_size=5;"
		   CHANGE);
	b = data_slurp(path, "-journal", &n);
	memset(b + 8, 0, 4);
	data_spit(path, "-journal", b, n);
	S_read(&x, path);
	assert_string_equal(x.a->state, "hot");
	assert_int_equal(x.a->records, 0);
	assert_int_equal(x.a->pages, images_size(x.im, ROLE_MAIN) / 1024);
	S_done(&x);
	free(b);
}

static void
without_syncs_the_records_reach_to_the_end(void **state)
{
	const char *path = S_database(1024);
	struct reading x;
	size_t n;
	unsigned char *b;

	(void)state;
	data_crash(path, "PRAGMA synchronous=OFF; PRAGMA cache_size=5;"
		   CHANGE);
	b = data_slurp(path, "-journal", &n);
	assert_int_equal(bytes_be32(b + 8), 0xffffffffu);
	S_read(&x, path);
	assert_int_equal(x.a->records, (n - bytes_be32(b + 20)) / 1032);
	assert_int_equal(x.a->segments, 1);
	S_done(&x);
	free(b);
}

static void
what_is_left_behind_a_commit_is_cold(void **state)
{
	static const struct {
		const char *mode, *state;
	} is[] = {
		{ "PERSIST", "cold" },
		{ "TRUNCATE", "empty" },
		{ "DELETE", "none" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		const char *path = S_database(1024);
		sqlite3 *db = data_open(path);
		struct reading x;

		data_exec(db, "PRAGMA journal_mode=%s;" CHANGE "; COMMIT",
			  is[i].mode);
		S_read(&x, path);
		assert_string_equal(x.a->state, is[i].state);
		assert_false(journal_hot(x.j));
		assert_int_equal(x.a->records, 0);
		S_done(&x);
		(void)sqlite3_close(db);
	}
}

static void
a_wrong_checksum_ends_the_records(void **state)
{
	const char *path = S_database(1024), *bad;
	struct reading x;

	(void)state;
	data_crash(path, "PRAGMA synchronous=OFF; PRAGMA cache_size=5;"
		   CHANGE);
	bad = data_copy(path, DATA_ALL);
	/* Byte 1024 - 200 of the third page is one that counts. */
	data_xor(bad, "-journal", 512 + 2 * 1032 + 4 + 824, 1);
	S_read(&x, bad);
	assert_int_equal(x.a->records, 2);
	assert_int_equal(x.a->damaged, 1);
	S_done(&x);
	bad = data_copy(path, DATA_ALL);
	/* The byte before it counts for nothing. */
	data_xor(bad, "-journal", 512 + 2 * 1032 + 4 + 823, 1);
	S_read(&x, bad);
	assert_int_equal(x.a->damaged, 0);
	assert_true(x.a->records > 20);
	S_done(&x);
}

static void
a_cut_journal_keeps_its_whole_records(void **state)
{
	const char *path = S_database(1024);
	struct reading x;
	size_t n;
	unsigned char *b;

	(void)state;
	data_crash(path, "PRAGMA synchronous=OFF; PRAGMA cache_size=5;"
		   CHANGE);
	b = data_slurp(path, "-journal", &n);
	for (size_t cut = 1; cut <= 512 + 3 * 1032; cut += 119) {
		data_spit(path, "-journal", b, cut);
		S_read(&x, path);
		assert_string_equal(x.a->state, cut < 512 ? "cold" : "hot");
		assert_int_equal(x.a->records,
				 cut < 512 ? 0 : (cut - 512) / 1032);
		S_done(&x);
	}
	free(b);
}

/* The tail that a commit over several databases writes. */
static void
S_name_super(const char *path, const char *name, size_t len, uint32_t wrong)
{
	size_t n;
	unsigned char *b = data_slurp(path, "-journal", &n), *at;
	uint32_t be, sum = wrong;

	b = realloc(b, n + len + 20);
	assert_non_null(b);
	at = b + n;
	be = htobe32(0x40000000u / 1024 + 1);
	memcpy(at, &be, 4);
	memcpy(at + 4, name, len);
	for (size_t i = 0; i < len; i++) {
		int c = name[i];

		sum += (uint32_t)c;
	}
	be = htobe32((uint32_t)len);
	memcpy(at + 4 + len, &be, 4);
	be = htobe32(sum);
	memcpy(at + 8 + len, &be, 4);
	memcpy(at + 12 + len, magic, 8);
	data_spit(path, "-journal", b, n + len + 20);
	free(b);
}

static void
a_super_journal_is_named_and_escaped(void **state)
{
	static const char name[] = "/data/a\x1b[2Jb\xc3\xa4-mj0123";
	const char *path = S_database(1024), *copy;
	struct reading x;

	(void)state;
	data_crash(path, "PRAGMA cache_size=5;" CHANGE);
	copy = data_copy(path, DATA_ALL);
	S_name_super(copy, name, sizeof(name) - 1, 0);
	S_read(&x, copy);
	assert_true(x.a->super);
	assert_string_equal(x.a->super_name,
			    "/data/a\\x1b[2Jb\\xc3\\xa4-mj0123");
	S_done(&x);
	copy = data_copy(path, DATA_ALL);
	S_name_super(copy, name, sizeof(name) - 1, 1);
	S_read(&x, copy);
	assert_false(x.a->super);
	S_done(&x);
}

static void
a_long_super_name_is_cut_in_print_and_still_one(void **state)
{
	const char *path = S_database(1024);
	char name[3000];
	struct reading x;

	(void)state;
	data_crash(path, "PRAGMA cache_size=5;" CHANGE);
	memset(name, 1, sizeof(name));
	S_name_super(path, name, sizeof(name), 0);
	S_read(&x, path);
	assert_true(x.a->super);
	assert_in_range(strlen(x.a->super_name), JOURNAL_NAME_MAX - 8,
			JOURNAL_NAME_MAX - 1);
	S_done(&x);
}

static void
garbage_is_no_hot_journal(void **state)
{
	const char *path = S_database(1024);
	unsigned char b[4096];
	struct reading x;

	(void)state;
	memset(b, 0x5a, sizeof(b));
	data_spit(path, "-journal", b, sizeof(b));
	S_read(&x, path);
	assert_string_equal(x.a->state, "cold");
	S_done(&x);
	/* The magic alone does not do: its sector size is none. */
	memcpy(b, magic, sizeof(magic));
	data_spit(path, "-journal", b, sizeof(b));
	S_read(&x, path);
	assert_string_equal(x.a->state, "cold");
	S_done(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hot_journal_records_the_pages_of_before),
		cmocka_unit_test(pages_that_were_never_synced_are_no_records),
		cmocka_unit_test(a_count_of_zero_is_no_record),
		cmocka_unit_test(without_syncs_the_records_reach_to_the_end),
		cmocka_unit_test(what_is_left_behind_a_commit_is_cold),
		cmocka_unit_test(a_wrong_checksum_ends_the_records),
		cmocka_unit_test(a_cut_journal_keeps_its_whole_records),
		cmocka_unit_test(a_super_journal_is_named_and_escaped),
		cmocka_unit_test(
			a_long_super_name_is_cut_in_print_and_still_one),
		cmocka_unit_test(garbage_is_no_hot_journal),
	};

	return cmocka_run_group_tests(tests, data_begin, data_end);
}
