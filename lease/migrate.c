/*
 * migrate.c - the rows of an older schema, with fences
 */
#include "lease/migrate.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "lease/limits.h"
#include "lease/owner.h"
#include "lease/path.h"
#include "lease/store.h"

/* What an old row says, and the instants that are made of it. */
struct old {
	const char *resource, *agent, *host, *cwd, *note, *epoch;
	char *session;			/* owned */
	int64_t acquired, renewed, expires;	/* on this boot */
	int64_t acquired_utc, expires_utc;
};

enum { COLUMN_ACQUIRED = 5, COLUMN_EXPIRES = 6 };

#define S_ROWS(epoch) \
	"SELECT resource, session, agent, host, cwd, acquired, expires," \
	" note, " epoch " FROM old_leases ORDER BY acquired, resource"

static const char S_take[] =
	"INSERT INTO held(resource, fence, session, epoch, origin, boot,"
	" acquired, renewed, expires, expires_utc)"
	" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

/* Seconds of the wall clock in ns, within what a lease may last. */
static int64_t
S_ns(double seconds, int64_t now)
{
	double left = seconds - (double)now / 1e9;

	if (!(left > -LIMITS_TTL_MAX_S))
		left = -LIMITS_TTL_MAX_S;
	if (left > LIMITS_TTL_MAX_S)
		left = LIMITS_TTL_MAX_S;
	/* To the microsecond, so that a plain clock reads the same. */
	return left == seconds - (double)now / 1e9
	       ? (int64_t)(seconds * 1e6 + 0.5) * 1000
	       : now + (int64_t)(left * 1e9);
}

static void
S_times(sqlite3_stmt *st, const struct instant *now, struct old *o)
{
	int64_t ttl_max = LIMITS_TTL_MAX_S * INSTANT_SECOND;

	o->acquired_utc = S_ns(sqlite3_column_double(st, COLUMN_ACQUIRED),
			       now->utc);
	o->expires_utc = S_ns(sqlite3_column_double(st, COLUMN_EXPIRES),
			      now->utc);
	if (o->acquired_utc > now->utc)
		o->acquired_utc = now->utc;
	o->acquired = now->at - (now->utc - o->acquired_utc);
	o->expires = now->at - (now->utc - o->expires_utc);
	if (o->expires <= o->acquired)
		o->acquired = o->expires - 1;
	o->renewed = o->acquired;
	if (o->expires - o->renewed > ttl_max)
		o->renewed = o->expires - ttl_max;
}

static const char *
S_text(sqlite3_stmt *st, int column)
{
	return (const char *)sqlite3_column_text(st, column);
}

static int
S_read(sqlite3_stmt *st, const struct instant *now, struct old *o,
       struct fault *f)
{
	int rc;

	o->resource = S_text(st, 0);
	o->agent = S_text(st, 2);
	o->host = S_text(st, 3);
	o->cwd = S_text(st, 4);
	o->note = S_text(st, 7);
	o->epoch = S_text(st, 8);
	if (!o->resource || !path_is_key(o->resource) ||
	    strlen(o->resource) != (size_t)sqlite3_column_bytes(st, 0))
		return fault_set(f, FAULT_REFUSED,
				 "its row '%s' is on no absolute path",
				 o->resource ? o->resource : "");
	rc = owner_session(S_text(st, 1) ? S_text(st, 1) : "", &o->session, f);
	if (rc == -FAULT_USAGE)
		return fault_set(f, FAULT_REFUSED,
				 "its row '%s' is of no session", o->resource);
	if (!rc)
		S_times(st, now, o);
	return rc;
}

static int
S_write(struct txn *t, sqlite3_stmt *take, const struct old *o, bool legacy,
	struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int64_t fence;
	int rc = stmt_bind(sql, STMT_GRANT, f, "ttttttt" "iiiIIIt",
			   o->session, o->epoch, o->agent, o->host, o->cwd,
			   o->note, t->now.boot, o->acquired, o->acquired_utc,
			   o->expires - o->renewed, (int64_t)-1, (int64_t)-1,
			   (int64_t)-1, NULL);

	if (!rc)
		rc = stmt_run(sql, STMT_GRANT, f);
	if (rc)
		return rc;
	fence = sqlite3_last_insert_rowid(sql->db);
	(void)sqlite3_reset(take);
	(void)sqlite3_bind_text(take, 1, o->resource, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(take, 2, fence);
	(void)sqlite3_bind_text(take, 3, o->session, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(take, 4, o->epoch, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(take, 5, legacy ? "legacy" : "native", -1,
				SQLITE_STATIC);
	(void)sqlite3_bind_text(take, 6, t->now.boot, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(take, 7, o->acquired);
	(void)sqlite3_bind_int64(take, 8, o->renewed);
	(void)sqlite3_bind_int64(take, 9, o->expires);
	(void)sqlite3_bind_int64(take, 10, o->expires_utc);
	if (sqlite3_step(take) != SQLITE_DONE)
		return stmt_fault(sql->db, f, "take a row over");
	rc = stmt_bind(sql, STMT_EVENT, f, "ittttti" "iitttI", t->op,
		       t->verb, "migrated", NULL, NULL, t->now.boot,
		       t->now.at, t->now.utc, fence, o->resource, o->session,
		       o->epoch, o->expires);
	return rc ? rc : stmt_run(sql, STMT_EVENT, f);
}

static int
S_each(struct txn *t, sqlite3_stmt *rows, sqlite3_stmt *take, bool epochs,
       struct fault *f)
{
	int got, rc = 0;

	while (!rc && (got = sqlite3_step(rows)) != SQLITE_DONE) {
		struct old o = { .session = NULL };

		if (got != SQLITE_ROW)
			return stmt_fault(t->store->sql.db, f,
					  "read the old rows");
		rc = S_read(rows, &t->now, &o, f);
		if (!rc)
			rc = S_write(t, take, &o, !epochs, f);
		free(o.session);
	}
	return rc;
}

int
migrate_rows(struct store *s, bool epochs, struct fault *f)
{
	struct txn t = { .store = s, .verb = "migrate", .op = 1 };
	sqlite3_stmt *rows = NULL, *take = NULL;
	sqlite3 *db = s->sql.db;
	int rc = s->clock.read(s->clock.arg, &t.now, f);

	if (rc)
		return rc;
	if (sqlite3_prepare_v2(db, epochs ? S_ROWS("epoch") : S_ROWS("''"),
			       -1, &rows, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, S_take, -1, &take, NULL) != SQLITE_OK)
		rc = stmt_fault(db, f, "read the old rows");
	else
		rc = S_each(&t, rows, take, epochs, f);
	(void)sqlite3_finalize(rows);
	(void)sqlite3_finalize(take);
	/* Prepared against a schema that the end of this may still undo. */
	stmt_free(&s->sql);
	if (!rc && sqlite3_exec(db, "DROP TABLE old_leases", NULL, NULL, NULL))
		rc = stmt_fault(db, f, "drop the old table");
	return rc;
}
