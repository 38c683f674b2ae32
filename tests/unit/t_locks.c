/*
 * t_locks.c - SQLite's own locks are seen for what they are
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "capture/locks.h"
#include "tests/unit/targets.h"

#define PENDING 0x40000000

static char path[] = "/tmp/t_locks.XXXXXX";

static int
S_make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	(void)close(fd);
	return 0;
}

static int
S_remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

struct wish {
	const char *sql;	/* run by SQLite, or NULL */
	short type;		/* else this lock from first, len bytes long */
	off_t first, len;
	bool ofd;
	int fd;			/* where the child has the file */
};

/* The child's descriptors of the file: 100 and, if it must be, 101. */
static void
S_lock(struct shared *s, void *arg)
{
	struct wish *w = arg;
	struct flock l = { .l_type = w->type, .l_whence = SEEK_SET,
			   .l_start = w->first, .l_len = w->len };
	int fd = open(path, O_RDWR);

	(void)dup2(fd, 100);
	if (fcntl(100, w->ofd ? F_OFD_SETLK : F_SETLK, &l) == 0)
		atomic_store(&s->ready, 1);
	for (;;)
		(void)pause();
}

/* SQLite opens main as the lowest free number: all below are taken. */
static void
S_run_sql(struct shared *s, void *arg)
{
	struct wish *w = arg;
	sqlite3 *db;
	int null = open("/dev/null", O_RDONLY);

	for (int fd = 3; fd < 100; fd++)
		(void)dup2(null, fd);
	(void)close(100);
	if (sqlite3_open(path, &db) == SQLITE_OK
	    && sqlite3_exec(db, w->sql, NULL, NULL, NULL) == SQLITE_OK)
		atomic_store(&s->ready, 1);
	for (;;)
		(void)pause();
}

static struct main_locks
S_seen(struct wish w)
{
	struct fault f = FAULT_INIT;
	struct main_locks found = MAIN_LOCKS_INIT;
	struct shared *s = target_shared();
	pid_t pid = target_fork(w.sql ? S_run_sql : S_lock, s, &w);
	bool ready = BECOMES(atomic_load(&s->ready) == 1);
	OWN_PROC(p);

	assert_true(ready);
	assert_int_equal(proc_open(pid, &p, &f), 0);
	if (locks_of_main(&p, p.pid, 100, &found, &f))
		fail_msg("%s", f.text);
	target_kill(pid);
	(void)munmap(s, sizeof(*s));
	return found;
}

static void
S_assert(struct main_locks l, bool shared, bool reserved, bool pending,
	 bool exclusive)
{
	assert_int_equal(l.shared, shared);
	assert_int_equal(l.reserved, reserved);
	assert_int_equal(l.pending, pending);
	assert_int_equal(l.exclusive, exclusive);
}

static void
sqlite_without_a_transaction_has_no_lock(void **state)
{
	(void)state;
	S_assert(S_seen((struct wish){ .sql = "CREATE TABLE t(x)" }),
		 false, false, false, false);
}

static void
sqlite_in_a_read_has_shared(void **state)
{
	(void)state;
	S_assert(S_seen((struct wish){ .sql = "INSERT INTO t VALUES (1);"
		 "PRAGMA locking_mode=EXCLUSIVE; SELECT * FROM t" }),
		 true, false, false, false);
}

static void
sqlite_in_begin_immediate_has_shared_and_reserved(void **state)
{
	(void)state;
	S_assert(S_seen((struct wish){ .sql = "BEGIN IMMEDIATE" }),
		 true, true, false, false);
}

static void
sqlite_in_begin_exclusive_has_all_for_writing(void **state)
{
	(void)state;
	S_assert(S_seen((struct wish){ .sql = "BEGIN EXCLUSIVE" }),
		 false, true, true, true);
}

static void
each_byte_range_means_its_lock(void **state)
{
	(void)state;
	S_assert(S_seen((struct wish){ .type = F_WRLCK, .first = PENDING,
				       .len = 1 }),
		 false, false, true, false);
	S_assert(S_seen((struct wish){ .type = F_WRLCK, .first = PENDING + 1,
				       .len = 1 }),
		 false, true, false, false);
	S_assert(S_seen((struct wish){ .type = F_WRLCK, .first = PENDING + 511,
				       .len = 1 }),
		 false, false, false, true);
	S_assert(S_seen((struct wish){ .type = F_RDLCK, .first = PENDING + 2,
				       .len = 510 }),
		 true, false, false, false);
	/* Below and behind SQLite's bytes. */
	S_assert(S_seen((struct wish){ .type = F_WRLCK, .first = 0,
				       .len = PENDING }),
		 false, false, false, false);
	S_assert(S_seen((struct wish){ .type = F_WRLCK, .first = PENDING + 512,
				       .len = 0 }),
		 false, false, false, false);
}

static void
a_lock_to_the_end_of_the_file_covers_all(void **state)
{
	(void)state;
	S_assert(S_seen((struct wish){ .type = F_WRLCK, .first = 0 }),
		 false, true, true, true);
}

static void
open_file_description_locks_count(void **state)
{
	(void)state;
	S_assert(S_seen((struct wish){ .type = F_WRLCK, .first = PENDING + 2,
				       .len = 510, .ofd = true }),
		 false, false, false, true);
}

static void
what_was_found_before_is_kept(void **state)
{
	struct fault f = FAULT_INIT;
	struct main_locks found = { .reserved = true };
	OWN_PROC(p);
	OWN_FD(fd);

	(void)state;
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(proc_open(getpid(), &p, &f), 0);
	assert_int_equal(locks_of_main(&p, p.pid, fd, &found, &f), 0);
	S_assert(found, false, true, false, false);
}

/* As a thread of the target, with a table that the leader does not share. */
static void *
S_lock_alone(void *arg)
{
	struct shared *s = arg;
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
			   .l_start = 0x40000001, .l_len = 1 };
	int fd;

	if (unshare(CLONE_FILES) == 0) {
		fd = open(path, O_RDWR);
		if (dup2(fd, 100) == 100 && fcntl(100, F_SETLK, &l) == 0)
			atomic_store(&s->ready, (uint64_t)gettid());
	}
	(void)pause();
	return NULL;
}

static void
S_lock_in_a_thread(struct shared *s, void *arg)
{
	pthread_t thread;

	(void)arg;
	(void)pthread_create(&thread, NULL, S_lock_alone, s);
	for (;;)
		(void)pause();
}

static void
a_lock_in_a_threads_own_table_is_seen_there(void **state)
{
	struct fault f = FAULT_INIT;
	struct main_locks found = MAIN_LOCKS_INIT;
	struct shared *s = target_shared();
	pid_t pid = target_fork(S_lock_in_a_thread, s, NULL);
	bool ready = BECOMES(atomic_load(&s->ready) > 1);
	OWN_PROC(p);

	(void)state;
	assert_true(ready);
	assert_int_equal(proc_open(pid, &p, &f), 0);
	assert_int_equal(locks_of_main(&p, pid, 100, &found, &f),
			 -FAULT_UNSTABLE);
	assert_int_equal(locks_of_main(&p, (pid_t)atomic_load(&s->ready), 100,
				       &found, &f), 0);
	S_assert(found, false, true, false, false);
	target_kill(pid);
	(void)munmap(s, sizeof(*s));
}

static void
a_descriptor_that_is_not_open_is_unstable(void **state)
{
	struct fault f = FAULT_INIT;
	struct main_locks found = MAIN_LOCKS_INIT;
	OWN_PROC(p);

	(void)state;
	assert_int_equal(proc_open(getpid(), &p, &f), 0);
	assert_int_equal(locks_of_main(&p, p.pid, 999, &found, &f),
			 -FAULT_UNSTABLE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sqlite_without_a_transaction_has_no_lock),
		cmocka_unit_test(sqlite_in_a_read_has_shared),
		cmocka_unit_test(
			sqlite_in_begin_immediate_has_shared_and_reserved),
		cmocka_unit_test(sqlite_in_begin_exclusive_has_all_for_writing),
		cmocka_unit_test(each_byte_range_means_its_lock),
		cmocka_unit_test(a_lock_to_the_end_of_the_file_covers_all),
		cmocka_unit_test(open_file_description_locks_count),
		cmocka_unit_test(what_was_found_before_is_kept),
		cmocka_unit_test(a_lock_in_a_threads_own_table_is_seen_there),
		cmocka_unit_test(a_descriptor_that_is_not_open_is_unstable),
	};

	return cmocka_run_group_tests(tests, S_make_file, S_remove_file);
}
