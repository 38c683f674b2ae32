/*
 * t_walindex.c - a wal-index that is not our account is told
 */
#include "recover/walindex.h"

#include "recover/shm.h"
#include "tests/unit/recover_data.h"

#define REGIONS 4
#define FIRST 4062u

/* The writer's own wal-index stands for the one that SQLite builds. */
struct fixture {
	sqlite3 *db;
	struct ask_side side;
	struct images *im;
	struct images_reader *r;
	struct wal *w;
	unsigned char *shm, *region[REGIONS];
	size_t nregion;
	struct fault f;
};

static void
S_begin(struct fixture *x)
{
	struct wal_options o = { .memory = 64u << 20 };
	const char *path = data_path();
	size_t n;

	memset(x, 0, sizeof(*x));
	x->db = data_open(path);
	data_exec(x->db, "PRAGMA page_size=512; PRAGMA journal_mode=WAL; "
		  "PRAGMA wal_autocheckpoint=0; CREATE TABLE t(x); "
		  "WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n "
		  "WHERE i < 9000) INSERT INTO t SELECT randomblob(300) "
		  "FROM n");
	data_side(path, &x->side);
	assert_int_equal(images_open(&x->im, &x->side, &x->f), 0);
	assert_int_equal(images_reader_new(&x->r, x->im, &x->f), 0);
	assert_int_equal(wal_read(x->r, &o, &x->w, &x->f), 0);
	x->shm = data_slurp(path, "-shm", &n);
	x->nregion = n / WALINDEX_REGION_BYTES;
	assert_in_range(x->nregion, 3, REGIONS);
	for (size_t i = 0; i < x->nregion; i++)
		x->region[i] = x->shm + i * WALINDEX_REGION_BYTES;
}

static void
S_end(struct fixture *x)
{
	free(x->shm);
	wal_free(x->w);
	images_reader_free(x->r);
	images_free(x->im);
	data_close(&x->side);
	(void)sqlite3_close(x->db);
}

static int
S_check(struct fixture *x)
{
	return walindex_check(x->w, wal_account(x->w)->committed, x->region,
			      x->nregion, &x->f);
}

/* Both copies of the header, their checksum made right again. */
static void
S_turn_header(struct fixture *x, size_t at)
{
	uint32_t sum[2] = { 0, 0 };

	x->shm[at] ^= 1;
	wal_checksum(BYTE_ORDER == BIG_ENDIAN, x->shm, 40, sum);
	memcpy(x->shm + 40, sum, sizeof(sum));
	memcpy(x->shm + 48, x->shm, 48);
}

static void
the_writers_own_index_agrees(void **state)
{
	struct fixture x;

	(void)state;
	S_begin(&x);
	assert_true(wal_account(x.w)->committed > FIRST + 4096);
	assert_int_equal(S_check(&x), 0);
	S_end(&x);
}

static void
each_field_of_the_header_must_agree(void **state)
{
	static const struct {
		size_t at;
		const char *says;
	} is[] = {
		{ 14, "the page size" }, { 16, "the committed frames" },
		{ 20, "the database size" }, { 24, "checksum" },
		{ 28, "checksum" }, { 32, "the salts" }, { 36, "the salts" },
	};
	struct fixture x;

	(void)state;
	S_begin(&x);
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		S_turn_header(&x, is[i].at);
		assert_int_equal(S_check(&x), -FAULT_DAMAGED);
		assert_non_null(strstr(x.f.text, "wal-index disagrees"));
		assert_non_null(strstr(x.f.text, is[i].says));
		S_turn_header(&x, is[i].at);
	}
	assert_int_equal(S_check(&x), 0);
	x.shm[0] ^= 1;
	assert_int_equal(S_check(&x), -FAULT_DAMAGED);
	S_end(&x);
}

static void
each_entry_must_agree(void **state)
{
	struct fixture x;
	uint64_t last;

	(void)state;
	S_begin(&x);
	last = wal_account(x.w)->committed;
	for (uint64_t frame = 1; frame <= last; frame += 1013) {
		size_t at = frame <= FIRST ? SHM_HEADER_BYTES + (frame - 1) * 4
			: WALINDEX_REGION_BYTES + (frame - 1 - FIRST) / 4096 *
			  WALINDEX_REGION_BYTES +
			  (frame - 1 - FIRST) % 4096 * 4;
		char says[64];

		(void)snprintf(says, sizeof(says), "on frame %llu: our "
			       "account says page",
			       (unsigned long long)frame);
		x.shm[at] ^= 1;
		assert_int_equal(S_check(&x), -FAULT_DAMAGED);
		assert_non_null(strstr(x.f.text, says));
		x.shm[at] ^= 1;
	}
	assert_int_equal(S_check(&x), 0);
	S_end(&x);
}

static void
each_entry_must_be_found_by_its_page(void **state)
{
	struct fixture x;

	(void)state;
	S_begin(&x);
	for (size_t i = 0; i < 8192; i++) {
		unsigned char *slot = x.region[1] + 16384 + 2 * i, kept[2];

		memcpy(kept, slot, 2);
		if (kept[0] == 0 && kept[1] == 0)
			continue;
		memset(slot, 0, 2);
		assert_int_equal(S_check(&x), -FAULT_DAMAGED);
		assert_non_null(strstr(x.f.text, "does not lead to it"));
		memcpy(slot, kept, 2);
		i += 397;
	}
	S_end(&x);
}

static void
a_missing_region_is_told(void **state)
{
	struct fixture x;

	(void)state;
	S_begin(&x);
	x.nregion--;
	assert_int_equal(S_check(&x), -FAULT_DAMAGED);
	x.nregion = 0;
	assert_int_equal(S_check(&x), -FAULT_DAMAGED);
	assert_int_equal(walindex_check(x.w, 0, NULL, 0, &x.f), 0);
	S_end(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_writers_own_index_agrees),
		cmocka_unit_test(each_field_of_the_header_must_agree),
		cmocka_unit_test(each_entry_must_agree),
		cmocka_unit_test(each_entry_must_be_found_by_its_page),
		cmocka_unit_test(a_missing_region_is_told),
	};

	return cmocka_run_group_tests(tests, data_begin, data_end);
}
