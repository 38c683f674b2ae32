/*
 * t_names.c - names are looked at to notice that they lie
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/names.h"
#include "tests/unit/folder.h"

struct fixture {
	struct folder dir;
	struct names names;
	struct held held[ROLE_COUNT];
	struct inode_id quiet;
	struct fault fault;
};

static int
S_setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	char path[128];

	if (!x || folder_make(&x->dir))
		return -1;
	x->names = (struct names)NAMES_INIT;
	for (enum role r = 0; r < ROLE_COUNT; r++)
		x->held[r] = (struct held){ .fd = -1, .role = r };
	*state = x;
	if (folder_write(&x->dir, "a.db", "main", 4) ||
	    folder_write(&x->dir, "a.db-wal", "wal", 3))
		return -1;
	return names_open(&x->names, folder_path(&x->dir, "a.db", path,
						 sizeof(path)), &x->fault);
}

static int
S_teardown(void **state)
{
	struct fixture *x = *state;

	for (enum role r = 0; r < ROLE_COUNT; r++)
		held_free(&x->held[r]);
	names_free(&x->names);
	folder_remove(&x->dir);
	free(x);
	return 0;
}

static void
S_hold(struct fixture *x, enum role r, const char *name)
{
	struct held *h = &x->held[r];

	h->fd = openat(x->dir.fd, name, O_RDONLY | O_CLOEXEC);
	assert_true(h->fd >= 0);
	assert_int_equal(fstat(h->fd, &h->st), 0);
	h->pid = getpid();
	h->pid_fd = h->fd;
}

static void
S_hold_both(struct fixture *x)
{
	S_hold(x, ROLE_MAIN, "a.db");
	S_hold(x, ROLE_WAL, "a.db-wal");
}

static int
S_look_and_judge(struct fixture *x, enum role *idle)
{
	assert_int_equal(names_look(&x->names, &x->fault), 0);
	return names_judge(&x->names, x->held, &x->quiet, idle, &x->fault);
}

static void
names_that_are_the_held_inodes_agree(void **state)
{
	struct fixture *x = *state;
	enum role idle;

	S_hold_both(x);
	assert_int_equal(S_look_and_judge(x, &idle), 0);
}

static void
a_substituted_wal_is_refused_with_both_inodes(void **state)
{
	struct fixture *x = *state;
	char held[64], found[64];
	struct stat st;
	enum role idle;

	S_hold_both(x);
	assert_int_equal(folder_write(&x->dir, "evil", "evil", 4), 0);
	assert_int_equal(fstatat(x->dir.fd, "evil", &st, 0), 0);
	assert_int_equal(renameat(x->dir.fd, "evil", x->dir.fd, "a.db-wal"),
			 0);
	assert_int_equal(S_look_and_judge(x, &idle), -FAULT_REFUSED);
	(void)snprintf(held, sizeof(held), "%ju:%ju",
		       (uintmax_t)x->held[ROLE_WAL].st.st_dev,
		       (uintmax_t)x->held[ROLE_WAL].st.st_ino);
	(void)snprintf(found, sizeof(found), "%ju:%ju",
		       (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	assert_non_null(strstr(x->fault.text, "substituted wal"));
	assert_non_null(strstr(x->fault.text, held));
	assert_non_null(strstr(x->fault.text, found));
}

static void
an_unlinked_wal_is_refused_as_displaced(void **state)
{
	struct fixture *x = *state;
	enum role idle;

	S_hold_both(x);
	assert_int_equal(unlinkat(x->dir.fd, "a.db-wal", 0), 0);
	assert_int_equal(S_look_and_judge(x, &idle), -FAULT_REFUSED);
	assert_non_null(strstr(x->fault.text, "displaced wal"));
}

static void
a_sidecar_that_only_a_name_shows_is_reported_idle(void **state)
{
	struct fixture *x = *state;
	enum role idle = ROLE_MAIN;

	S_hold(x, ROLE_MAIN, "a.db");
	assert_int_equal(S_look_and_judge(x, &idle), 1);
	assert_int_equal(idle, ROLE_WAL);
}

static void
an_empty_sidecar_by_name_counts_as_none(void **state)
{
	struct fixture *x = *state;
	enum role idle;

	S_hold(x, ROLE_MAIN, "a.db");
	assert_int_equal(folder_write(&x->dir, "a.db-wal", "", 0), 0);
	assert_int_equal(S_look_and_judge(x, &idle), 0);
}

static void
a_journal_that_undoes_nothing_is_not_idle(void **state)
{
	struct fixture *x = *state;
	struct stat st;
	enum role idle = ROLE_MAIN;

	S_hold_both(x);
	assert_int_equal(folder_write(&x->dir, "a.db-journal", "j", 1), 0);
	assert_int_equal(S_look_and_judge(x, &idle), 1);
	assert_int_equal(idle, ROLE_JOURNAL);
	assert_int_equal(fstatat(x->dir.fd, "a.db-journal", &st, 0), 0);
	x->quiet = (struct inode_id){ st.st_dev, st.st_ino };
	assert_int_equal(S_look_and_judge(x, &idle), 0);
}

static void
a_fifo_in_a_sidecars_place_is_refused(void **state)
{
	struct fixture *x = *state;
	enum role idle;

	S_hold_both(x);
	assert_int_equal(mkfifoat(x->dir.fd, "a.db-journal", 0600), 0);
	assert_int_equal(S_look_and_judge(x, &idle), -FAULT_REFUSED);
	assert_non_null(strstr(x->fault.text, "FIFO"));
}

static void
a_name_that_moves_between_two_looks_is_noticed(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(names_still(&x->names, &x->fault), 0);
	assert_int_equal(renameat(x->dir.fd, "a.db-wal", x->dir.fd, "b"), 0);
	assert_int_equal(names_still(&x->names, &x->fault), -FAULT_UNSTABLE);
	assert_non_null(strstr(x->fault.text, "a.db-wal"));
}

static void
a_deleted_mark_is_taken_off_unless_a_file_is_called_so(void **state)
{
	struct fixture *x = *state;
	struct names n = NAMES_INIT;
	char path[128];

	folder_path(&x->dir, "a.db (deleted)", path, sizeof(path));
	assert_int_equal(names_open_link(&n, -1, path, &x->fault), 0);
	assert_true(n.gone);
	assert_string_equal(n.base, "a.db");
	names_free(&n);
	n = (struct names)NAMES_INIT;
	assert_int_equal(folder_write(&x->dir, "a.db (deleted)", "x", 1), 0);
	assert_int_equal(names_open_link(&n, -1, path, &x->fault), 0);
	assert_false(n.gone);
	assert_string_equal(n.base, "a.db (deleted)");
	names_free(&n);
}

static void
a_name_that_we_opened_and_that_moved_is_unstable(void **state)
{
	struct fixture *x = *state;
	enum role idle;

	S_hold_both(x);
	x->held[ROLE_MAIN].pid = 0;
	x->held[ROLE_MAIN].pid_fd = -1;
	assert_int_equal(unlinkat(x->dir.fd, "a.db", 0), 0);
	assert_int_equal(S_look_and_judge(x, &idle), -FAULT_UNSTABLE);
	assert_null(strstr(x->fault.text, "process"));
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, S_setup, S_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(names_that_are_the_held_inodes_agree),
		CASE(a_substituted_wal_is_refused_with_both_inodes),
		CASE(an_unlinked_wal_is_refused_as_displaced),
		CASE(a_name_that_we_opened_and_that_moved_is_unstable),
		CASE(a_sidecar_that_only_a_name_shows_is_reported_idle),
		CASE(an_empty_sidecar_by_name_counts_as_none),
		CASE(a_journal_that_undoes_nothing_is_not_idle),
		CASE(a_fifo_in_a_sidecars_place_is_refused),
		CASE(a_name_that_moves_between_two_looks_is_noticed),
		CASE(a_deleted_mark_is_taken_off_unless_a_file_is_called_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
