/*
 * t_lease_migrate.c - both older schemas, and whose empty epoch is whose
 */
#include "tests/unit/lease_data.h"

static struct lease_data S_data;
static struct lease_data *const d = &S_data;

#define OLD_COLUMNS \
	"resource TEXT PRIMARY KEY, session TEXT NOT NULL, agent TEXT," \
	" host TEXT, cwd TEXT, acquired REAL NOT NULL," \
	" expires REAL NOT NULL, note TEXT"
#define OLD "CREATE TABLE leases(" OLD_COLUMNS ");"
#define OLD_EPOCH "CREATE TABLE leases(" OLD_COLUMNS \
	", epoch TEXT NOT NULL DEFAULT '');"
#define ROW(path, session, left) \
	"INSERT INTO leases(resource, session, agent, host, cwd, acquired," \
	" expires, note) VALUES('" path "', '" session "', 'ag', 'ho', '/cw'," \
	" 999990.25, 1000000 + " #left ", 'no');"
#define ROWS "SELECT count(*) FROM held"

static int
S_setup(void **state)
{
	(void)state;
	lease_setup(d);
	return 0;
}

static int
S_teardown(void **state)
{
	(void)state;
	lease_teardown(d);
	return 0;
}

static void
S_old(const char *sql)
{
	assert_int_equal(lease_sql(d->db, sql), SQLITE_OK);
	assert_int_equal(chmod(d->db, 0600), 0);
	assert_int_equal(lease_open(d), 0);
}

static void
rows_keep_all_that_they_said(void **state)
{
	(void)state;
	S_old(OLD ROW("/w/a", "s", 50) ROW("/w/b", "t", 60));
	assert_int_equal(lease_number(d, "SELECT count(*) FROM leases WHERE"
		" resource = '/w/a' AND session = 's' AND agent = 'ag' AND"
		" host = 'ho' AND cwd = '/cw' AND acquired = 999990.25 AND"
		" expires = 1000050 AND note = 'no' AND epoch = ''"), 1);
	/* 50 s are left by the wall, so 50 s are left. */
	assert_int_equal(lease_number(d, "SELECT expires FROM held WHERE"
				      " resource = '/w/a'"), 1050 * SECOND);
	assert_int_equal(lease_number(d, "SELECT count(*) FROM events WHERE"
				      " kind = 'migrated' AND op = 1"), 2);
	assert_int_equal(lease_number(d, "SELECT legacy_fence FROM meta"), 2);
	assert_int_equal(lease_acquire(d, "u", "", "/w/a"), OUTCOME_BLOCKED);
}

static void
a_tokened_release_frees_its_sessions_unchosen_row(void **state)
{
	enum outcome o;

	(void)state;
	S_old(OLD ROW("/w/a", "s", 50) ROW("/w/b", "t", 60));
	assert_int_equal(lease_release(d, "s", "token", &o), 1);
	assert_int_equal(o, OUTCOME_RELEASED);
	assert_int_equal(lease_number(d, ROWS " WHERE session = 't'"), 1);
	assert_int_equal(lease_number(d, "SELECT handoff_closed FROM meta"),
			 0);
}

static void
a_native_row_is_never_freed_by_the_handoff(void **state)
{
	(void)state;
	S_old(OLD ROW("/w/a", "s", 50) ROW("/w/b", "t", 60));
	/* The handoff is open, and this empty epoch was chosen now. */
	assert_int_equal(lease_acquire(d, "s", "", "/w/new"),
			 OUTCOME_ACQUIRED);
	assert_int_equal(lease_release(d, "s", "token", NULL), 1);
	assert_int_equal(lease_number(d, ROWS " WHERE resource = '/w/new'"),
			 1);
	assert_int_equal(lease_release(d, "s", "token", NULL), 0);
	assert_int_equal(lease_release(d, "s", "", NULL), 1);
}

static void
a_row_that_was_acquired_again_is_native(void **state)
{
	(void)state;
	S_old(OLD ROW("/w/a", "s", 50) ROW("/w/b", "t", 60));
	assert_int_equal(lease_acquire(d, "s", "", "/w/a"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_release(d, "s", "token", NULL), 0);
	assert_int_equal(lease_number(d, ROWS), 2);
}

static void
an_empty_epoch_of_the_schema_with_epochs_was_chosen(void **state)
{
	(void)state;
	S_old(OLD_EPOCH ROW("/w/a", "s", 50)
	      "INSERT INTO leases VALUES('/w/b', 's', NULL, NULL, NULL,"
	      " 999990, 1000060, NULL, 'e');");
	assert_int_equal(lease_number(d, "SELECT handoff_closed FROM meta"),
			 1);
	assert_int_equal(lease_number(d, ROWS " WHERE origin = 'native'"), 2);
	assert_int_equal(lease_release(d, "s", "token", NULL), 0);
	assert_int_equal(lease_release(d, "s", "", NULL), 1);
	assert_int_equal(lease_release(d, "s", "e", NULL), 1);
}

static void
the_handoff_closes_for_ever_with_the_last_legacy_row(void **state)
{
	(void)state;
	S_old(OLD ROW("/w/a", "s", 50));
	assert_int_equal(lease_release(d, "s", "token", NULL), 1);
	assert_int_equal(lease_number(d, "SELECT handoff_closed FROM meta"),
			 1);
	assert_int_equal(lease_sql(d->db, "UPDATE meta SET handoff_closed = 0"),
			 SQLITE_CONSTRAINT);
	assert_int_equal(lease_acquire(d, "s", "", "/w/a"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_release(d, "s", "token", NULL), 0);
	assert_int_equal(lease_sql(d->db, "UPDATE held SET origin = 'legacy'"),
			 SQLITE_CONSTRAINT);
}

static void
expiry_closes_it_too(void **state)
{
	(void)state;
	S_old(OLD ROW("/w/a", "s", 50));
	lease_later(d, 50);
	assert_int_equal(lease_release(d, "s", "token", NULL), 0);
	assert_int_equal(lease_acquire(d, "t", "", "/w/x"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_number(d, "SELECT handoff_closed FROM meta"),
			 1);
}

static void
an_untokened_release_never_touches_a_tokened_lease(void **state)
{
	(void)state;
	S_old(OLD ROW("/w/a", "s", 50));
	assert_int_equal(lease_acquire(d, "s", "e", "/w/b"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_release(d, "s", "", NULL), 1);
	assert_int_equal(lease_number(d, ROWS " WHERE epoch = 'e'"), 1);
}

static void
an_old_program_fails_loudly(void **state)
{
	(void)state;
	S_old(OLD ROW("/w/a", "s", 50));
	assert_int_not_equal(lease_sql(d->db, "INSERT INTO leases(resource,"
		" session, acquired, expires) VALUES('/w/z', 's', 1, 2)"),
		SQLITE_OK);
	assert_int_not_equal(lease_sql(d->db, "INSERT INTO leases(resource,"
		" session, acquired, expires) VALUES('/w/a', 's', 1, 2)"
		" ON CONFLICT(resource) DO UPDATE SET expires = 2"),
		SQLITE_OK);
	assert_int_not_equal(lease_sql(d->db, "DELETE FROM leases WHERE"
		" session = 's'"), SQLITE_OK);
	assert_int_not_equal(lease_sql(d->db, "CREATE INDEX IF NOT EXISTS"
		" leases_expires ON leases(expires)"), SQLITE_OK);
	assert_int_equal(lease_number(d, ROWS), 1);
}

static void
rows_that_expired_or_make_no_sense_do_not_stop_it(void **state)
{
	(void)state;
	S_old(OLD ROW("/w/a", "s", -20) ROW("/w/b", "agent/ S ", 1e300)
	      "INSERT INTO leases VALUES('/w/c', 's', NULL, NULL, NULL, 5, 5,"
	      " NULL);");
	assert_int_equal(lease_number(d, ROWS), 3);
	assert_int_equal(lease_number(d, ROWS " WHERE session = 'S'"), 1);
	assert_int_equal(lease_acquire(d, "t", "", "/w/a"), OUTCOME_ACQUIRED);
	assert_int_equal(lease_acquire(d, "t", "", "/w/b"), OUTCOME_BLOCKED);
	assert_int_equal(lease_number(d, ROWS), 2);
}

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
nobody_else_can_write_while_rows_are_taken_over(void **state)
{
	(void)state;
	d->hook = S_try_to_write;
	S_old(OLD ROW("/w/a", "s", 50));
	assert_int_equal(d->seen, 1);
}

/* Whether the lock was there when the old table was to be set aside. */
static int
S_on_statement(unsigned kind, void *arg, void *st, void *sql)
{
	(void)kind;
	(void)arg;
	(void)st;
	if (strncmp(sql, "ALTER TABLE leases", 18) == 0) {
		S_try_to_write(d);
		d->hook = NULL;
	}
	return 0;
}

static int
S_watch(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
	(void)message;
	(void)api;
	return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, S_on_statement, NULL);
}

static void
nobody_else_can_write_before_rows_are_read(void **state)
{
	(void)state;
	assert_int_equal(lease_sql(d->db, OLD ROW("/w/a", "s", 50)),
			 SQLITE_OK);
	assert_int_equal(sqlite3_auto_extension((void (*)(void))S_watch),
			 SQLITE_OK);
	assert_int_equal(chmod(d->db, 0600), 0);
	assert_int_equal(lease_open(d), 0);
	sqlite3_reset_auto_extension();
	assert_int_equal(d->seen, 1);
}

/* What is refused, byte for byte as it was, and nothing beside it. */
static void
S_refused(const char *sql)
{
	char before[20000], after[20000];
	size_t n, m;
	FILE *file;

	if (sql)
		assert_int_equal(lease_sql(d->db, sql), SQLITE_OK);
	assert_int_equal(chmod(d->db, 0600), 0);
	file = fopen(d->db, "rb");
	assert_non_null(file);
	n = fread(before, 1, sizeof(before), file);
	(void)fclose(file);
	assert_int_equal(lease_open(d), -FAULT_REFUSED);
	file = fopen(d->db, "rb");
	assert_non_null(file);
	m = fread(after, 1, sizeof(after), file);
	(void)fclose(file);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	assert_int_equal(faccessat(d->folder.fd, "leases.db-wal", F_OK, 0),
			 -1);
	assert_int_equal(faccessat(d->folder.fd, "leases.db-shm", F_OK, 0),
			 -1);
	assert_int_equal(unlinkat(d->folder.fd, "leases.db", 0), 0);
	(void)unlinkat(d->folder.fd, "leases.db-queue", 0);
}

static void
databases_of_others_are_left_as_they_are(void **state)
{
	(void)state;
	S_refused(OLD "PRAGMA application_id = 7");
	S_refused(OLD "PRAGMA user_version = 7");
	S_refused("PRAGMA application_id = 0x4c656173;"
		  "PRAGMA user_version = 2; CREATE TABLE t(x)");
	S_refused("CREATE TABLE leases(resource TEXT PRIMARY KEY, owner)");
	S_refused("CREATE TABLE t(x)");
	S_refused(OLD "CREATE TABLE t(x)");
	S_refused(OLD "CREATE VIEW v AS SELECT 1");
	S_refused("PRAGMA encoding = 'UTF-16le';" OLD);
	S_refused("PRAGMA journal_mode = WAL; CREATE TABLE t(x)");
	S_refused(OLD ROW("relative", "s", 50));
	S_refused(OLD ROW("/w/a", "agent/", 50));
	assert_int_equal(folder_write(&d->folder, "leases.db",
				      "this is no database", 19), 0);
	S_refused(NULL);
}

static void
what_others_may_write_is_refused(void **state)
{
	char other[128];

	(void)state;
	S_old(OLD);
	store_close(&d->store);
	assert_int_equal(chmod(d->db, 0620), 0);
	assert_int_equal(lease_open(d), -FAULT_REFUSED);
	assert_int_equal(chmod(d->db, 0600), 0);
	assert_int_equal(chmod(d->folder.path, 0702), 0);
	assert_int_equal(lease_open(d), -FAULT_REFUSED);
	assert_int_equal(chmod(d->folder.path, 0700), 0);
	assert_int_equal(link(d->db, folder_path(&d->folder, "two", other,
						 sizeof(other))), 0);
	assert_int_equal(lease_open(d), -FAULT_REFUSED);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(symlinkat("leases.db", d->folder.fd, "link"), 0);
	(void)folder_path(&d->folder, "link", d->db, sizeof(d->db));
	assert_int_equal(lease_open(d), -FAULT_REFUSED);
	assert_int_equal(symlinkat(".", d->folder.fd, "folder"), 0);
	(void)folder_path(&d->folder, "folder/leases.db", d->db,
			  sizeof(d->db));
	assert_int_equal(lease_open(d), -FAULT_REFUSED);
	if (geteuid() == 0) {
		(void)folder_path(&d->folder, "leases.db", d->db,
				  sizeof(d->db));
		assert_int_equal(chown(d->db, 12345, 0), 0);
		assert_int_equal(lease_open(d), -FAULT_REFUSED);
	}
}

static void
a_new_one_is_ours_alone_and_in_wal_mode(void **state)
{
	char name[160];
	struct stat st;

	(void)state;
	(void)folder_path(&d->folder, "a/b/leases.db", d->db, sizeof(d->db));
	(void)umask(0);
	assert_int_equal(lease_open(d), 0);
	assert_int_equal(lease_acquire(d, "s", "", "/w"), OUTCOME_ACQUIRED);
	(void)umask(022);
	for (size_t i = 0; i < 4; i++) {
		static const char *const suffix[] = { "", "-wal", "-shm",
						      "-queue" };

		(void)snprintf(name, sizeof(name), "%s%s", d->db, suffix[i]);
		assert_int_equal(stat(name, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
	}
	assert_int_equal(stat(folder_path(&d->folder, "a/b", name,
					  sizeof(name)), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, S_setup, S_teardown)
	const struct CMUnitTest tests[] = {
		CASE(rows_keep_all_that_they_said),
		CASE(a_tokened_release_frees_its_sessions_unchosen_row),
		CASE(a_native_row_is_never_freed_by_the_handoff),
		CASE(a_row_that_was_acquired_again_is_native),
		CASE(an_empty_epoch_of_the_schema_with_epochs_was_chosen),
		CASE(the_handoff_closes_for_ever_with_the_last_legacy_row),
		CASE(expiry_closes_it_too),
		CASE(an_untokened_release_never_touches_a_tokened_lease),
		CASE(an_old_program_fails_loudly),
		CASE(rows_that_expired_or_make_no_sense_do_not_stop_it),
		CASE(nobody_else_can_write_while_rows_are_taken_over),
		CASE(nobody_else_can_write_before_rows_are_read),
		CASE(databases_of_others_are_left_as_they_are),
		CASE(what_others_may_write_is_refused),
		CASE(a_new_one_is_ours_alone_and_in_wal_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
