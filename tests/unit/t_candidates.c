/*
 * t_candidates.c - what a process has open is told by its bytes
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sqlite3.h>

#include "capture/candidates.h"
#include "tests/unit/folder.h"
#include "tests/unit/targets.h"

struct fixture {
	struct folder dir;
	const char *mode;	/* journal mode of a.db */
	bool second;		/* b.db is open too, its WAL under a's name */
	bool in_transaction;
	struct shared *shared;
	pid_t pid;
	struct proc proc;
	struct candidates found;
	struct fault fault;
};

static sqlite3 *
S_open(const struct fixture *x, const char *name, const char *mode)
{
	char path[128], sql[256];
	sqlite3 *db;

	folder_path(&x->dir, name, path, sizeof(path));
	(void)snprintf(sql, sizeof(sql), "PRAGMA journal_mode=%s;"
		       "CREATE TABLE IF NOT EXISTS t(x);"
		       "INSERT INTO t VALUES(1);", mode);
	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		_exit(1);
	return db;
}

static void
S_child(struct shared *s, void *arg)
{
	struct fixture *x = arg;
	sqlite3 *a = S_open(x, "a.db", x->mode);
	int text = openat(x->dir.fd, "notes", O_RDWR | O_CREAT, 0600);

	if (text < 0 || write(text, "no database", 11) != 11)
		_exit(1);
	if (x->second)
		(void)S_open(x, "b.db", "wal");
	if (x->in_transaction &&
	    sqlite3_exec(a, "BEGIN; UPDATE t SET x = 2;", NULL, NULL, NULL))
		_exit(1);
	atomic_store(&s->ready, 1);
	for (;;)
		(void)pause();
}

static void
S_start(struct fixture *x)
{
	struct stat st;

	x->shared = target_shared();
	assert_non_null(x->shared);
	x->pid = target_fork(S_child, x->shared, x);
	assert_true(x->pid > 0);
	while (!atomic_load(&x->shared->ready)) {
		assert_int_equal(waitpid(x->pid, NULL, WNOHANG), 0);
		(void)sched_yield();
	}
	assert_int_equal(proc_open(x->pid, &x->proc, &x->fault), 0);
	assert_int_equal(fstatat(x->dir.fd, "a.db", &st, 0), 0);
	assert_int_equal(candidates_add(&x->found, &x->proc, st.st_dev,
					st.st_ino, &x->fault), 0);
}

static int
S_setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));

	if (!x || folder_make(&x->dir))
		return -1;
	x->proc = (struct proc)PROC_INIT;
	x->mode = "wal";
	*state = x;
	return 0;
}

static int
S_teardown(void **state)
{
	struct fixture *x = *state;

	candidates_free(&x->found);
	proc_close(&x->proc);
	target_kill(x->pid);
	folder_remove(&x->dir);
	free(x);
	return 0;
}

static void
S_assert_is(const struct fixture *x, size_t i, const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(x->dir.fd, name, &st, 0), 0);
	assert_true(held_is(&x->found.list[i].held, st.st_dev, st.st_ino));
}

static void
a_wal_writer_has_main_wal_and_shm_and_no_more(void **state)
{
	struct fixture *x = *state;

	S_start(x);
	assert_int_equal(x->found.count, 3);
	S_assert_is(x, 0, "a.db");
	assert_int_equal(candidates_of(&x->found, ROLE_WAL), 1);
	assert_int_equal(candidates_of(&x->found, ROLE_SHM), 1);
	assert_true(x->found.list[1].own_name && x->found.list[2].own_name);
	assert_true(x->found.list[0].locks.shared);
	assert_false(x->found.list[0].locks.exclusive);
}

static void
a_second_database_is_seen_with_its_sidecars(void **state)
{
	struct fixture *x = *state;

	x->second = true;
	S_start(x);
	assert_int_equal(candidates_of(&x->found, ROLE_MAIN), 2);
	assert_int_equal(candidates_of(&x->found, ROLE_WAL), 2);
	S_assert_is(x, 0, "a.db");
	for (size_t i = 0; i < x->found.count; i++) {
		struct stat st;

		assert_int_equal(fstatat(x->dir.fd, "b.db-wal", &st, 0), 0);
		if (held_is(&x->found.list[i].held, st.st_dev, st.st_ino))
			assert_false(x->found.list[i].own_name);
	}
}

static void
a_transaction_in_delete_mode_shows_its_journal_and_lock(void **state)
{
	struct fixture *x = *state;

	x->mode = "delete";
	x->in_transaction = true;
	S_start(x);
	assert_int_equal(candidates_of(&x->found, ROLE_JOURNAL), 1);
	assert_int_equal(candidates_of(&x->found, ROLE_WAL), 0);
	assert_true(x->found.list[0].locks.reserved);
	assert_false(x->found.list[0].locks.exclusive);
}

static void
a_file_is_read_only_here_and_the_writers_locks_stay(void **state)
{
	struct fixture *x = *state;
	struct main_locks after = MAIN_LOCKS_INIT;
	int fd;

	S_start(x);
	fd = x->found.list[0].held.pid_fd;
	assert_int_equal(fcntl(x->found.list[0].held.fd, F_GETFL) & O_ACCMODE,
			 O_RDONLY);
	candidates_free(&x->found);
	assert_int_equal(locks_of_main(&x->proc, x->proc.pid, fd, &after,
				       &x->fault), 0);
	assert_true(after.shared);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, S_setup, S_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_wal_writer_has_main_wal_and_shm_and_no_more),
		CASE(a_second_database_is_seen_with_its_sidecars),
		CASE(a_transaction_in_delete_mode_shows_its_journal_and_lock),
		CASE(a_file_is_read_only_here_and_the_writers_locks_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
