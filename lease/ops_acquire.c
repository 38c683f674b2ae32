/*
 * ops_acquire.c - all paths or none
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "lease/limits.h"
#include "lease/ops.h"
#include "lease/path.h"

/* The rows that statement id gives; 1: as many as an answer names. */
static int
S_collect(struct txn *t, enum stmt_id id, struct answer *a, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc;

	while ((rc = stmt_row(sql, id, f)) == 0) {
		if (a->held.n == LIMITS_SHOWN) {
			a->held.more = true;
			stmt_done(sql, id);
			return 1;
		}
		rc = leased_read(&a->held, sql, id, f);
		if (rc)
			break;
	}
	return rc < 0 ? rc : 0;
}

/* Rows of other owners on path itself and on each folder above it. */
static int
S_above(struct txn *t, const struct ops_acquire *q, const char *path,
	struct answer *a, struct fault *f)
{
	char part[PATH_MAX];
	size_t n = strlen(path);
	int rc = 0;

	(void)strcpy(part, path);
	while (!rc && n > 0) {
		part[n] = '\0';
		rc = stmt_bind(&t->store->sql, STMT_AT, f, "ttt" "ti", part,
			       q->session, q->epoch, t->now.boot, t->now.at);
		if (!rc)
			rc = S_collect(t, STMT_AT, a, f);
		while (n > 0 && part[--n] != '/')
			;
	}
	return rc;
}

/* Rows of other owners below path: the range from "path/" to "path0". */
static int
S_below(struct txn *t, const struct ops_acquire *q, const char *path,
	struct answer *a, struct fault *f)
{
	char from[PATH_MAX + 1], to[PATH_MAX + 1];
	int rc;

	(void)snprintf(from, sizeof(from), "%s/", path);
	(void)snprintf(to, sizeof(to), "%s0", path);
	rc = stmt_bind(&t->store->sql, STMT_BELOW, f, "tttt" "tii", from, to,
		       q->session, q->epoch, t->now.boot, t->now.at,
		       (int64_t)LIMITS_SHOWN + 1);
	return rc ? rc : S_collect(t, STMT_BELOW, a, f);
}

static int
S_blockers(struct txn *t, const struct ops_acquire *q, struct answer *a,
	   struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < q->npaths; i++) {
		rc = S_above(t, q, q->paths[i], a, f);
		if (!rc)
			rc = S_below(t, q, q->paths[i], a, f);
	}
	return rc < 0 ? rc : 0;
}

static int
S_event(struct txn *t, const struct ops_acquire *q, const char *kind,
	const char *path, const struct taken *k, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_EVENT, f, "ittttt" "iiitttI", t->op,
			   t->verb, kind, NULL, NULL, t->now.boot, t->now.at,
			   t->now.utc, k->fence, path, q->session, q->epoch,
			   k->expires);

	return rc ? rc : stmt_run(sql, STMT_EVENT, f);
}

/* 1: the owner does not hold it yet. */
static int
S_keep(struct txn *t, const struct ops_acquire *q, const char *path,
       struct taken *k, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_KEEP, f, "ttt" "iii", path, q->session,
			   q->epoch, t->now.at, t->now.at + q->ttl,
			   t->now.utc + q->ttl);

	if (!rc)
		rc = stmt_row(sql, STMT_KEEP, f);
	if (rc)
		return rc;
	*k = (struct taken){
		.fence = stmt_int(sql, STMT_KEEP, 0),
		.expires = stmt_int(sql, STMT_KEEP, 1),
		.expires_utc = stmt_int(sql, STMT_KEEP, 2),
		.kept = true,
	};
	rc = stmt_run(sql, STMT_KEEP, f);
	if (!rc)
		rc = stmt_bind(sql, STMT_TTL, f, "ii", k->fence, q->ttl);
	if (!rc)
		rc = stmt_run(sql, STMT_TTL, f);
	return rc ? rc : S_event(t, q, "renewed", path, k, f);
}

static int
S_grant(struct txn *t, const struct ops_acquire *q, int64_t *fence,
	struct fault *f)
{
	static const struct owner_process nobody = { .pid = 0 };
	const struct owner_process *p = q->process ? q->process : &nobody;
	struct stmt_set *sql = &t->store->sql;
	bool known = p->pid > 0;
	int rc = stmt_bind(sql, STMT_GRANT, f, "ttttttt" "iiiIIIt",
			   q->session, q->epoch, q->agent, q->host, q->cwd,
			   q->note, t->now.boot, t->now.at, t->now.utc, q->ttl,
			   known ? p->pid : -1, known ? p->start : -1,
			   known ? p->ns : -1, known ? p->boot : NULL);

	if (!rc)
		rc = stmt_run(sql, STMT_GRANT, f);
	if (!rc)
		*fence = sqlite3_last_insert_rowid(sql->db);
	return rc;
}

static int
S_take(struct txn *t, const struct ops_acquire *q, const char *path,
       int64_t *fence, struct taken *k, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = *fence ? 0 : S_grant(t, q, fence, f);

	if (rc)
		return rc;
	*k = (struct taken){
		.fence = *fence,
		.expires = t->now.at + q->ttl,
		.expires_utc = t->now.utc + q->ttl,
	};
	rc = stmt_bind(sql, STMT_TAKE, f, "titt" "tiii", path, *fence,
		       q->session, q->epoch, t->now.boot, t->now.at,
		       k->expires, k->expires_utc);
	if (!rc)
		rc = stmt_run(sql, STMT_TAKE, f);
	return rc ? rc : S_event(t, q, "granted", path, k, f);
}

static int
S_take_all(struct txn *t, const struct ops_acquire *q, struct answer *a,
	   struct fault *f)
{
	int64_t fence = 0;
	int rc = 0;

	a->taken = calloc(q->npaths, sizeof(*a->taken));
	if (!a->taken)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	for (size_t i = 0; !rc && i < q->npaths; i++) {
		struct taken *k = &a->taken[i];

		rc = S_keep(t, q, q->paths[i], k, f);
		if (rc == 1)
			rc = S_take(t, q, q->paths[i], &fence, k, f);
		if (k->fence > a->fence)
			a->fence = k->fence;
		if (i == 0 || k->expires < a->expires) {
			a->expires = k->expires;
			a->expires_utc = k->expires_utc;
		}
	}
	a->count = q->npaths;
	/* A row of the old schema that was acquired again is native now. */
	return rc ? rc : ops_close_handoff(t, f);
}

int
ops_acquire(struct store *s, const struct ops_acquire *q, struct answer *a,
	    struct fault *f)
{
	enum outcome outcome = OUTCOME_BLOCKED;
	OWN_TXN(t);
	int rc = txn_begin(s, "acquire", &t, f);

	if (!rc)
		rc = ops_reap_due(&t, &a->reaped, f);
	if (!rc)
		rc = S_blockers(&t, q, a, f);
	if (!rc && a->held.n == 0) {
		outcome = OUTCOME_ACQUIRED;
		rc = S_take_all(&t, q, a, f);
	}
	a->now = t.now;
	if (!rc)
		rc = txn_commit(&t, f);
	if (!rc)
		a->outcome = outcome;
	return rc;
}
