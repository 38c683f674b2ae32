/*
 * ops_fence.c - what goes by the number of a fence: renew, force
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "lease/ops.h"

static int
S_copy(char **to, const char *from, struct fault *f)
{
	*to = from ? strdup(from) : NULL;
	if (from && !*to)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	return 0;
}

/* Whose fence it is, into a; 1: no grant has that number (any more). */
static int
S_owner(struct txn *t, int64_t fence, struct answer *a, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_GRANT_OF, f, "i", fence);

	if (!rc)
		rc = stmt_row(sql, STMT_GRANT_OF, f);
	if (rc)
		return rc;
	rc = S_copy(&a->session, stmt_text(sql, STMT_GRANT_OF, 0), f);
	if (!rc)
		rc = S_copy(&a->epoch, stmt_text(sql, STMT_GRANT_OF, 1), f);
	if (!rc)
		rc = S_copy(&a->agent, stmt_text(sql, STMT_GRANT_OF, 2), f);
	a->ttl = stmt_int(sql, STMT_GRANT_OF, 3);
	stmt_done(sql, STMT_GRANT_OF);
	return rc;
}

/* How it ended, in words; rows that nobody reaped yet have no event. */
static int
S_ended(struct txn *t, int64_t fence, struct answer *a, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	const char *actor, *reason;
	int rc = stmt_bind(sql, STMT_ENDED, f, "i", fence), n;

	if (!rc)
		rc = stmt_row(sql, STMT_ENDED, f);
	if (rc < 0)
		return rc;
	if (rc == 1)
		return S_copy(&a->ended, a->session ? "expired" : "unknown", f);
	actor = stmt_text(sql, STMT_ENDED, 1);
	reason = stmt_text(sql, STMT_ENDED, 2);
	n = asprintf(&a->ended, "%s%s%s%s%s",
		     stmt_text(sql, STMT_ENDED, 0), actor ? " by " : "",
		     actor ? actor : "", reason ? ": " : "",
		     reason ? reason : "");
	stmt_done(sql, STMT_ENDED);
	if (n < 0) {
		a->ended = NULL;
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	}
	return 0;
}

static int
S_events(struct txn *t, int64_t fence, const struct answer *a,
	 const char *kind, const char *actor, const char *reason,
	 struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_FENCE_EVENTS, f, "ittttt" "iitti", t->op,
			   t->verb, kind, actor, reason, t->now.boot,
			   t->now.at, t->now.utc, a->session, a->epoch,
			   fence);

	return rc ? rc : stmt_run(sql, STMT_FENCE_EVENTS, f);
}

static int
S_renew(struct txn *t, int64_t fence, struct answer *a, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_RENEW, f, "tti" "iiit", a->session,
			   a->epoch, fence, t->now.at, t->now.at + a->ttl,
			   t->now.utc + a->ttl, t->now.boot);

	while (!rc && (rc = stmt_row(sql, STMT_RENEW, f)) == 0) {
		int64_t expires = stmt_int(sql, STMT_RENEW, 0);

		if (a->count++ == 0 || expires < a->expires) {
			a->expires = expires;
			a->expires_utc = stmt_int(sql, STMT_RENEW, 1);
		}
	}
	if (rc < 0)
		return rc;
	if (a->count == 0)
		return 0;
	rc = stmt_bind(sql, STMT_TTL, f, "ii", fence, a->ttl);
	if (!rc)
		rc = stmt_run(sql, STMT_TTL, f);
	return rc ? rc : S_events(t, fence, a, "renewed", NULL, NULL, f);
}

int
ops_renew(struct store *s, int64_t fence, const char *session,
	  const char *epoch, int64_t ttl, struct answer *a, struct fault *f)
{
	enum outcome outcome = OUTCOME_ABSENT;
	OWN_TXN(t);
	int rc = txn_begin(s, "renew", &t, f);

	if (!rc)
		rc = S_owner(&t, fence, a, f);
	a->now = t.now;
	a->fence = fence;
	if (!rc && session && (strcmp(session, a->session) ||
			       strcmp(epoch, a->epoch))) {
		a->outcome = OUTCOME_EPOCH_MISMATCH;
		return 0;
	}
	if (ttl)
		a->ttl = ttl;
	if (!rc)
		rc = S_renew(&t, fence, a, f);
	if (rc < 0)
		return rc;
	if (a->count > 0)
		outcome = OUTCOME_ACQUIRED;
	else
		rc = S_ended(&t, fence, a, f);
	if (!rc)
		rc = txn_commit(&t, f);
	if (!rc)
		a->outcome = outcome;
	return rc;
}

int
ops_force(struct store *s, int64_t fence, const char *actor,
	  const char *reason, struct answer *a, struct fault *f)
{
	enum outcome outcome = OUTCOME_ABSENT;
	struct stmt_set *sql = &s->sql;
	OWN_TXN(t);
	int rc = txn_begin(s, "force-release", &t, f);

	if (!rc)
		rc = S_owner(&t, fence, a, f);
	a->now = t.now;
	a->fence = fence;
	if (!rc)
		rc = S_events(&t, fence, a, "forced", actor, reason, f);
	if (!rc)
		rc = stmt_bind(sql, STMT_FENCE_DELETE, f, "tti" "ti",
			       a->session, a->epoch, fence, t.now.boot,
			       t.now.at);
	if (!rc) {
		rc = stmt_run(sql, STMT_FENCE_DELETE, f);
		a->count = (size_t)sqlite3_changes64(sql->db);
	}
	if (rc < 0)
		return rc;
	if (a->count > 0) {
		outcome = OUTCOME_RELEASED;
		rc = ops_close_handoff(&t, f);
	} else {
		rc = S_ended(&t, fence, a, f);
	}
	if (!rc)
		rc = txn_commit(&t, f);
	if (!rc)
		a->outcome = outcome;
	return rc;
}
