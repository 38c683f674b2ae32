/*
 * t_lease_ops.c - what an owner may and may not do, at any time of any boot
 */
#include "tests/unit/lease_data.h"

#include "lease/path.h"

static struct lease_data S_data;
static struct lease_data *const d = &S_data;

static int
S_setup(void **state)
{
	(void)state;
	lease_setup(d);
	assert_int_equal(lease_open(d), 0);
	return 0;
}

static int
S_teardown(void **state)
{
	(void)state;
	lease_teardown(d);
	return 0;
}

#define ROWS "SELECT count(*) FROM held"

static void
the_life_of_two_epochs(void **state)
{
	(void)state;
	assert_int_equal(lease_acquire(d, "s", "old", "/w/a"),
			 OUTCOME_ACQUIRED);
	assert_int_equal(lease_acquire(d, "s", "new", "/w/a"),
			 OUTCOME_BLOCKED);
	assert_int_equal(lease_release(d, "s", "old", NULL), 1);
	assert_int_equal(lease_acquire(d, "s", "new", "/w/a"),
			 OUTCOME_ACQUIRED);
	assert_int_equal(lease_release(d, "s", "old", NULL), 0);
	assert_int_equal(lease_number(d, ROWS), 1);
	assert_int_equal(lease_release(d, "s", "new", NULL), 1);
	assert_int_equal(lease_number(d, ROWS), 0);
}

static void
a_release_takes_exactly_the_rows_of_its_owner(void **state)
{
	enum outcome o;

	(void)state;
	assert_int_equal(lease_acquire(d, "s", "e", "/w/a"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_acquire(d, "s", "", "/w/b"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_acquire(d, "t", "e", "/w/c"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_release(d, "s", "f", &o), 0);
	assert_int_equal(o, OUTCOME_EPOCH_MISMATCH);
	assert_int_equal(lease_release(d, "nobody", "e", &o), 0);
	assert_int_equal(o, OUTCOME_ABSENT);
	assert_int_equal(lease_number(d, ROWS), 3);
	assert_int_equal(lease_release(d, "s", "", &o), 1);
	assert_int_equal(o, OUTCOME_RELEASED);
	assert_int_equal(lease_number(d, ROWS " WHERE session = 's' AND"
				      " epoch = 'e'"), 1);
	assert_int_equal(lease_release(d, "s", "e", NULL), 1);
	assert_int_equal(lease_number(d, ROWS), 1);
}

/* The finding of the review, in the direction that its tests left out. */
static void
a_tokened_release_never_frees_a_native_empty_epoch(void **state)
{
	(void)state;
	assert_int_equal(lease_acquire(d, "s", "", "/w/a"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_release(d, "s", "token", NULL), 0);
	assert_int_equal(lease_number(d, ROWS), 1);
}

static void
folders_and_what_is_below_them_conflict(void **state)
{
	(void)state;
	assert_int_equal(lease_acquire(d, "a", "", "/w/x"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_acquire(d, "b", "", "/w/x/y/z"),
			 OUTCOME_BLOCKED);
	assert_int_equal(lease_acquire(d, "b", "", "/w"), OUTCOME_BLOCKED);
	assert_int_equal(lease_acquire(d, "b", "", "/w/x"), OUTCOME_BLOCKED);
	/* Neighbours in the order of bytes: '-' and '0' enclose '/'. */
	assert_int_equal(lease_acquire(d, "b", "", "/w/x-"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_acquire(d, "b", "", "/w/x0"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_acquire(d, "a", "", "/w/x/y"),
			 OUTCOME_ACQUIRED);
}

static void
all_paths_or_none(void **state)
{
	(void)state;
	assert_int_equal(lease_acquire(d, "a", "", "/w/b"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_acquire2(d, "b", "", 60, "/w/a", "/w/b", NULL),
			 OUTCOME_BLOCKED);
	assert_int_equal(lease_number(d, ROWS), 1);
	assert_int_equal(lease_number(d, "SELECT count(*) FROM events"), 1);
}

static void
a_second_acquire_keeps_fence_and_acquired_and_moves_the_expiry(void **state)
{
	int64_t first = 0, again = 0, more = 0;

	(void)state;
	assert_int_equal(lease_acquire2(d, "a", "", 60, "/w/a", NULL, &first),
			 OUTCOME_ACQUIRED);
	lease_later(d, 10);
	assert_int_equal(lease_acquire2(d, "a", "", 60, "/w/a", NULL, &again),
			 OUTCOME_ACQUIRED);
	assert_int_equal(again, first);
	assert_int_equal(lease_number(d, "SELECT acquired FROM held"),
			 1000 * SECOND);
	assert_int_equal(lease_number(d, "SELECT expires FROM held"),
			 1070 * SECOND);
	/* Never back: whoever reads the first answer may rely on it. */
	assert_int_equal(lease_acquire2(d, "a", "", 1, "/w/a", "/w/b", &more),
			 OUTCOME_ACQUIRED);
	assert_true(more > first);
	assert_int_equal(lease_number(d, "SELECT expires FROM held"
				      " WHERE resource = '/w/a'"),
			 1070 * SECOND);
}

static void
an_expired_lease_is_taken_over_with_a_higher_fence(void **state)
{
	int64_t first = 0, second = 0;

	(void)state;
	assert_int_equal(lease_acquire2(d, "a", "", 60, "/w/a", NULL, &first),
			 OUTCOME_ACQUIRED);
	lease_later(d, 59);
	assert_int_equal(lease_acquire(d, "b", "", "/w/a"), OUTCOME_BLOCKED);
	lease_later(d, 1);
	assert_int_equal(lease_acquire2(d, "b", "", 60, "/w/a", NULL, &second),
			 OUTCOME_ACQUIRED);
	assert_true(second > first);
	assert_int_equal(lease_release(d, "a", "", NULL), 0);
	assert_int_equal(lease_number(d, "SELECT count(*) FROM events WHERE"
				      " kind = 'expired' AND fence = 1"), 1);
}

static void
a_row_of_another_boot_is_over(void **state)
{
	(void)state;
	assert_int_equal(lease_acquire(d, "a", "", "/w/a"), OUTCOME_ACQUIRED);
	/* The clock of the new boot is before the old one's. */
	d->now.at = 5 * SECOND;
	(void)strcpy(d->now.boot, BOOT_B);
	assert_int_equal(lease_acquire(d, "b", "", "/w/a"), OUTCOME_ACQUIRED);
	(void)strcpy(d->now.boot, BOOT_A);
	assert_int_equal(lease_acquire(d, "c", "", "/w/a"), OUTCOME_ACQUIRED);
}

static void
reaping_stays_though_the_answer_is_busy(void **state)
{
	(void)state;
	assert_int_equal(lease_acquire2(d, "a", "", 10, "/w/a", NULL, NULL),
			 OUTCOME_ACQUIRED);
	assert_int_equal(lease_acquire2(d, "b", "", 60, "/w/b", NULL, NULL),
			 OUTCOME_ACQUIRED);
	lease_later(d, 20);
	assert_int_equal(lease_acquire2(d, "c", "", 60, "/w/a", "/w/b", NULL),
			 OUTCOME_BLOCKED);
	assert_int_equal(lease_number(d, ROWS), 1);
	assert_int_equal(lease_number(d, "SELECT count(*) FROM events WHERE"
				      " kind = 'expired'"), 1);
}

static void
a_late_release_removes_nothing(void **state)
{
	(void)state;
	assert_int_equal(lease_acquire(d, "a", "", "/w/a"), OUTCOME_ACQUIRED);
	lease_later(d, 60);
	assert_int_equal(lease_release(d, "a", "", NULL), 0);
}

static enum outcome
S_renew(int64_t fence, const char *session, const char *epoch)
{
	OWN_ANSWER(a);

	assert_int_equal(ops_renew(d->store, fence, session, epoch, 0, &a,
				   &d->fault), 0);
	return a.outcome;
}

static void
renewal_keeps_the_fence_and_is_refused_after_expiry(void **state)
{
	int64_t fence = 0;

	(void)state;
	assert_int_equal(lease_acquire2(d, "a", "e", 60, "/w/a", "/w/b",
					&fence), OUTCOME_ACQUIRED);
	lease_later(d, 59);
	assert_int_equal(S_renew(fence, NULL, ""), OUTCOME_ACQUIRED);
	assert_int_equal(S_renew(fence, "a", ""), OUTCOME_EPOCH_MISMATCH);
	assert_int_equal(lease_number(d, "SELECT min(expires) FROM held"),
			 1119 * SECOND);
	assert_int_equal(lease_number(d, "SELECT min(fence) FROM held"),
			 fence);
	lease_later(d, 60);
	assert_int_equal(S_renew(fence, "a", "e"), OUTCOME_ABSENT);
	assert_int_equal(S_renew(fence + 7, NULL, ""), OUTCOME_ABSENT);
}

static void
force_goes_by_the_fence_and_names_all_three(void **state)
{
	OWN_ANSWER(a);
	OWN_ANSWER(again);

	(void)state;
	assert_int_equal(lease_acquire(d, "a", "e", "/w/a"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_acquire(d, "b", "e", "/w/b"), OUTCOME_ACQUIRED);
	assert_int_equal(ops_force(d->store, 1, "root", "stuck", &a,
				   &d->fault), 0);
	assert_int_equal(a.outcome, OUTCOME_RELEASED);
	assert_int_equal(lease_number(d, "SELECT count(*) FROM events WHERE"
				      " kind = 'forced' AND session = 'a' AND"
				      " epoch = 'e' AND actor = 'root' AND"
				      " reason = 'stuck'"), 1);
	assert_int_equal(lease_number(d, ROWS), 1);
	assert_int_equal(ops_force(d->store, 1, "root", "stuck", &again,
				   &d->fault), 0);
	assert_int_equal(again.outcome, OUTCOME_ABSENT);
	assert_string_equal(again.ended, "forced by root: stuck");
}

static enum outcome
S_check(const char *path, int64_t fence)
{
	OWN_ANSWER(a);

	assert_int_equal(ops_check(d->store, path, fence, &a, &d->fault), 0);
	return a.outcome;
}

static void
a_stale_fence_is_never_good(void **state)
{
	int64_t old = 0, fence = 0;

	(void)state;
	assert_int_equal(lease_acquire2(d, "a", "", 60, "/w/a", NULL, &old),
			 OUTCOME_ACQUIRED);
	assert_int_equal(S_check("/w/a", old), OUTCOME_HELD);
	assert_int_equal(S_check("/w/a/below", old), OUTCOME_HELD);
	assert_int_equal(S_check("/w", old), OUTCOME_BLOCKED);
	assert_int_equal(S_check("/w/a", 0), OUTCOME_BLOCKED);
	lease_later(d, 60);
	assert_int_equal(S_check("/w/a", old), OUTCOME_ABSENT);
	assert_int_equal(S_check("/w/a", 0), OUTCOME_FREE);
	assert_int_equal(lease_acquire2(d, "b", "", 60, "/w/a", NULL, &fence),
			 OUTCOME_ACQUIRED);
	assert_int_equal(S_check("/w/a", old), OUTCOME_BLOCKED);
	assert_int_equal(S_check("/w/a", fence), OUTCOME_HELD);
}

static void
a_fence_is_never_given_twice_whatever_is_pruned(void **state)
{
	int64_t first = 0, second = 0;
	OWN_ANSWER(a);

	(void)state;
	assert_int_equal(lease_acquire2(d, "a", "", 60, "/w/a", NULL, &first),
			 OUTCOME_ACQUIRED);
	assert_int_equal(lease_release(d, "a", "", NULL), 1);
	assert_int_equal(ops_prune(d->store, INT64_MAX, &a, &d->fault), 0);
	assert_int_equal(a.count, 2);
	assert_int_equal(lease_number(d, "SELECT count(*) FROM grants"), 0);
	assert_int_equal(lease_acquire2(d, "a", "", 60, "/w/a", NULL, &second),
			 OUTCOME_ACQUIRED);
	assert_int_equal(second, first + 1);
}

static void
pruning_stops_before_what_a_live_row_needs(void **state)
{
	OWN_ANSWER(a);

	(void)state;
	assert_int_equal(lease_acquire(d, "a", "", "/w/a"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_release(d, "a", "", NULL), 1);
	assert_int_equal(lease_acquire(d, "b", "", "/w/b"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_acquire(d, "c", "", "/w/c"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_release(d, "c", "", NULL), 1);
	assert_int_equal(ops_prune(d->store, 100, &a, &d->fault), 0);
	assert_int_equal(a.count, 2);
	assert_int_equal(lease_number(d, "SELECT pruned FROM meta"), 2);
	/* Dense from the mark on, the pruning's own event with it. */
	assert_int_equal(lease_number(d, "SELECT min(seq) = 3 AND max(seq) = 6"
				      " AND count(*) = 4 FROM events"), 1);
}

static void
a_hundred_paths_share_one_fence(void **state)
{
	char name[100][32], *paths[100];
	struct ops_acquire q = {
		.paths = paths, .npaths = 100, .session = "s", .epoch = "",
		.ttl = SECOND,
	};
	OWN_ANSWER(a);

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		(void)snprintf(name[i], sizeof(name[i]), "/w/%zu", i);
		paths[i] = name[i];
	}
	assert_int_equal(ops_acquire(d->store, &q, &a, &d->fault), 0);
	assert_int_equal(a.count, 100);
	assert_int_equal(lease_number(d, "SELECT count(DISTINCT fence) +"
				      " count(*) FROM held"), 101);
	assert_int_equal(lease_release(d, "s", "", NULL), 100);
}

/* Whether somebody else could begin to write right now. */
static void
S_try_to_write(struct lease_data *x)
{
	sqlite3 *db;
	int rc;

	assert_int_equal(sqlite3_open(x->db, &db), SQLITE_OK);
	rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	x->seen = rc == SQLITE_BUSY ? 1 : 2;
	(void)sqlite3_close(db);
}

static void
the_clock_is_read_while_nobody_else_can_write(void **state)
{
	(void)state;
	d->hook = S_try_to_write;
	assert_int_equal(lease_acquire(d, "a", "", "/w/a"), OUTCOME_ACQUIRED);
	assert_int_equal(d->seen, 1);
	d->seen = 0;
	assert_int_equal(lease_release(d, "a", "", NULL), 1);
	assert_int_equal(d->seen, 1);
}

static int S_free_reads;

/* The lock is there at every reading, not only at the last. */
static void
S_count_free(struct lease_data *x)
{
	S_try_to_write(x);
	S_free_reads += x->seen != 1;
}

static void
the_clock_is_read_once_and_under_the_lock(void **state)
{
	(void)state;
	d->hook = S_count_free;
	S_free_reads = 0;
	assert_int_equal(lease_acquire(d, "a", "", "/w/a"), OUTCOME_ACQUIRED);
	assert_int_equal(S_free_reads, 0);
}

static void
a_writer_that_knows_no_queue_is_waited_for_no_longer_than_said(void **state)
{
	sqlite3 *db;

	(void)state;
	assert_int_equal(sqlite3_open(d->db, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL,
				      NULL), SQLITE_OK);
	assert_int_equal(lease_acquire(d, "a", "", "/w/a"), OUTCOME_ERROR);
	assert_int_equal(d->fault.code, FAULT_TROUBLE);
	assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(lease_acquire(d, "a", "", "/w/a"), OUTCOME_ACQUIRED);
	(void)sqlite3_close(db);
}

static void
a_reader_keeps_nobody_from_writing(void **state)
{
	sqlite3 *db;

	(void)state;
	assert_int_equal(sqlite3_open(d->db, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT * FROM held", NULL,
				      NULL, NULL), SQLITE_OK);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(lease_acquire(d, "a", "", "/w/a"),
				 OUTCOME_ACQUIRED);
		assert_int_equal(lease_release(d, "a", "", NULL), 1);
	}
	(void)sqlite3_close(db);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, S_setup, S_teardown)
	const struct CMUnitTest tests[] = {
		CASE(the_life_of_two_epochs),
		CASE(a_release_takes_exactly_the_rows_of_its_owner),
		CASE(a_tokened_release_never_frees_a_native_empty_epoch),
		CASE(folders_and_what_is_below_them_conflict),
		CASE(all_paths_or_none),
		CASE(a_second_acquire_keeps_fence_and_acquired_and_moves_the_expiry),
		CASE(an_expired_lease_is_taken_over_with_a_higher_fence),
		CASE(a_row_of_another_boot_is_over),
		CASE(reaping_stays_though_the_answer_is_busy),
		CASE(a_late_release_removes_nothing),
		CASE(renewal_keeps_the_fence_and_is_refused_after_expiry),
		CASE(force_goes_by_the_fence_and_names_all_three),
		CASE(a_stale_fence_is_never_good),
		CASE(a_fence_is_never_given_twice_whatever_is_pruned),
		CASE(pruning_stops_before_what_a_live_row_needs),
		CASE(a_hundred_paths_share_one_fence),
		CASE(the_clock_is_read_while_nobody_else_can_write),
		CASE(the_clock_is_read_once_and_under_the_lock),
		CASE(a_writer_that_knows_no_queue_is_waited_for_no_longer_than_said),
		CASE(a_reader_keeps_nobody_from_writing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
