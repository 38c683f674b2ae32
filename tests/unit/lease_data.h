/*
 * lease_data.h - a lease database at any time of any boot
 */
#ifndef TESTS_UNIT_LEASE_DATA_H
#define TESTS_UNIT_LEASE_DATA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lease/ops.h"
#include "tests/unit/folder.h"

#define SECOND INSTANT_SECOND
#define BOOT_A "aaaaaaaa-0000-4000-8000-000000000001"
#define BOOT_B "bbbbbbbb-0000-4000-8000-000000000002"

struct lease_data {
	struct folder folder;
	char db[128];
	struct store *store;
	struct instant now;
	/* Called whenever the clock is read; or NULL. */
	void (*hook)(struct lease_data *d);
	int seen;
	struct fault fault;
};

static inline int
lease_read(void *arg, struct instant *now, struct fault *f)
{
	struct lease_data *d = arg;

	(void)f;
	if (d->hook)
		d->hook(d);
	*now = d->now;
	return 0;
}

static inline int
lease_open(struct lease_data *d)
{
	struct store_options o = {
		.path = d->db,
		.clock = { .read = lease_read, .arg = d },
		.wait_ns = 200000000,
	};

	d->fault = (struct fault)FAULT_INIT;
	return store_open(&d->store, &o, &d->fault);
}

static inline void
lease_setup(struct lease_data *d)
{
	*d = (struct lease_data){
		.now = { .at = 1000 * SECOND, .utc = 1000000 * SECOND,
			 .boot = BOOT_A },
	};
	assert_int_equal(folder_make(&d->folder), 0);
	(void)folder_path(&d->folder, "leases.db", d->db, sizeof(d->db));
}

static inline void
lease_teardown(struct lease_data *d)
{
	store_close(&d->store);
	folder_remove(&d->folder);
}

static inline void
lease_later(struct lease_data *d, int64_t seconds)
{
	d->now.at += seconds * SECOND;
	d->now.utc += seconds * SECOND;
}

/* path2 may be NULL. */
static inline enum outcome
lease_acquire2(struct lease_data *d, const char *session, const char *epoch,
	       int64_t ttl, const char *path, const char *path2,
	       int64_t *fence)
{
	char *paths[] = { (char *)(uintptr_t)path, (char *)(uintptr_t)path2 };
	struct ops_acquire q = {
		.paths = paths, .npaths = path2 ? 2 : 1, .session = session,
		.epoch = epoch, .ttl = ttl * SECOND,
	};
	OWN_ANSWER(a);
	int rc = ops_acquire(d->store, &q, &a, &d->fault);

	if (rc)
		return OUTCOME_ERROR;
	if (fence)
		*fence = a.fence;
	return a.outcome;
}

static inline enum outcome
lease_acquire(struct lease_data *d, const char *session, const char *epoch,
	      const char *path)
{
	return lease_acquire2(d, session, epoch, 60, path, NULL, NULL);
}

static inline size_t
lease_release(struct lease_data *d, const char *session, const char *epoch,
	      enum outcome *outcome)
{
	OWN_ANSWER(a);
	int rc = ops_release(d->store, session, epoch, 0, &a, &d->fault);

	assert_int_equal(rc, 0);
	if (outcome)
		*outcome = a.outcome;
	return a.count;
}

/* The first column of the first row, by another connection. */
static inline int64_t
lease_number(struct lease_data *d, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	int64_t v;

	assert_int_equal(sqlite3_open(d->db, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	v = sqlite3_column_int64(st, 0);
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(db);
	return v;
}

static inline int
lease_sql(const char *path, const char *sql)
{
	sqlite3 *db;
	int rc = sqlite3_open(path, &db);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	(void)sqlite3_close(db);
	return rc;
}

#endif
