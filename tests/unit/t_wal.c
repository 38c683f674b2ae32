/*
 * t_wal.c - our account of a WAL is that of stock SQLite, frame by frame
 */
#include "recover/wal.h"

#include "base/bytes.h"
#include "recover/shm.h"
#include "tests/unit/recover_data.h"

struct reading {
	struct ask_side side;
	struct images *im;
	struct images_reader *r;
	struct wal *w;
	const struct wal_account *a;
	struct fault f;
};

static void
S_read(struct reading *x, const char *path)
{
	struct wal_options o = { .memory = 64u << 20, .page_size = 4096 };

	memset(x, 0, sizeof(*x));
	data_side(path, &x->side);
	assert_int_equal(images_open(&x->im, &x->side, &x->f), 0);
	assert_int_equal(images_reader_new(&x->r, x->im, &x->f), 0);
	assert_int_equal(wal_read(x->r, &o, &x->w, &x->f), 0);
	x->a = wal_account(x->w);
}

static void
S_done(struct reading *x)
{
	wal_free(x->w);
	images_reader_free(x->r);
	images_free(x->im);
	data_close(&x->side);
}

/* A writer with commits of one row each; its WAL is never checkpointed. */
static sqlite3 *
S_writer(const char *path, int page_size, int commits)
{
	sqlite3 *db = data_open(path);

	data_exec(db, "PRAGMA page_size=%d; PRAGMA journal_mode=WAL;"
		  "PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=5;"
		  "CREATE TABLE t(id INTEGER PRIMARY KEY, x)", page_size);
	for (int i = 1; i < commits; i++)
		data_exec(db, "INSERT INTO t(x) VALUES(zeroblob(300) || %d)",
			  i);
	return db;
}

static void
S_shm_of(const char *path, struct shm_facts *s)
{
	size_t n;
	unsigned char *bytes = data_slurp(path, "-shm", &n);

	assert_true(n >= SHM_HEADER_BYTES);
	shm_decode(bytes, s);
	assert_int_equal(s->state, SHM_VALID);
	free(bytes);
}

static void
every_page_size_gives_the_writers_own_numbers(void **state)
{
	(void)state;
	for (int size = 512; size <= 65536; size *= 2) {
		const char *path = data_path();
		sqlite3 *db = S_writer(path, size, 20);
		struct shm_facts s;
		struct reading x;

		S_shm_of(path, &s);
		S_read(&x, path);
		assert_true(x.a->header_valid);
		assert_int_equal(x.a->page_size, size);
		assert_int_equal(x.a->commits, 20);
		assert_int_equal(x.a->committed, s.frames);
		assert_int_equal(x.a->frames, s.frames);
		assert_int_equal(x.a->pages, s.pages);
		assert_memory_equal(x.a->checksum, s.checksum, 8);
		assert_memory_equal(x.a->salt, s.salt, 8);
		assert_int_equal(s.page_size, size);
		assert_int_equal(x.a->uncommitted + x.a->stale +
				 x.a->damaged + x.a->torn_bytes, 0);
		assert_int_equal(wal_loss(x.w, &x.f), 0);
		S_done(&x);
		(void)sqlite3_close(db);
	}
}

static void
spilled_frames_of_an_open_transaction_are_uncommitted(void **state)
{
	const char *path = data_path();
	sqlite3 *db = S_writer(path, 1024, 3);
	struct shm_facts s;
	struct reading x;

	(void)state;
	data_exec(db, "BEGIN");
	for (int i = 0; i < 100; i++)
		data_exec(db, "INSERT INTO t(x) VALUES(randomblob(900))");
	S_shm_of(path, &s);
	S_read(&x, path);
	assert_true(x.a->uncommitted > 0);
	assert_int_equal(x.a->committed, s.frames);
	assert_int_equal(x.a->committed + x.a->uncommitted, x.a->frames);
	assert_int_equal(x.a->committed, data_stock_frames(path));
	assert_int_equal(wal_loss(x.w, &x.f), 0);
	S_done(&x);
	/* What a rollback leaves behind is overwritten from its start. */
	data_exec(db, "ROLLBACK; INSERT INTO t(x) VALUES('after')");
	S_read(&x, path);
	assert_int_equal(x.a->committed, data_stock_frames(path));
	assert_true(x.a->damaged > 0);
	assert_int_equal(x.a->lost_commits, 0);
	assert_int_equal(wal_loss(x.w, &x.f), 0);
	S_done(&x);
	(void)sqlite3_close(db);
}

static void
frames_of_the_generation_before_are_stale(void **state)
{
	const char *path = data_path();
	sqlite3 *db = S_writer(path, 512, 30);
	struct reading x;
	uint64_t frames;

	(void)state;
	S_read(&x, path);
	frames = x.a->frames;
	S_done(&x);
	data_exec(db, "PRAGMA wal_checkpoint; INSERT INTO t(x) VALUES(1)");
	S_read(&x, path);
	assert_int_equal(x.a->checkpoint_seq, 1);
	assert_int_equal(x.a->frames, frames);
	assert_int_equal(x.a->commits, 1);
	assert_int_equal(x.a->committed, data_stock_frames(path));
	assert_int_equal(x.a->stale, frames - x.a->committed);
	assert_int_equal(x.a->damaged, 0);
	assert_int_equal(wal_loss(x.w, &x.f), 0);
	S_done(&x);
	(void)sqlite3_close(db);
}

static void
a_file_cut_anywhere_gives_what_stock_finds(void **state)
{
	const char *path = data_path(), *cut;
	sqlite3 *db = S_writer(path, 512, 4);
	size_t n;
	unsigned char *bytes = data_slurp(path, "-wal", &n);

	(void)state;
	cut = data_copy(path, 1u << ROLE_MAIN);
	for (size_t len = 0; len <= n; len += 67) {
		struct reading x;

		data_spit(cut, "-wal", bytes, len);
		S_read(&x, cut);
		assert_int_equal(x.a->committed,
				 len > 32 ? data_stock_frames(cut) : 0);
		assert_int_equal(x.a->torn_bytes, len < 32 ? len
				 : (len - 32) % 536);
		assert_int_equal(wal_loss(x.w, &x.f), 0);
		S_done(&x);
	}
	free(bytes);
	(void)sqlite3_close(db);
}

/* One commit is one frame here, so the loss is simple arithmetic. */
static void
a_flip_that_loses_commits_is_told(void **state)
{
	static const size_t at[] = { 3, 9, 14, 17, 24 + 100, 24 + 511 };
	const char *path = data_path(), *bad;
	sqlite3 *db = data_open(path);
	const int frames = 6;

	(void)state;
	data_exec(db, "PRAGMA page_size=512; PRAGMA journal_mode=WAL;"
		  "CREATE TABLE t(x); INSERT INTO t VALUES(0)");
	data_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)");
	for (int i = 0; i < frames; i++)
		data_exec(db, "UPDATE t SET x = %d", i + 1);
	for (int k = 1; k <= frames; k++) {
		for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
			struct reading x;

			bad = data_copy(path, DATA_NO_SHM);
			data_xor(bad, "-wal", 32 + (size_t)(k - 1) * 536 +
				 at[i], 4);
			S_read(&x, bad);
			assert_int_equal(x.a->frames, frames);
			assert_int_equal(x.a->committed, k - 1);
			assert_int_equal(x.a->committed,
					 data_stock_frames(bad));
			assert_int_equal(x.a->first_bad, k);
			assert_int_equal(x.a->lost_commits, frames - k);
			assert_int_equal(wal_loss(x.w, &x.f),
					 k < frames ? -FAULT_DAMAGED : 0);
			S_done(&x);
		}
	}
	bad = data_copy(path, DATA_NO_SHM);
	data_xor(bad, "-wal", 32 + 2 * 536 + 100, 1);
	{
		struct reading x;

		S_read(&x, bad);
		(void)wal_loss(x.w, &x.f);
		assert_string_equal(x.f.text, "WAL frame 3 is damaged: SQLite "
				    "would stop at frame 2 and lose 3 commits "
				    "of the same generation, up to frame 6");
		S_done(&x);
	}
	(void)sqlite3_close(db);
}

static void
a_flip_in_the_header_is_damage(void **state)
{
	const char *path = data_path();
	sqlite3 *db = S_writer(path, 1024, 5);

	(void)state;
	for (size_t at = 0; at < 32; at++) {
		const char *bad = data_copy(path, DATA_NO_SHM);
		struct reading x;

		data_xor(bad, "-wal", at, 2);
		S_read(&x, bad);
		assert_true(x.a->header_damaged);
		assert_int_equal(x.a->committed, 0);
		assert_int_equal(data_stock_frames(bad), 0);
		assert_int_equal(wal_loss(x.w, &x.f), -FAULT_DAMAGED);
		assert_non_null(strstr(x.f.text, "WAL header"));
		S_done(&x);
	}
	(void)sqlite3_close(db);
}

static void
a_zeroed_header_before_commits_is_damage_and_zeros_alone_are_not(void **state)
{
	const char *path = data_path(), *bad;
	sqlite3 *db = S_writer(path, 4096, 5);
	struct reading x;
	size_t n;
	unsigned char *bytes = data_slurp(path, "-wal", &n);

	(void)state;
	bad = data_copy(path, 1u << ROLE_MAIN);
	memset(bytes, 0, 32);
	data_spit(bad, "-wal", bytes, n);
	S_read(&x, bad);
	assert_int_equal(x.a->lost_commits, 5);
	assert_int_equal(wal_loss(x.w, &x.f), -FAULT_DAMAGED);
	S_done(&x);
	memset(bytes, 0, n);
	data_spit(bad, "-wal", bytes, n);
	S_read(&x, bad);
	assert_true(x.a->header_damaged);
	assert_int_equal(wal_loss(x.w, &x.f), 0);
	S_done(&x);
	free(bytes);
	(void)sqlite3_close(db);
}

/* Every checksum of the file again, in the other byte order. */
static void
S_turn_checksums(unsigned char *b, size_t n, size_t page_size)
{
	uint32_t sum[2] = { 0, 0 };
	bool big;

	b[3] ^= 1;
	big = b[3] & 1;
	wal_checksum(big, b, 24, sum);
	for (size_t at = 24; at + 8 <= n; ) {
		uint32_t be[2] = { htobe32(sum[0]), htobe32(sum[1]) };

		memcpy(b + at, be, sizeof(be));
		at += at == 24 ? 8 : 8 + page_size;
		if (at + 24 + page_size > n)
			break;
		wal_checksum(big, b + at, 8, sum);
		wal_checksum(big, b + at + 24, page_size, sum);
		at += 16;
	}
}

static void
big_endian_checksums_count_as_well(void **state)
{
	const char *path = data_path(), *turned;
	sqlite3 *db = S_writer(path, 1024, 7);
	struct reading x;
	size_t n;
	unsigned char *bytes = data_slurp(path, "-wal", &n);
	int64_t frames;

	(void)state;
	frames = data_stock_frames(path);
	turned = data_copy(path, 1u << ROLE_MAIN);
	S_turn_checksums(bytes, n, 1024);
	data_spit(turned, "-wal", bytes, n);
	assert_int_equal(data_stock_frames(turned), frames);
	S_read(&x, turned);
	assert_true(x.a->big_endian);
	assert_int_equal(x.a->committed, frames);
	assert_int_equal(x.a->commits, 7);
	S_done(&x);
	free(bytes);
	(void)sqlite3_close(db);
}

static void
the_view_gives_the_last_image_of_each_page(void **state)
{
	const char *path = data_path();
	sqlite3 *db = S_writer(path, 512, 25);
	struct reading x;
	size_t n;
	unsigned char *wal = data_slurp(path, "-wal", &n), page[512];

	(void)state;
	S_read(&x, path);
	for (uint64_t view = 0; view <= x.a->committed; view++) {
		assert_int_equal(wal_view(x.w, view, &x.f), 0);
		for (uint32_t p = 1; p <= x.a->pages + 1; p++) {
			uint64_t last = 0;

			for (uint64_t i = 1; i <= view; i++)
				if (bytes_be32(wal + 32 + (i - 1) * 536) == p)
					last = i;
			assert_int_equal(wal_find(x.w, p), last);
		}
	}
	assert_int_equal(wal_page(x.w, x.r, 2, page, &x.f), 0);
	assert_memory_equal(page, wal + 32 + 536 + 24, 512);
	S_done(&x);
	free(wal);
	(void)sqlite3_close(db);
}

static void
a_commit_is_known_by_its_frame(void **state)
{
	const char *path = data_path();
	sqlite3 *db = S_writer(path, 512, 25);
	struct reading x;
	size_t n;
	unsigned char *wal = data_slurp(path, "-wal", &n);
	struct wal_commit c;

	(void)state;
	S_read(&x, path);
	for (uint64_t i = 1; i <= x.a->frames; i++) {
		const unsigned char *head = wal + 32 + (i - 1) * 536;
		uint32_t pages = bytes_be32(head + 4);

		assert_int_equal(wal_commit_at(x.w, i, &c), pages == 0);
		if (pages == 0)
			continue;
		assert_int_equal(c.pages, pages);
		assert_int_equal(c.checksum[0], bytes_be32(head + 16));
		assert_int_equal(c.checksum[1], bytes_be32(head + 20));
	}
	S_done(&x);
	free(wal);
	(void)sqlite3_close(db);
}

static void
the_account_keeps_to_its_memory(void **state)
{
	const char *path = data_path();
	sqlite3 *db = S_writer(path, 512, 200);
	struct wal_options o = { .memory = 1000 };
	struct fault f = FAULT_INIT;
	struct wal *w = NULL;
	struct reading x;

	(void)state;
	S_read(&x, path);
	assert_int_equal(wal_read(x.r, &o, &w, &f), -FAULT_CAP);
	assert_non_null(strstr(f.text, "--memory-limit"));
	S_done(&x);
	(void)sqlite3_close(db);
}

static void
a_version_that_sqlite_does_not_read_is_told(void **state)
{
	const char *path = data_path(), *bad;
	sqlite3 *db = S_writer(path, 512, 3);
	struct reading x;
	size_t n;
	unsigned char *bytes = data_slurp(path, "-wal", &n);

	(void)state;
	bad = data_copy(path, 1u << ROLE_MAIN);
	bytes[7] ^= 1;
	S_turn_checksums(bytes, n, 512);
	data_spit(bad, "-wal", bytes, n);
	S_read(&x, bad);
	assert_true(x.a->header_valid);
	assert_int_equal(wal_loss(x.w, &x.f), -FAULT_DAMAGED);
	assert_non_null(strstr(x.f.text, "version 3007001"));
	S_done(&x);
	free(bytes);
	(void)sqlite3_close(db);
}

static void
no_wal_and_an_empty_one_hold_nothing(void **state)
{
	const char *path = data_path();
	struct reading x;

	(void)state;
	data_spit(path, "", "", 0);
	S_read(&x, path);
	assert_false(x.a->present);
	S_done(&x);
	data_spit(path, "-wal", "", 0);
	S_read(&x, path);
	assert_false(x.a->present);
	assert_false(x.a->header_damaged);
	S_done(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_page_size_gives_the_writers_own_numbers),
		cmocka_unit_test(
			spilled_frames_of_an_open_transaction_are_uncommitted),
		cmocka_unit_test(frames_of_the_generation_before_are_stale),
		cmocka_unit_test(a_file_cut_anywhere_gives_what_stock_finds),
		cmocka_unit_test(a_flip_that_loses_commits_is_told),
		cmocka_unit_test(a_flip_in_the_header_is_damage),
		cmocka_unit_test(
	a_zeroed_header_before_commits_is_damage_and_zeros_alone_are_not),
		cmocka_unit_test(big_endian_checksums_count_as_well),
		cmocka_unit_test(the_view_gives_the_last_image_of_each_page),
		cmocka_unit_test(a_commit_is_known_by_its_frame),
		cmocka_unit_test(the_account_keeps_to_its_memory),
		cmocka_unit_test(a_version_that_sqlite_does_not_read_is_told),
		cmocka_unit_test(no_wal_and_an_empty_one_hold_nothing),
	};

	return cmocka_run_group_tests(tests, data_begin, data_end);
}
