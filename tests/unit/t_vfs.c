/*
 * t_vfs.c - SQLite sees the held images and nothing else
 */
#include "recover/vfs.h"

#include "recover/overlay.h"
#include "tests/unit/recover_data.h"

struct held {
	struct ask_side side;
	struct images *im;
	struct vfs *v;
	struct fault f;
};

static void
S_hold(struct held *x, const char *path, bool journal)
{
	struct vfs_options o = {
		.journal = journal, .wal = true, .memory = 1u << 20,
		.now_ns = 981173106123456789ull
	};

	memset(x, 0, sizeof(*x));
	data_side(path, &x->side);
	assert_int_equal(images_open(&x->im, &x->side, &x->f), 0);
	o.images = x->im;
	o.wal_bytes = images_size(x->im, ROLE_WAL);
	assert_int_equal(vfs_new(&x->v, &o, &x->f), 0);
}

static void
S_let_go(struct held *x)
{
	vfs_free(x->v);
	images_free(x->im);
	data_close(&x->side);
}

static int
S_try(const struct held *x, const char *name, int flags, sqlite3 **db)
{
	int rc = sqlite3_open_v2(name, db, flags, vfs_images_name(x->v));

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(*db, "PRAGMA schema_version", NULL, NULL,
				  NULL);
	return rc;
}

static const char *
S_database(bool wal)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);

	data_exec(db, "PRAGMA journal_mode=%s; CREATE TABLE t(x); "
		  "INSERT INTO t VALUES(1),(2)", wal ? "WAL" : "DELETE");
	(void)sqlite3_close(db);
	return path;
}

static void
after_setup_nothing_can_be_opened_by_default(void **state)
{
	const char *path = S_database(false);
	sqlite3 *db = NULL;

	(void)state;
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY,
					 NULL), SQLITE_CANTOPEN);
	(void)sqlite3_close(db);
	assert_int_equal(sqlite3_open_v2(VFS_MAIN, &db, SQLITE_OPEN_READONLY,
					 NULL), SQLITE_CANTOPEN);
	(void)sqlite3_close(db);
	/* Put back by the test's own setup; the others must be gone. */
	assert_null(sqlite3_vfs_find("unix-none"));
	assert_null(sqlite3_vfs_find("unix-excl"));
	assert_null(sqlite3_vfs_find("unix-dotfile"));
}

static void
only_three_names_exist(void **state)
{
	static const char *const name[] = {
		"/etc/passwd", "/main2", "main", "/main-shm", "/main-mj01",
		"file:/main", "/main?vfs=unix"
	};
	const char *path = S_database(false);
	struct held x;
	sqlite3_vfs *vfs;
	sqlite3 *db = NULL;
	int there;

	(void)state;
	S_hold(&x, path, false);
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		assert_int_equal(S_try(&x, name[i], SQLITE_OPEN_READONLY,
				       &db), SQLITE_CANTOPEN);
		(void)sqlite3_close(db);
	}
	vfs = sqlite3_vfs_find(vfs_images_name(x.v));
	assert_int_equal(vfs->xAccess(vfs, "/main-journal", 0, &there), 0);
	assert_false(there);
	assert_int_equal(vfs->xAccess(vfs, "/etc/passwd", 0, &there), 0);
	assert_false(there);
	assert_int_equal(vfs->xAccess(vfs, "/main-wal", 0, &there), 0);
	assert_true(there);
	assert_int_not_equal(vfs->xDelete(vfs, "/main", 0), SQLITE_OK);
	assert_int_not_equal(vfs->xDelete(vfs, "/main-wal", 0), SQLITE_OK);
	S_let_go(&x);
}

static void
a_wal_main_without_its_wal_has_an_empty_one(void **state)
{
	const char *path = S_database(true);
	struct held x;
	sqlite3 *db = NULL;

	(void)state;
	S_hold(&x, path, false);
	assert_false(images_has(x.im, ROLE_WAL));
	assert_int_equal(S_try(&x, VFS_MAIN, SQLITE_OPEN_READONLY, &db), 0);
	assert_int_equal(data_int(db, "SELECT sum(x) FROM t", 0), 3);
	(void)sqlite3_close(db);
	S_let_go(&x);
}

static void
main_is_read_only_whatever_was_asked(void **state)
{
	const char *path = S_database(true);
	struct held x;
	sqlite3 *db = NULL;
	size_t n;
	unsigned char *before = data_slurp(path, "", &n), *after;

	(void)state;
	S_hold(&x, path, false);
	assert_int_equal(S_try(&x, VFS_MAIN, SQLITE_OPEN_READWRITE, &db), 0);
	assert_int_equal(sqlite3_db_readonly(db, "main"), 1);
	assert_int_equal(sqlite3_exec(db, "INSERT INTO t VALUES(3)", NULL,
				      NULL, NULL), SQLITE_READONLY);
	assert_int_not_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint(FULL)",
					  NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(db);
	S_let_go(&x);
	after = data_slurp(path, "", &n);
	assert_memory_equal(before, after, n);
	free(before);
	free(after);
}

static void
now_is_the_captures_time_everywhere(void **state)
{
	static const char sql[] = "SELECT unixepoch('now')";
	const char *path = S_database(false);
	struct held x;
	sqlite3 *db = NULL;

	(void)state;
	S_hold(&x, path, false);
	assert_int_equal(S_try(&x, VFS_MAIN, SQLITE_OPEN_READONLY, &db), 0);
	assert_int_equal(data_int(db, sql, 0), 981173106);
	(void)sqlite3_close(db);
	assert_int_equal(sqlite3_open_v2("/shared", &db, SQLITE_OPEN_READWRITE |
					 SQLITE_OPEN_CREATE,
					 vfs_memory_name(x.v)), SQLITE_OK);
	assert_int_equal(data_int(db, sql, 0), 981173106);
	(void)sqlite3_close(db);
	S_let_go(&x);
}

static void
a_rollback_writes_to_memory_alone_and_once(void **state)
{
	const char *path = S_database(false);
	struct held x;
	sqlite3 *db = NULL;
	size_t n;
	unsigned char *before, *after;

	(void)state;
	db = data_open(path);
	data_exec(db, "WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n "
		  "WHERE i < 300) INSERT INTO t SELECT randomblob(300) "
		  "FROM n");
	(void)sqlite3_close(db);
	data_crash(path, "PRAGMA cache_size=5; BEGIN; DELETE FROM t");
	before = data_slurp(path, "", &n);
	S_hold(&x, path, true);
	assert_int_equal(S_try(&x, VFS_MAIN, SQLITE_OPEN_READWRITE, &db), 0);
	assert_int_equal(data_int(db, "SELECT count(*) FROM t", 0), 302);
	assert_true(vfs_journal_gone(x.v));
	(void)sqlite3_close(db);
	vfs_freeze(x.v);
	/* The next one finds it done, and may not write. */
	assert_int_equal(S_try(&x, VFS_MAIN, SQLITE_OPEN_READWRITE, &db), 0);
	assert_int_equal(data_int(db, "SELECT count(*) FROM t", 0), 302);
	assert_int_equal(sqlite3_db_readonly(db, "main"), 1);
	(void)sqlite3_close(db);
	S_let_go(&x);
	after = data_slurp(path, "", &n);
	assert_memory_equal(before, after, n);
	free(before);
	free(after);
}

#define SPACE 40000u

static void
an_overlay_is_a_file(void **state)
{
	const char *path = data_path();
	unsigned char *model = calloc(1, SPACE), *got = malloc(SPACE);
	unsigned char *bytes = malloc(SPACE);
	struct images_reader *r = NULL;
	struct fault f = FAULT_INIT;
	struct overlay *o = NULL;
	struct held x;
	size_t size = 23456;
	unsigned seed = 5;

	(void)state;
	for (size_t i = 0; i < size; i++)
		model[i] = (unsigned char)rand_r(&seed);
	data_spit(path, "", model, size);
	S_hold(&x, path, false);
	assert_int_equal(images_reader_new(&r, x.im, &f), 0);
	assert_int_equal(overlay_new(&o, x.im, 1u << 20, &f), 0);
	for (int i = 0; i < 3000; i++) {
		size_t at = (size_t)rand_r(&seed) % SPACE;
		size_t n = (size_t)rand_r(&seed) % (i % 2 ? 700 : 9000);

		if (n > SPACE - at)
			n = SPACE - at;
		if (i % 7 == 0) {
			assert_int_equal(overlay_truncate(o, r, at, &f), 0);
			if (at < size)
				memset(model + at, 0, SPACE - at);
			size = at;
		} else {
			for (size_t k = 0; k < n; k++)
				bytes[k] = (unsigned char)rand_r(&seed);
			assert_int_equal(overlay_write(o, r, at, bytes, n, &f),
					 0);
			memcpy(model + at, bytes, n);
			if (n && at + n > size)
				size = at + n;
		}
		assert_int_equal(overlay_size(o), size);
		assert_int_equal(overlay_read(o, r, 0, got, size, &f), 0);
		assert_memory_equal(got, model, size);
	}
	overlay_free(o);
	images_reader_free(r);
	S_let_go(&x);
	free(model);
	free(got);
	free(bytes);
}

static void
an_overlay_keeps_to_its_memory(void **state)
{
	const char *path = S_database(false);
	struct images_reader *r = NULL;
	struct fault f = FAULT_INIT;
	struct overlay *o = NULL;
	struct held x;
	int rc = 0;

	(void)state;
	S_hold(&x, path, false);
	assert_int_equal(images_reader_new(&r, x.im, &f), 0);
	assert_int_equal(overlay_new(&o, x.im, 50000, &f), 0);
	for (uint64_t i = 0; !rc && i < 20; i++)
		rc = overlay_write(o, r, i * 4096, "x", 1, &f);
	assert_int_equal(rc, -FAULT_CAP);
	assert_non_null(strstr(f.text, "--memory-limit"));
	overlay_free(o);
	images_reader_free(r);
	S_let_go(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_setup_nothing_can_be_opened_by_default),
		cmocka_unit_test(only_three_names_exist),
		cmocka_unit_test(a_wal_main_without_its_wal_has_an_empty_one),
		cmocka_unit_test(main_is_read_only_whatever_was_asked),
		cmocka_unit_test(now_is_the_captures_time_everywhere),
		cmocka_unit_test(a_rollback_writes_to_memory_alone_and_once),
		cmocka_unit_test(an_overlay_is_a_file),
		cmocka_unit_test(an_overlay_keeps_to_its_memory),
	};

	return cmocka_run_group_tests(tests, data_begin, data_end);
}
