/*
 * stmt.c - every statement that runs, each prepared once
 */
#include "lease/stmt.h"

#include <stdarg.h>
#include <stddef.h>

/* What acquire, check and status say of a row; leased_read knows the order. */
#define S_SHOWN \
	"SELECT h.resource, h.fence, h.session, h.epoch, h.origin," \
	" h.acquired, h.renewed, h.expires, g.acquired_utc, h.expires_utc," \
	" g.agent, g.host, g.cwd, g.note, g.pid, g.pid_start, g.pid_ns," \
	" g.pid_boot FROM held AS h JOIN grants AS g USING (fence)"

/* One event a row of held: ?1 op, ?2 verb, ?3 kind, ?4 actor, ?5 reason,
   ?6 boot, ?7 at, ?8 at_utc. */
#define S_EVENTS_OF_HELD \
	"INSERT INTO events(op, verb, kind, actor, reason, boot, at, at_utc," \
	" fence, resource, session, epoch, expires)" \
	" SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8," \
	" fence, resource, session, epoch, expires FROM held "

/* A row of another boot is over: its clock is gone. */
#define S_IS_DUE(boot, at) \
	"WHERE boot < " boot " OR boot > " boot \
	" OR boot = " boot " AND expires <= " at

/* The + keeps SQLite from walking every live row by held_expiry. */
#define S_IS_LIVE(boot, at) " AND +boot = " boot " AND +expires > " at

/* Of another owner; a NULL session: of anyone. */
#define S_IS_FOREIGN(session, epoch) \
	"(" session " IS NULL OR h.session <> " session \
	" OR h.epoch <> " epoch ")"

#define S_OF_FENCE(session, epoch, fence) \
	"WHERE session = " session " AND epoch = " epoch \
	" AND fence = " fence

/* Exactly the owner's rows; with a fence, those of it alone. */
#define S_OF_OWNER(session, epoch, fence) \
	"WHERE session = " session " AND epoch = " epoch \
	" AND (" fence " IS NULL OR fence = " fence ")"

/* Rows whose empty epoch nobody chose, while they are handed over. */
#define S_OF_HANDOFF(session) \
	"WHERE session = " session " AND epoch = '' AND origin = 'legacy'"

static const char *const S_sql[STMT_COUNT] = {
[STMT_BEGIN_WRITE] = "BEGIN IMMEDIATE",
[STMT_BEGIN_READ] = "BEGIN",
[STMT_COMMIT] = "COMMIT",
[STMT_ROLLBACK] = "ROLLBACK",
[STMT_LAST_EVENT] =
	"SELECT seq FROM sqlite_sequence WHERE name = 'events'",
[STMT_META] =
	"SELECT handoff_closed, legacy_fence, pruned, database_id FROM meta",
[STMT_DUE] =
	"SELECT 1 FROM held " S_IS_DUE("?1", "?2") " LIMIT 1",
[STMT_DUE_EVENTS] =
	S_EVENTS_OF_HELD S_IS_DUE("?6", "?7") " ORDER BY fence, resource",
[STMT_DUE_DELETE] =
	"DELETE FROM held " S_IS_DUE("?1", "?2"),
[STMT_LEGACY_LEFT] =
	"SELECT 1 FROM held WHERE origin = 'legacy' LIMIT 1",
[STMT_CLOSE_HANDOFF] =
	"UPDATE meta SET handoff_closed = 1",
[STMT_AT] =
	S_SHOWN " WHERE h.resource = ?1 AND " S_IS_FOREIGN("?2", "?3")
	" AND +h.boot = ?4 AND +h.expires > ?5",
[STMT_BELOW] =
	S_SHOWN " WHERE h.resource >= ?1 AND h.resource < ?2 AND "
	S_IS_FOREIGN("?3", "?4") " AND +h.boot = ?5 AND +h.expires > ?6"
	" ORDER BY h.resource LIMIT ?7",
[STMT_GRANT] =
	"INSERT INTO grants(session, epoch, agent, host, cwd, note, boot,"
	" acquired, acquired_utc, ttl, pid, pid_start, pid_ns, pid_boot)"
	" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,"
	" ?14)",
[STMT_TAKE] =
	"INSERT INTO held(resource, fence, session, epoch, origin, boot,"
	" acquired, renewed, expires, expires_utc)"
	" VALUES(?1, ?2, ?3, ?4, 'native', ?5, ?6, ?6, ?7, ?8)",
[STMT_KEEP] =
	"UPDATE held SET renewed = ?4, origin = 'native',"
	" expires = max(expires, ?5),"
	" expires_utc = iif(?5 > expires, ?6, expires_utc)"
	" WHERE resource = ?1 AND session = ?2 AND epoch = ?3"
	" RETURNING fence, expires, expires_utc",
[STMT_EVENT] =
	"INSERT INTO events(op, verb, kind, actor, reason, boot, at, at_utc,"
	" fence, resource, session, epoch, expires)"
	" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
[STMT_TTL] =
	"UPDATE grants SET ttl = ?2 WHERE fence = ?1 AND ttl <> ?2",
[STMT_GRANT_OF] =
	"SELECT session, epoch, agent, ttl FROM grants WHERE fence = ?1",
[STMT_RENEW] =
	"UPDATE held SET renewed = ?4, expires = max(expires, ?5),"
	" expires_utc = iif(?5 > expires, ?6, expires_utc) "
	S_OF_FENCE("?1", "?2", "?3") S_IS_LIVE("?7", "?4")
	" RETURNING expires, expires_utc",
[STMT_FENCE_EVENTS] =
	S_EVENTS_OF_HELD S_OF_FENCE("?9", "?10", "?11")
	S_IS_LIVE("?6", "?7") " ORDER BY resource",
[STMT_FENCE_DELETE] =
	"DELETE FROM held " S_OF_FENCE("?1", "?2", "?3")
	S_IS_LIVE("?4", "?5"),
[STMT_OWNER_EVENTS] =
	S_EVENTS_OF_HELD S_OF_OWNER("?9", "?10", "?11")
	S_IS_LIVE("?6", "?7") " ORDER BY fence, resource",
[STMT_OWNER_DELETE] =
	"DELETE FROM held " S_OF_OWNER("?1", "?2", "?3")
	S_IS_LIVE("?4", "?5"),
[STMT_HANDOFF_EVENTS] =
	S_EVENTS_OF_HELD S_OF_HANDOFF("?9") S_IS_LIVE("?6", "?7")
	" ORDER BY fence, resource",
[STMT_HANDOFF_DELETE] =
	"DELETE FROM held " S_OF_HANDOFF("?1") S_IS_LIVE("?2", "?3"),
[STMT_EPOCHS] =
	"SELECT DISTINCT epoch FROM held WHERE session = ?1"
	S_IS_LIVE("?2", "?3") " ORDER BY epoch LIMIT ?4",
[STMT_ENDED] =
	"SELECT kind, actor, reason FROM events WHERE fence = ?1 AND kind IN"
	" ('released', 'expired', 'forced') ORDER BY seq DESC LIMIT 1",
[STMT_STATUS] =
	S_SHOWN " WHERE +h.boot = ?1 AND +h.expires > ?2 ORDER BY h.resource",
[STMT_EVENTS] =
	"SELECT seq, op, verb, kind, fence, resource, session, epoch, actor,"
	" reason, boot, at, at_utc, expires FROM events WHERE seq > ?1"
	" ORDER BY seq",
[STMT_FIRST_NEEDED] =
	"SELECT min(e.seq) FROM held AS h JOIN events AS e"
	" ON e.fence = h.fence AND e.resource = h.resource"
	" WHERE e.kind IN ('granted', 'migrated')",
[STMT_PRUNE_EVENTS] =
	"DELETE FROM events WHERE seq <= ?1",
[STMT_PRUNE_GRANTS] =
	"DELETE FROM grants WHERE fence NOT IN (SELECT fence FROM held)"
	" AND fence NOT IN"
	" (SELECT fence FROM events WHERE fence IS NOT NULL)",
[STMT_PRUNED] =
	"UPDATE meta SET pruned = ?1",
};

void
stmt_free(struct stmt_set *s)
{
	for (size_t i = 0; i < STMT_COUNT; i++) {
		(void)sqlite3_finalize(s->st[i]);
		s->st[i] = NULL;
	}
}

int
stmt_fault(sqlite3 *db, struct fault *f, const char *doing)
{
	enum fault_code code = FAULT_TROUBLE;

	switch (sqlite3_errcode(db)) {
	case SQLITE_NOTADB:
		code = FAULT_REFUSED;
		break;
	case SQLITE_CORRUPT:
	case SQLITE_CONSTRAINT:
		code = FAULT_DAMAGED;
		break;
	default:
		break;
	}
	return fault_set(f, code, "%s: %s", doing, sqlite3_errmsg(db));
}

static int
S_prepare(struct stmt_set *s, enum stmt_id id, struct fault *f)
{
	if (sqlite3_prepare_v3(s->db, S_sql[id], -1, SQLITE_PREPARE_PERSISTENT,
			       &s->st[id], NULL) != SQLITE_OK)
		return stmt_fault(s->db, f, "prepare a statement");
	return 0;
}

int
stmt_bind(struct stmt_set *s, enum stmt_id id, struct fault *f,
	  const char *letters, ...)
{
	int rc = s->st[id] ? 0 : S_prepare(s, id, f);
	int bound = SQLITE_OK;
	va_list ap;

	if (rc)
		return rc;
	stmt_done(s, id);
	va_start(ap, letters);
	for (int i = 1; letters[i - 1] && bound == SQLITE_OK; i++) {
		if (letters[i - 1] == 't') {
			bound = sqlite3_bind_text(s->st[id], i,
				va_arg(ap, const char *), -1, SQLITE_STATIC);
		} else {
			int64_t v = va_arg(ap, int64_t);

			bound = letters[i - 1] == 'I' && v < 0
				? sqlite3_bind_null(s->st[id], i)
				: sqlite3_bind_int64(s->st[id], i, v);
		}
	}
	va_end(ap);
	return bound == SQLITE_OK ? 0 : stmt_fault(s->db, f, "bind a value");
}

int
stmt_row(struct stmt_set *s, enum stmt_id id, struct fault *f)
{
	int got = sqlite3_step(s->st[id]);

	if (got == SQLITE_ROW)
		return 0;
	if (got != SQLITE_DONE)
		(void)stmt_fault(s->db, f, "the lease database");
	stmt_done(s, id);
	return got == SQLITE_DONE ? 1 : -(int)f->code;
}

int
stmt_run(struct stmt_set *s, enum stmt_id id, struct fault *f)
{
	int rc;

	do
		rc = stmt_row(s, id, f);
	while (rc == 0);
	return rc < 0 ? rc : 0;
}

void
stmt_done(struct stmt_set *s, enum stmt_id id)
{
	(void)sqlite3_reset(s->st[id]);
}

int64_t
stmt_int(const struct stmt_set *s, enum stmt_id id, int column)
{
	return sqlite3_column_int64(s->st[id], column);
}

const char *
stmt_text(const struct stmt_set *s, enum stmt_id id, int column)
{
	return (const char *)sqlite3_column_text(s->st[id], column);
}
