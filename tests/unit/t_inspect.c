/*
 * t_inspect.c - what is wrong with the images is a fact, never a fault
 */
#include "recover/inspect.h"

#include "tests/unit/recover_data.h"

static struct inspect_facts
S_inspect(const char *path)
{
	struct inspect_facts facts;
	struct fault f = FAULT_INIT;
	struct ask_side side;

	data_side(path, &side);
	if (inspect_run(&side, 0, &facts, &f))
		fail_msg("%s", f.text);
	data_close(&side);
	return facts;
}

static sqlite3 *
S_writer(const char *path)
{
	sqlite3 *db = data_open(path);

	data_exec(db, "PRAGMA page_size=2048; PRAGMA journal_mode=WAL; "
		  "PRAGMA wal_autocheckpoint=0; CREATE TABLE t(x)");
	for (int i = 0; i < 9; i++)
		data_exec(db, "INSERT INTO t VALUES(%d)", i);
	return db;
}

static void
a_live_set_is_told_as_its_writer_has_it(void **state)
{
	const char *path = data_path();
	sqlite3 *db = S_writer(path);
	struct inspect_facts x = S_inspect(path);

	(void)state;
	assert_int_equal(x.header.state, HEADER_OK);
	assert_true(x.header.wal);
	assert_int_equal(x.header.page_size, 2048);
	assert_int_equal(x.wal.commits, 10);
	assert_int_equal(x.shm.state, SHM_VALID);
	assert_int_equal(x.shm.frames, x.wal.committed);
	assert_int_equal(x.shm.backfilled, 0);
	assert_true(x.salts_agree);
	assert_string_equal(x.journal.state, "none");
	data_exec(db, "PRAGMA wal_checkpoint");
	x = S_inspect(path);
	assert_int_equal(x.shm.backfilled, x.wal.committed);
	assert_int_equal(x.shm.backfill_attempted, x.wal.committed);
	assert_int_equal(x.pages, data_int(db, "PRAGMA page_count", 0));
	(void)sqlite3_close(db);
}

static void
salts_of_another_database_disagree(void **state)
{
	const char *path = data_path(), *other = data_path();
	sqlite3 *db = S_writer(path), *two = S_writer(other);
	struct inspect_facts x;

	(void)state;
	data_copy_roles(other, path, 1u << ROLE_SHM);
	x = S_inspect(path);
	assert_false(x.salts_agree);
	/* One that has no frames may be a WAL that was just restarted. */
	data_exec(two, "PRAGMA wal_checkpoint(TRUNCATE)");
	data_copy_roles(other, path, 1u << ROLE_SHM);
	x = S_inspect(path);
	assert_int_equal(x.shm.frames, 0);
	assert_true(x.salts_agree);
	(void)sqlite3_close(db);
	(void)sqlite3_close(two);
}

static void
every_state_of_a_shm_has_its_word(void **state)
{
	const char *path = data_path(), *copy;
	sqlite3 *db = S_writer(path);
	unsigned char zeros[32768] = { 0 };

	(void)state;
	copy = data_copy(path, DATA_ALL);
	data_xor(copy, "-shm", 17, 1);
	assert_int_equal(S_inspect(copy).shm.state, SHM_TORN);
	/* The same flip in both copies: their checksum does not follow. */
	data_xor(copy, "-shm", 17 + 48, 1);
	assert_int_equal(S_inspect(copy).shm.state, SHM_TORN);
	data_spit(copy, "-shm", zeros, sizeof(zeros));
	assert_int_equal(S_inspect(copy).shm.state, SHM_UNINITIALISED);
	assert_true(S_inspect(copy).salts_agree);
	data_spit(copy, "-shm", zeros, 3);
	assert_int_equal(S_inspect(copy).shm.state, SHM_NONE);
	assert_string_equal(shm_state_name(SHM_NONE), "none");
	assert_string_equal(shm_state_name(SHM_TORN), "torn");
	(void)sqlite3_close(db);
}

static void
every_header_has_its_word(void **state)
{
	static const struct {
		size_t n;
		const char *word;
	} is[] = {
		{ 0, "empty" }, { 1, "short" }, { 99, "short" },
		{ 100, "not-a-database" }, { 5000, "not-a-database" },
	};
	const char *path = data_path();
	unsigned char bytes[5000];

	(void)state;
	memset(bytes, 0x41, sizeof(bytes));
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		struct inspect_facts x;

		data_spit(path, "", bytes, is[i].n);
		x = S_inspect(path);
		assert_string_equal(header_state_name(x.header.state),
				    is[i].word);
		assert_int_equal(x.pages, 0);
	}
	assert_string_equal(header_state_name(HEADER_OK), "ok");
}

static void
damage_is_a_fact(void **state)
{
	const char *path = data_path(), *copy;
	sqlite3 *db = S_writer(path);
	struct inspect_facts x;

	(void)state;
	copy = data_copy(path, DATA_ALL);
	data_xor(copy, "-wal", 32 + 3 * 2072 + 500, 8);
	x = S_inspect(copy);
	assert_int_equal(x.wal.first_damaged, 4);
	assert_true(x.wal.lost_commits > 0);
	data_xor(copy, "-wal", 20, 8);
	x = S_inspect(copy);
	assert_true(x.wal.header_damaged);
	data_spit(copy, "-journal", "\xd9\xd5\x05\xf9 garbage", 12);
	x = S_inspect(copy);
	assert_string_equal(x.journal.state, "cold");
	(void)sqlite3_close(db);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_live_set_is_told_as_its_writer_has_it),
		cmocka_unit_test(salts_of_another_database_disagree),
		cmocka_unit_test(every_state_of_a_shm_has_its_word),
		cmocka_unit_test(every_header_has_its_word),
		cmocka_unit_test(damage_is_a_fact),
	};

	return cmocka_run_group_tests(tests, data_begin, data_end);
}
