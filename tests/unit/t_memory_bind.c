/*
 * t_memory_bind.c - what the memory of a real writer says, and of a liar
 *
 * The writer is a child with two databases open. It changes structures of
 * its own as a stale or a chosen one would differ; that is the truth here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>

#include "capture/memory_bind.h"
#include "tests/unit/folder.h"
#include "tests/unit/skipped.h"
#include "tests/unit/targets.h"

#define FILE_H 6	/* as ints: unixFile's h */
#define BLOCK 8192u

struct both {
	sqlite3 *db[2];
	sqlite3_file *main[2], *wal[2];
};

struct fixture {
	struct folder dir;
	void (*change)(struct both *b);
	struct shared *shared;
	pid_t pid;
	struct proc proc;
	struct candidates found;
	struct memory_bind memory;
	int owner[CANDIDATES_MAX];
	struct fault fault;
};

static void
S_open(const struct fixture *x, struct both *b, int i)
{
	char path[128];

	folder_path(&x->dir, i ? "b.db" : "a.db", path, sizeof(path));
	if (sqlite3_open(path, &b->db[i]) != SQLITE_OK ||
	    sqlite3_exec(b->db[i], "PRAGMA journal_mode=wal;"
			 "CREATE TABLE t(x); INSERT INTO t VALUES(1);", NULL,
			 NULL, NULL) != SQLITE_OK ||
	    sqlite3_file_control(b->db[i], "main", SQLITE_FCNTL_FILE_POINTER,
				 &b->main[i]) != SQLITE_OK ||
	    sqlite3_file_control(b->db[i], "main",
				 SQLITE_FCNTL_JOURNAL_POINTER,
				 &b->wal[i]) != SQLITE_OK)
		_exit(1);
}

static void
S_child(struct shared *s, void *arg)
{
	struct fixture *x = arg;
	struct both b;

	S_open(x, &b, 0);
	S_open(x, &b, 1);
	for (uint64_t step = 1;; step++) {
		atomic_store(&s->ready, step);
		while (atomic_load(&s->sent) < step)
			(void)sched_yield();
		if (x->change)
			x->change(&b);
	}
}

static void
S_wait(struct fixture *x, uint64_t step)
{
	while (atomic_load(&x->shared->ready) < step) {
		assert_int_equal(waitpid(x->pid, NULL, WNOHANG), 0);
		(void)sched_yield();
	}
}

/* The child makes its change between the first look and the answer. */
static void
S_go_on(struct fixture *x)
{
	atomic_store(&x->shared->sent, 1);
	S_wait(x, 2);
}

static void
S_start(struct fixture *x, void (*change)(struct both *b), const char *main)
{
	struct stat st;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("a writer under a sanitizer keeps its blocks apart");
#endif
	x->change = change;
	x->pid = target_fork(S_child, x->shared, x);
	assert_true(x->pid > 0);
	S_wait(x, 1);
	assert_int_equal(proc_open(x->pid, &x->proc, &x->fault), 0);
	assert_int_equal(fstatat(x->dir.fd, main, &st, 0), 0);
	assert_int_equal(candidates_add(&x->found, &x->proc, st.st_dev,
					st.st_ino, &x->fault), 0);
	assert_int_equal(x->found.count, 6);
}

static int
S_ask(struct fixture *x)
{
	return memory_bind_owners(&x->memory, &x->proc, 1, &x->found,
				  UINT64_MAX, x->owner, &x->fault);
}

static void
S_foresee(struct fixture *x)
{
	memory_bind_foresee(&x->memory, &x->proc, &x->found, UINT64_MAX);
}

static int
S_owner(const struct fixture *x, const char *name)
{
	struct stat st;
	int i;

	assert_int_equal(fstatat(x->dir.fd, name, &st, 0), 0);
	i = candidates_find(&x->found, st.st_dev, st.st_ino);
	assert_true(i >= 0);
	return x->owner[i];
}

static int
S_setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));

	if (!x || folder_make(&x->dir))
		return -1;
	x->proc = (struct proc)PROC_INIT;
	x->shared = target_shared();
	memory_bind_init(&x->memory);
	*state = x;
	return x->shared ? 0 : -1;
}

static int
S_teardown(void **state)
{
	struct fixture *x = *state;

	memory_bind_free(&x->memory);
	candidates_free(&x->found);
	proc_close(&x->proc);
	target_kill(x->pid);
	(void)munmap(x->shared, sizeof(*x->shared));
	folder_remove(&x->dir);
	free(x);
	return 0;
}

static void
each_sidecar_has_its_own_main(void **state)
{
	struct fixture *x = *state;

	S_start(x, NULL, "a.db");
	for (int foreseen = 0; foreseen < 2; foreseen++) {
		if (foreseen)
			S_foresee(x);
		assert_int_equal(S_ask(x), 0);
		assert_int_equal(S_owner(x, "a.db-wal"), 0);
		assert_int_equal(S_owner(x, "a.db-shm"), 0);
		assert_true(S_owner(x, "b.db-wal") > 0);
		assert_int_equal(S_owner(x, "b.db-wal"),
				 S_owner(x, "b.db-shm"));
	}
}

static void
what_was_foreseen_costs_nothing_of_the_search_in_the_pause(void **state)
{
	struct fixture *x = *state;

	S_start(x, NULL, "a.db");
	S_foresee(x);
	x->memory.pause_bytes = 0;
	assert_int_equal(S_ask(x), 0);
	memory_bind_free(&x->memory);
	x->memory.pause_bytes = 0;
	assert_int_equal(S_ask(x), 1);
	assert_int_equal(S_owner(x, "a.db-wal"), MEMORY_UNKNOWN);
	assert_non_null(strstr(x->memory.silent, "more than"));
}

static void
S_take_the_others(struct both *b)
{
	((int *)b->wal[0])[FILE_H] = ((int *)b->wal[1])[FILE_H];
}

static void
a_wal_that_two_mains_claim_is_nobodys(void **state)
{
	struct fixture *x = *state;

	S_start(x, S_take_the_others, "a.db");
	S_foresee(x);
	S_go_on(x);
	assert_int_equal(S_ask(x), 1);
	assert_int_equal(S_owner(x, "a.db-wal"), MEMORY_UNKNOWN);
	assert_int_equal(S_owner(x, "b.db-wal"), MEMORY_UNKNOWN);
	assert_non_null(strstr(x->memory.silent, "two answers"));
}

static void
S_close_one(struct both *b)
{
	if (sqlite3_close(b->db[1]) != SQLITE_OK)
		_exit(1);
}

static void
a_place_that_was_closed_since_is_searched_again(void **state)
{
	struct fixture *x = *state;

	S_start(x, S_close_one, "a.db");
	S_foresee(x);
	S_go_on(x);
	candidates_free(&x->found);
	{
		struct stat st;

		assert_int_equal(fstatat(x->dir.fd, "a.db", &st, 0), 0);
		assert_int_equal(candidates_add(&x->found, &x->proc,
						st.st_dev, st.st_ino,
						&x->fault), 0);
	}
	assert_int_equal(S_ask(x), 0);
	assert_true(x->memory.pause_bytes < MEMORY_PAUSE_BYTES);
	assert_int_equal(S_owner(x, "a.db-wal"), 0);
}

/* A pointer into what was copied points into the copy. */
static void
S_move(uint64_t *word, size_t n, uint64_t from, uint64_t bytes, uint64_t to)
{
	for (size_t i = 0; i < n; i++)
		if (word[i] - from < bytes)
			word[i] = word[i] - from + to;
}

/*
 * As rows in a page cache could be: a copy of the first database's Pager and
 * file, and behind it a Wal whose file is the second one's.
 */
static uint64_t *volatile forged;	/* so that it is really written */

static void
S_forge(struct both *b)
{
	uint64_t *copy = forged = aligned_alloc(BLOCK, BLOCK);
	uint64_t main = (uint64_t)(uintptr_t)b->main[0];
	uint64_t from = main - 2048, to, wal;

	if (!copy)
		_exit(1);
	memset(copy, 0, BLOCK);
	memcpy(copy, (const void *)(uintptr_t)from, 2048 + 512);
	to = (uint64_t)(uintptr_t)copy;
	wal = to + 4096;
	S_move(copy, 256, main, 512, to + 2048);
	for (size_t i = 0; i < 256; i++) {
		uint64_t named = (uint64_t)(uintptr_t)b->wal[0];

		/* pWal: the Wal has its file right behind it. */
		if (copy[i] < named && named - copy[i] <= 1024)
			copy[i] = wal;
	}
	copy[512] = copy[256 + 1];
	copy[513] = to + 2048;
	copy[514] = wal + 160;
	memcpy(&copy[512 + 20], b->wal[1], 64);
}

static void
a_forged_connection_makes_it_ambiguous_and_never_another_wal(void **state)
{
	struct fixture *x = *state;

	S_start(x, S_forge, "a.db");
	S_go_on(x);
	assert_int_equal(S_ask(x), -FAULT_AMBIGUOUS);
	assert_non_null(strstr(x->fault.text, "two of them"));
}

static void
a_wal_that_a_forged_connection_claims_is_nobodys(void **state)
{
	struct fixture *x = *state;

	S_start(x, S_forge, "b.db");
	S_go_on(x);
	assert_int_equal(S_ask(x), 1);
	assert_int_equal(S_owner(x, "b.db-wal"), MEMORY_UNKNOWN);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, S_setup, S_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(each_sidecar_has_its_own_main),
		CASE(what_was_foreseen_costs_nothing_of_the_search_in_the_pause),
		CASE(a_wal_that_two_mains_claim_is_nobodys),
		CASE(a_place_that_was_closed_since_is_searched_again),
		CASE(a_forged_connection_makes_it_ambiguous_and_never_another_wal),
		CASE(a_wal_that_a_forged_connection_claims_is_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
