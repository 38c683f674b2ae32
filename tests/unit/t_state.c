/*
 * t_state.c - the recovered state is what stock SQLite recovers, or a fault
 */
#include "recover/state.h"

#include <pthread.h>

#include "base/bytes.h"
#include "tests/unit/recover_data.h"

struct opened {
	struct ask_side side;
	struct state *s;
	struct fault f;
	int rc;
};

static void
S_open(struct opened *x, const char *path, enum state_view view,
       uint64_t memory, bool blocks)
{
	memset(x, 0, sizeof(*x));
	data_side(path, &x->side);
	if (blocks)
		data_blocks(&x->side);
	x->rc = state_open(&x->s, &x->side, view, memory, &x->f);
	/* It holds for the process, and stock SQLite lives in it too. */
	(void)sqlite3_hard_heap_limit64(0);
}

static void
S_close(struct opened *x)
{
	state_free(x->s);
	data_close(&x->side);
}

static void
S_good(const struct opened *x)
{
	if (x->rc)
		fail_msg("%s", x->f.text);
}

static char *
S_content(struct opened *x)
{
	sqlite3 *db = NULL;
	char *text;

	if (state_connect(x->s, &db, &x->f))
		fail_msg("%s", x->f.text);
	text = data_content(db);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return text;
}

static void
S_same_text(char *ours, char *stock)
{
	assert_string_equal(ours, stock);
	sqlite3_free(ours);
	sqlite3_free(stock);
}

/* What state_pages gives is a file that stock SQLite reads to the same. */
static void
S_export(struct opened *x, const char *to)
{
	const struct state_facts *a = state_facts(x->s);
	size_t n = (size_t)a->page_count * a->page_size;
	unsigned char *bytes = malloc(n + 1);

	assert_non_null(bytes);
	assert_int_equal(state_pages(x->s, 0, bytes, n, &x->f), 0);
	if (n)
		assert_true(bytes[18] == 1 && bytes[19] == 1);
	data_spit(to, "", bytes, n);
	free(bytes);
}

static void
S_check_as_stock(const char *path, uint64_t memory, bool in_memory)
{
	const char *to = data_path();
	struct opened x;
	sqlite3 *db;

	S_open(&x, path, STATE_VIEW_RECOVERY, memory, true);
	S_good(&x);
	assert_int_equal(state_facts(x.s)->in_memory, in_memory);
	S_same_text(S_content(&x), data_stock(path));
	S_export(&x, to);
	assert_int_equal(state_finish(x.s, &x.f), 0);
	S_close(&x);
	db = data_open(to);
	S_same_text(data_content(db), data_stock(path));
	assert_int_equal(data_int(db, "SELECT count(*) FROM "
				  "pragma_integrity_check WHERE "
				  "integrity_check <> 'ok'", 0), 0);
	(void)sqlite3_close(db);
}

static void
S_fill(sqlite3 *db, int rows, int bytes)
{
	data_exec(db, "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, "
		  "x, y); WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM "
		  "n WHERE i < %d) INSERT INTO t(x, y) SELECT "
		  "hex(randomblob(%d)), i * 1.5 FROM n", rows, bytes);
}

static void
every_page_size_and_mode_recovers_as_in_stock(void **state)
{
	static const char *const mode[] = { "DELETE", "WAL" };

	(void)state;
	for (int size = 512; size <= 65536; size *= 2)
		for (int m = 0; m < 2; m++) {
			const char *path = data_path();
			sqlite3 *db = data_open(path);

			data_exec(db, "PRAGMA page_size=%d; PRAGMA "
				  "auto_vacuum=%d; PRAGMA journal_mode=%s; "
				  "PRAGMA wal_autocheckpoint=0; PRAGMA "
				  "user_version=%d", size, m, mode[m], size);
			S_fill(db, 50, 100);
			data_exec(db, "CREATE INDEX i ON t(x); DELETE FROM t "
				  "WHERE id %% 3 = 0");
			S_check_as_stock(path, 0, true);
			(void)sqlite3_close(db);
		}
}

static void
above_the_limit_the_images_are_read_in_place(void **state)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);

	(void)state;
	data_exec(db, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0");
	S_fill(db, 2000, 500);
	data_exec(db, "PRAGMA wal_checkpoint");
	S_fill(db, 2000, 500);
	assert_true(data_int(db, "PRAGMA page_count", 0) * 4096 > 3 << 20);
	S_check_as_stock(path, 12u << 20, false);
	S_check_as_stock(path, 0, true);
	(void)sqlite3_close(db);
}

static void
a_memory_limit_that_is_hit_is_named(void **state)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);
	struct opened x;

	(void)state;
	S_fill(db, 2000, 500);
	(void)sqlite3_close(db);
	S_open(&x, path, STATE_VIEW_RECOVERY, 20000, true);
	assert_int_equal(x.rc, -FAULT_CAP);
	assert_non_null(strstr(x.f.text, "--memory-limit"));
	S_close(&x);
}

static void
every_encoding_is_told(void **state)
{
	static const char *const name[] = {
		"UTF-8", "UTF-16le", "UTF-16be"
	};

	(void)state;
	for (int i = 0; i < 3; i++) {
		const char *path = data_path();
		sqlite3 *db = data_open(path);
		struct opened x;

		data_exec(db, "PRAGMA encoding='%s'; CREATE TABLE t(x); "
			  "INSERT INTO t VALUES('gr\xc3\xbc\xc3\x9f')",
			  name[i]);
		(void)sqlite3_close(db);
		S_open(&x, path, STATE_VIEW_RECOVERY, 0, true);
		S_good(&x);
		assert_int_equal(state_facts(x.s)->encoding, i + 1);
		S_same_text(S_content(&x), data_stock(path));
		S_close(&x);
	}
}

static void
an_empty_file_is_an_empty_database(void **state)
{
	const char *path = data_path();
	struct opened x;

	(void)state;
	data_spit(path, "", "", 0);
	S_open(&x, path, STATE_VIEW_RECOVERY, 0, true);
	S_good(&x);
	assert_int_equal(state_facts(x.s)->page_count, 0);
	assert_int_equal(state_facts(x.s)->encoding, 0);
	S_same_text(S_content(&x), data_stock(path));
	assert_int_equal(state_pages(x.s, 0, NULL, 0, &x.f), 0);
	S_close(&x);
}

static void
the_copy_has_the_header_of_the_images(void **state)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);
	struct opened x;
	size_t n;
	unsigned char *file, *ours;

	(void)state;
	S_fill(db, 300, 50);
	data_exec(db, "CREATE TABLE u(a); DROP TABLE u; CREATE TABLE v(a)");
	(void)sqlite3_close(db);
	file = data_slurp(path, "", &n);
	ours = malloc(n);
	S_open(&x, path, STATE_VIEW_RECOVERY, 0, true);
	S_good(&x);
	assert_true(state_facts(x.s)->in_memory);
	assert_int_equal(n, state_facts(x.s)->page_count * 4096);
	assert_int_equal(state_pages(x.s, 0, ours, n, &x.f), 0);
	assert_memory_equal(ours, file, n);
	S_close(&x);
	free(file);
	free(ours);
}

static void
what_is_no_database_is_told_apart(void **state)
{
	static const struct {
		size_t at;
		unsigned char mask;
		size_t cut;
		const char *says;
	} is[] = {
		{ 3, 1, 0, "not a database or encrypted: the first 16 bytes "
			   "are not SQLite's" },
		{ 16, 1, 0, "not a database: the header's page size" },
		{ 21, 1, 0, "not a database or encrypted: page 1" },
		{ 0, 0, 50, "truncated: main has 50 bytes" },
		{ 0, 0, 8192, "truncated: main has 8192 bytes, and its header "
			      "says" },
		{ 0, 0, 8191, "truncated: main has 8191 bytes" },
	};
	const char *path = data_path();
	sqlite3 *db = data_open(path);
	size_t n;
	unsigned char *bytes;

	(void)state;
	S_fill(db, 300, 50);
	(void)sqlite3_close(db);
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		const char *bad = data_copy(path, DATA_ALL);
		struct opened x;

		bytes = data_slurp(path, "", &n);
		bytes[is[i].at] ^= is[i].mask;
		data_spit(bad, "", bytes, is[i].cut ? is[i].cut : n);
		free(bytes);
		S_open(&x, bad, STATE_VIEW_RECOVERY, 0, true);
		assert_int_equal(x.rc, -FAULT_DAMAGED);
		assert_non_null(strstr(x.f.text, is[i].says));
		S_close(&x);
	}
}

#define CHANGE "PRAGMA cache_size=5; BEGIN; UPDATE t SET x = 'changed'; " \
	"DELETE FROM t WHERE id > 200"

static const char *
S_hot(int page_size)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);

	data_exec(db, "PRAGMA page_size=%d", page_size);
	S_fill(db, 300, 200);
	(void)sqlite3_close(db);
	data_crash(path, CHANGE);
	return path;
}

static void
a_hot_journal_is_rolled_back(void **state)
{
	(void)state;
	for (int size = 512; size <= 65536; size *= 4) {
		const char *path = S_hot(size);
		struct opened x;

		S_open(&x, path, STATE_VIEW_RECOVERY, 0, true);
		S_good(&x);
		assert_string_equal(state_facts(x.s)->journal.state, "hot");
		S_close(&x);
		S_check_as_stock(path, 0, true);
	}
}

/* In place, so that any mixture of old and new pages is sound. */
static void
a_hot_journal_shorter_than_a_sector_counts(void **state)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);
	size_t n;
	unsigned char *journal;

	(void)state;
	data_exec(db, "PRAGMA page_size=512");
	S_fill(db, 100, 100);
	(void)sqlite3_close(db);
	data_crash(path, "PRAGMA synchronous=OFF; PRAGMA cache_size=5; BEGIN; "
		   "UPDATE t SET x = hex(randomblob(100))");
	journal = data_slurp(path, "-journal", &n);
	for (size_t records = 1; records <= 6; records++) {
		data_spit(path, "-journal", journal, 512 + records * 520);
		S_check_as_stock(path, 0, true);
	}
	free(journal);
}

static void
a_rollback_holds_where_the_images_are_read_in_place(void **state)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);

	(void)state;
	S_fill(db, 4000, 700);
	(void)sqlite3_close(db);
	data_crash(path, "PRAGMA cache_size=5; BEGIN; UPDATE t SET y = 0 "
		   "WHERE id < 100; DELETE FROM t WHERE id > 3000");
	S_check_as_stock(path, 20u << 20, false);
}

static void
a_main_that_a_vacuum_cut_is_made_whole(void **state)
{
	const char *path = S_hot(1024);
	sqlite3 *db;
	size_t n;
	unsigned char *main;
	const char *cut = data_path();
	struct opened x;

	(void)state;
	/* All pages in the journal, then main cut to half. */
	db = data_open(data_copy(path, DATA_ALL));
	S_same_text(data_content(db), data_stock(path));
	(void)sqlite3_close(db);
	main = data_slurp(path, "", &n);
	data_copy_roles(path, cut, DATA_ALL);
	data_spit(cut, "", main, n / 2 / 1024 * 1024);
	S_open(&x, cut, STATE_VIEW_RECOVERY, 0, true);
	/* Either each missing page is recorded, or one is named. */
	if (x.rc) {
		assert_int_equal(x.rc, -FAULT_DAMAGED);
		assert_non_null(strstr(x.f.text, "neither in main nor in the "
				       "hot journal"));
	} else {
		S_same_text(S_content(&x), data_stock(path));
	}
	S_close(&x);
	data_spit(cut, "", main, 0);
	S_open(&x, cut, STATE_VIEW_RECOVERY, 0, true);
	assert_int_equal(x.rc, -FAULT_DAMAGED);
	assert_non_null(strstr(x.f.text, "main is empty"));
	S_close(&x);
	free(main);
}

static void
a_super_journal_is_refused_by_name(void **state)
{
	static const char name[] = "/somewhere/else.db-mj00112233";
	static const unsigned char magic[8] = {
		0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7
	};
	const char *path = S_hot(1024);
	uint32_t be, sum = 0;
	struct opened x;
	size_t n, len = sizeof(name) - 1;
	unsigned char *b = data_slurp(path, "-journal", &n);

	(void)state;
	b = realloc(b, n + len + 16);
	memcpy(b + n, name, len);
	for (size_t i = 0; i < len; i++)
		sum += (uint32_t)(unsigned char)name[i];
	be = htobe32((uint32_t)len);
	memcpy(b + n + len, &be, 4);
	be = htobe32(sum);
	memcpy(b + n + len + 4, &be, 4);
	memcpy(b + n + len + 8, magic, 8);
	data_spit(path, "-journal", b, n + len + 16);
	free(b);
	S_open(&x, path, STATE_VIEW_RECOVERY, 0, true);
	assert_int_equal(x.rc, -FAULT_REFUSED);
	assert_non_null(strstr(x.f.text, name));
	S_close(&x);
}

/* A writer whose WAL holds commits; the SHM is its own. */
static sqlite3 *
S_wal_writer(const char *path)
{
	sqlite3 *db = data_open(path);

	data_exec(db, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; "
		  "CREATE TABLE t(id INTEGER PRIMARY KEY, x)");
	for (int i = 0; i < 20; i++)
		data_exec(db, "INSERT INTO t(x) VALUES(%d)", i);
	return db;
}

static int64_t
S_rows(struct opened *x)
{
	sqlite3 *db = NULL;
	int64_t n;

	S_good(x);
	assert_int_equal(state_connect(x->s, &db, &x->f), 0);
	n = data_int(db, "SELECT count(*) FROM t", 0);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return n;
}

static void
the_live_view_stops_where_the_writer_did(void **state)
{
	const char *path = data_path(), *mixed = data_path();
	sqlite3 *db = S_wal_writer(path);
	struct opened x;

	(void)state;
	/* As between a commit's frame and its wal-index. */
	data_copy_roles(path, mixed, 1u << ROLE_SHM | 1u << ROLE_MAIN);
	data_exec(db, "INSERT INTO t(x) VALUES('later')");
	data_copy_roles(path, mixed, 1u << ROLE_WAL);
	S_open(&x, mixed, STATE_VIEW_RECOVERY, 0, true);
	assert_int_equal(S_rows(&x), 21);
	assert_true(state_facts(x.s)->live_known);
	assert_int_equal(state_facts(x.s)->live_frames,
			 state_facts(x.s)->wal.committed - 1);
	assert_false(state_facts(x.s)->views_agree);
	S_close(&x);
	S_open(&x, mixed, STATE_VIEW_LIVE, 0, true);
	assert_int_equal(S_rows(&x), 20);
	assert_string_equal(state_facts(x.s)->view, "live");
	S_close(&x);
	(void)sqlite3_close(db);
}

static void
live_commits_that_recovery_loses_are_damage(void **state)
{
	const char *path = data_path(), *bad;
	sqlite3 *db = S_wal_writer(path);
	struct opened x;
	size_t n;

	(void)state;
	bad = data_copy(path, DATA_ALL);
	free(data_slurp(bad, "-wal", &n));
	/* The last commit alone: without the SHM nothing would tell. */
	data_xor(bad, "-wal", n - 10, 1);
	S_open(&x, bad, STATE_VIEW_RECOVERY, 0, true);
	assert_int_equal(x.rc, -FAULT_DAMAGED);
	assert_non_null(strstr(x.f.text, "recovery loses live commits"));
	S_close(&x);
	/* Nothing but its header, or not even a whole frame, is left. */
	for (size_t left = 32; left < 32 + 4120; left += 2000) {
		unsigned char *wal = data_slurp(path, "-wal", &n);

		bad = data_copy(path, DATA_ALL);
		data_spit(bad, "-wal", wal, left);
		free(wal);
		S_open(&x, bad, STATE_VIEW_RECOVERY, 0, true);
		assert_int_equal(x.rc, -FAULT_DAMAGED);
		assert_non_null(strstr(x.f.text,
				       "recovery loses live commits"));
		S_close(&x);
	}
	(void)sqlite3_close(db);
}

static void
a_damaged_wal_does_not_rewind_a_newer_main(void **state)
{
	const char *path = data_path(), *bad;
	sqlite3 *db = S_wal_writer(path);
	struct opened x;

	(void)state;
	data_exec(db, "PRAGMA wal_checkpoint");
	bad = data_copy(path, DATA_NO_SHM);
	data_xor(bad, "-wal", 32 + 6 * 4120 + 100, 1);
	/* Stock gives fewer rows than main alone has, and calls them ok. */
	{
		sqlite3 *stock = data_open(data_copy(bad, DATA_NO_SHM));

		assert_true(data_int(stock, "SELECT count(*) FROM t", 0) < 20);
		(void)sqlite3_close(stock);
	}
	S_open(&x, bad, STATE_VIEW_RECOVERY, 0, true);
	assert_int_equal(x.rc, -FAULT_DAMAGED);
	assert_non_null(strstr(x.f.text, "WAL frame 7 is damaged"));
	S_close(&x);
	(void)sqlite3_close(db);
}

static void
a_restarted_wal_is_live_with_no_frames(void **state)
{
	const char *path = data_path(), *mixed;
	sqlite3 *db = S_wal_writer(path);
	struct opened x;

	(void)state;
	/* As when the SHM is restarted and the WAL's header not yet written. */
	data_exec(db, "PRAGMA wal_checkpoint");
	mixed = data_copy(path, DATA_NO_SHM);
	data_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)");
	data_copy_roles(path, mixed, 1u << ROLE_SHM);
	for (int view = 0; view < 2; view++) {
		S_open(&x, mixed, (enum state_view)view, 0, true);
		assert_int_equal(S_rows(&x), 20);
		assert_true(state_facts(x.s)->live_known);
		assert_int_equal(state_facts(x.s)->live_frames, 0);
		assert_true(state_facts(x.s)->views_agree);
		S_close(&x);
	}
	S_open(&x, path, STATE_VIEW_LIVE, 0, true);
	assert_int_equal(S_rows(&x), 20);
	S_close(&x);
	(void)sqlite3_close(db);
}

static void
without_its_shm_the_live_view_is_refused(void **state)
{
	const char *path = data_path();
	sqlite3 *db = S_wal_writer(path);
	struct opened x;

	(void)state;
	S_open(&x, data_copy(path, DATA_NO_SHM), STATE_VIEW_LIVE, 0, true);
	assert_int_equal(x.rc, -FAULT_REFUSED);
	S_close(&x);
	(void)sqlite3_close(db);
}

static void
a_page_in_neither_file_is_truncation(void **state)
{
	const char *path = data_path(), *bad;
	sqlite3 *db = data_open(path);
	struct opened x;
	size_t n;
	unsigned char *main;

	(void)state;
	S_fill(db, 300, 100);
	data_exec(db, "PRAGMA journal_mode=WAL; UPDATE t SET y = 0 WHERE "
		  "id = 1");
	bad = data_copy(path, DATA_ALL);
	main = data_slurp(path, "", &n);
	data_spit(bad, "", main, n - 4096);
	S_open(&x, bad, STATE_VIEW_RECOVERY, 0, true);
	assert_int_equal(x.rc, -FAULT_DAMAGED);
	assert_non_null(strstr(x.f.text, "neither in main nor in the WAL"));
	S_close(&x);
	data_spit(bad, "", main, 0);
	S_open(&x, bad, STATE_VIEW_RECOVERY, 0, true);
	assert_int_equal(x.rc, -FAULT_DAMAGED);
	assert_non_null(strstr(x.f.text, "main is empty"));
	S_close(&x);
	free(main);
	(void)sqlite3_close(db);
}

static void
a_wal_of_another_page_size_is_anothers(void **state)
{
	const char *path = data_path(), *other = data_path();
	sqlite3 *db = S_wal_writer(path);
	sqlite3 *two = data_open(other);
	struct opened x;

	(void)state;
	data_exec(two, "PRAGMA page_size=1024; PRAGMA journal_mode=WAL; "
		  "CREATE TABLE t(x)");
	(void)sqlite3_close(two);
	data_copy_roles(path, other, 1u << ROLE_WAL);
	S_open(&x, other, STATE_VIEW_RECOVERY, 0, true);
	assert_int_equal(x.rc, -FAULT_DAMAGED);
	assert_non_null(strstr(x.f.text, "of another database"));
	S_close(&x);
	(void)sqlite3_close(db);
}

static void
a_wal_beside_a_main_in_rollback_mode_is_refused(void **state)
{
	const char *path = data_path(), *other = data_path();
	sqlite3 *db = S_wal_writer(path);
	sqlite3 *two = data_open(other);
	struct opened x;

	(void)state;
	data_exec(two, "CREATE TABLE t(x)");
	(void)sqlite3_close(two);
	data_copy_roles(path, other, 1u << ROLE_WAL);
	S_open(&x, other, STATE_VIEW_RECOVERY, 0, true);
	assert_int_equal(x.rc, -FAULT_REFUSED);
	S_close(&x);
	(void)sqlite3_close(db);
}

/* What state_open or the first full read says. */
static int
S_read_all(struct opened *x, uint64_t memory)
{
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;
	int rc = state_open(&x->s, &x->side, STATE_VIEW_RECOVERY, memory,
			    &x->f);

	(void)sqlite3_hard_heap_limit64(0);
	if (rc)
		return rc;
	assert_false(state_facts(x->s)->in_memory);
	rc = state_connect(x->s, &db, &x->f);
	if (rc)
		return rc;
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT max(x), sum(y) FROM t",
					    -1, &st, NULL), SQLITE_OK);
	rc = sqlite3_step(st);
	assert_int_not_equal(rc, SQLITE_ROW);
	rc = state_sql_fault(db, rc, "read", &x->f);
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(db);
	return rc;
}

static void
a_flipped_block_is_our_fault_not_an_io_error(void **state)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);
	size_t n;

	(void)state;
	S_fill(db, 3000, 400);
	(void)sqlite3_close(db);
	free(data_slurp(path, "", &n));
	for (int limit = 0; limit < 2; limit++)
		for (size_t at = 5000; at < n; at += n / 7) {
			struct opened x;
			char says[64];

			(void)snprintf(says, sizeof(says), "main block %zu "
				       "(offset", at / 4096);
			memset(&x, 0, sizeof(x));
			data_side(path, &x.side);
			data_blocks(&x.side);
			data_xor(path, "", at, 1);
			assert_int_equal(S_read_all(&x, limit ? 8u << 20 : 0),
					 -FAULT_DAMAGED);
			assert_non_null(strstr(x.f.text, says));
			S_close(&x);
			data_xor(path, "", at, 1);
		}
}

static void
a_connection_can_neither_write_nor_attach(void **state)
{
	static const char *const sql[] = {
		"INSERT INTO t(x) VALUES(1)", "CREATE TABLE u(a)",
		"DELETE FROM t", "PRAGMA user_version=9", "VACUUM",
		"ATTACH '/etc/passwd' AS p", "ATTACH ':memory:' AS p",
		"VACUUM INTO '/tmp/holdfast-no'",
		"SELECT load_extension('x')",
	};
	const char *path = data_path();
	sqlite3 *db = data_open(path);

	(void)state;
	S_fill(db, 3000, 400);
	(void)sqlite3_close(db);
	for (int limit = 0; limit < 2; limit++) {
		struct opened x;
		sqlite3 *c = NULL;

		S_open(&x, path, STATE_VIEW_RECOVERY, limit ? 8u << 20 : 0,
		       true);
		S_good(&x);
		assert_int_equal(state_facts(x.s)->in_memory, !limit);
		assert_int_equal(state_connect(x.s, &c, &x.f), 0);
		for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]); i++)
			assert_true(sqlite3_exec(c, sql[i], NULL, NULL, NULL)
				    != SQLITE_OK);
		assert_int_equal(data_int(c, "SELECT count(*) FROM t", 0),
				 3000);
		assert_int_equal(data_int(c, "SELECT unixepoch('now')", 0),
				 1700000000);
		(void)sqlite3_close(c);
		S_close(&x);
	}
}

struct reader {
	struct state *s;
	int64_t sum;
	int rc;
};

static void *
S_reader(void *arg)
{
	struct reader *r = arg;
	struct fault f = FAULT_INIT;
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;

	r->rc = state_connect(r->s, &db, &f);
	if (!r->rc)
		r->rc = sqlite3_prepare_v2(db, "SELECT sum(length(x)) + "
					   "sum(id) FROM t", -1, &st, NULL);
	if (!r->rc)
		r->rc = sqlite3_step(st) != SQLITE_ROW;
	if (!r->rc)
		r->sum = sqlite3_column_int64(st, 0);
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(db);
	return NULL;
}

static void
several_threads_read_one_state(void **state)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);
	int64_t sum;

	(void)state;
	data_exec(db, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0");
	S_fill(db, 4000, 300);
	sum = data_int(db, "SELECT sum(length(x)) + sum(id) FROM t", 0);
	for (int limit = 0; limit < 2; limit++) {
		struct reader r[4];
		pthread_t t[4];
		struct opened x;

		S_open(&x, path, STATE_VIEW_RECOVERY, limit ? 10u << 20 : 0,
		       true);
		S_good(&x);
		assert_int_equal(state_facts(x.s)->in_memory, !limit);
		for (int i = 0; i < 4; i++) {
			r[i] = (struct reader) { .s = x.s };
			assert_int_equal(pthread_create(&t[i], NULL, S_reader,
							&r[i]), 0);
		}
		for (int i = 0; i < 4; i++) {
			assert_int_equal(pthread_join(t[i], NULL), 0);
			assert_int_equal(r[i].rc, 0);
			assert_int_equal(r[i].sum, sum);
		}
		S_close(&x);
	}
	(void)sqlite3_close(db);
}

/* Any state that a writer can leave must recover, and as in stock. */
static void
random_work_recovers_as_in_stock_at_every_step(void **state)
{
	static const char *const step[] = {
		"INSERT INTO t(x, y) VALUES(hex(randomblob(abs(random()) % "
			"900)), random())",
		"DELETE FROM t WHERE id % 5 = abs(random()) % 5",
		"UPDATE t SET x = hex(randomblob(200)) WHERE id % 7 = 1",
		"PRAGMA wal_checkpoint",
		"PRAGMA wal_checkpoint(RESTART)",
		"PRAGMA wal_checkpoint(TRUNCATE)",
		"SAVEPOINT s; DELETE FROM t WHERE id > 20; ROLLBACK TO s; "
			"RELEASE s",
		"BEGIN; INSERT INTO t(x) SELECT x FROM t LIMIT 200; ROLLBACK",
		"PRAGMA incremental_vacuum(5)",
		"CREATE TABLE IF NOT EXISTS u AS SELECT * FROM t",
		"DROP TABLE IF EXISTS u",
		"VACUUM",
	};
	unsigned seed = 11;

	(void)state;
	for (int round = 0; round < 4; round++) {
		const char *path = data_path();
		sqlite3 *db = data_open(path);

		data_exec(db, "PRAGMA page_size=512; PRAGMA auto_vacuum=%d; "
			  "PRAGMA journal_mode=WAL; PRAGMA "
			  "wal_autocheckpoint=0; PRAGMA cache_size=10",
			  round % 3);
		S_fill(db, 60, 100);
		for (int i = 0; i < 60; i++) {
			struct opened x;
			size_t n = sizeof(step) / sizeof(step[0]);

			data_exec(db, "%s", step[(size_t)rand_r(&seed) % n]);
			S_open(&x, path, STATE_VIEW_RECOVERY, 0, false);
			S_good(&x);
			assert_true(state_facts(x.s)->live_known);
			assert_true(state_facts(x.s)->views_agree);
			S_same_text(S_content(&x), data_stock(path));
			S_close(&x);
		}
		(void)sqlite3_close(db);
	}
}

static void
a_schema_that_uses_json_is_read(void **state)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);

	(void)state;
	data_exec(db, "CREATE TABLE t(x CHECK (json_valid(x)), y AS "
		  "(json_extract(x, '$.a'))); CREATE INDEX i ON t(json(x)); "
		  "INSERT INTO t(x) VALUES('{\"a\":5}')");
	(void)sqlite3_close(db);
	S_check_as_stock(path, 0, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_page_size_and_mode_recovers_as_in_stock),
		cmocka_unit_test(above_the_limit_the_images_are_read_in_place),
		cmocka_unit_test(a_memory_limit_that_is_hit_is_named),
		cmocka_unit_test(every_encoding_is_told),
		cmocka_unit_test(an_empty_file_is_an_empty_database),
		cmocka_unit_test(the_copy_has_the_header_of_the_images),
		cmocka_unit_test(what_is_no_database_is_told_apart),
		cmocka_unit_test(a_hot_journal_is_rolled_back),
		cmocka_unit_test(a_hot_journal_shorter_than_a_sector_counts),
		cmocka_unit_test(
			a_rollback_holds_where_the_images_are_read_in_place),
		cmocka_unit_test(a_main_that_a_vacuum_cut_is_made_whole),
		cmocka_unit_test(a_super_journal_is_refused_by_name),
		cmocka_unit_test(the_live_view_stops_where_the_writer_did),
		cmocka_unit_test(live_commits_that_recovery_loses_are_damage),
		cmocka_unit_test(a_damaged_wal_does_not_rewind_a_newer_main),
		cmocka_unit_test(a_restarted_wal_is_live_with_no_frames),
		cmocka_unit_test(without_its_shm_the_live_view_is_refused),
		cmocka_unit_test(a_page_in_neither_file_is_truncation),
		cmocka_unit_test(a_wal_of_another_page_size_is_anothers),
		cmocka_unit_test(
			a_wal_beside_a_main_in_rollback_mode_is_refused),
		cmocka_unit_test(a_flipped_block_is_our_fault_not_an_io_error),
		cmocka_unit_test(a_connection_can_neither_write_nor_attach),
		cmocka_unit_test(several_threads_read_one_state),
		cmocka_unit_test(
			random_work_recovers_as_in_stock_at_every_step),
		cmocka_unit_test(a_schema_that_uses_json_is_read),
	};

	return cmocka_run_group_tests(tests, data_begin, data_end);
}
