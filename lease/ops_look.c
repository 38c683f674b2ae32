/*
 * ops_look.c - check, status, events: read, and change nothing
 */
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "lease/limits.h"
#include "lease/ops.h"
#include "lease/path.h"

/* The row on path, or on the nearest folder above it. */
static int
S_nearest(struct txn *t, const char *path, int64_t fence, struct answer *a,
	  bool *own, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	char part[PATH_MAX];
	size_t n = strlen(path);
	int rc = 0;

	(void)strcpy(part, path);
	while (rc >= 0 && n > 0) {
		part[n] = '\0';
		rc = stmt_bind(sql, STMT_AT, f, "ttt" "ti", part, NULL, NULL,
			       t->now.boot, t->now.at);
		if (!rc)
			rc = stmt_row(sql, STMT_AT, f);
		if (!rc) {
			rc = leased_read(&a->held, sql, STMT_AT, f);
			stmt_done(sql, STMT_AT);
			if (!rc && a->held.at[a->held.n - 1].fence == fence)
				*own = true;
		}
		while (n > 0 && part[--n] != '/')
			;
	}
	return rc < 0 ? rc : 0;
}

static int
S_first_below(struct txn *t, const char *path, struct answer *a,
	      struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	char from[PATH_MAX + 1], to[PATH_MAX + 1];
	int rc;

	(void)snprintf(from, sizeof(from), "%s/", path);
	(void)snprintf(to, sizeof(to), "%s0", path);
	rc = stmt_bind(sql, STMT_BELOW, f, "tttt" "tii", from, to, NULL, NULL,
		       t->now.boot, t->now.at, (int64_t)1);
	if (!rc)
		rc = stmt_row(sql, STMT_BELOW, f);
	if (rc)
		return rc < 0 ? rc : 0;
	rc = leased_read(&a->held, sql, STMT_BELOW, f);
	stmt_done(sql, STMT_BELOW);
	return rc;
}

int
ops_check(struct store *s, const char *path, int64_t fence, struct answer *a,
	  struct fault *f)
{
	bool own = false;
	OWN_TXN(t);
	int rc = txn_begin(s, NULL, &t, f);

	if (!rc)
		rc = S_nearest(&t, path, fence, a, &own, f);
	if (!rc && a->held.n == 0)
		rc = S_first_below(&t, path, a, f);
	a->now = t.now;
	if (rc)
		return rc;
	if (fence && own)
		a->outcome = OUTCOME_HELD;
	else if (a->held.n > 0)
		a->outcome = OUTCOME_BLOCKED;
	else
		a->outcome = fence ? OUTCOME_ABSENT : OUTCOME_FREE;
	return 0;
}

int
ops_status(struct store *s, struct answer *a, struct fault *f)
{
	struct stmt_set *sql = &s->sql;
	OWN_TXN(t);
	int rc = txn_begin(s, NULL, &t, f);

	if (!rc)
		rc = stmt_bind(sql, STMT_STATUS, f, "ti", t.now.boot,
			       t.now.at);
	while (!rc && (rc = stmt_row(sql, STMT_STATUS, f)) == 0)
		rc = leased_read(&a->held, sql, STMT_STATUS, f);
	if (rc < 0)
		return rc;
	a->now = t.now;
	a->count = a->held.n;
	a->outcome = OUTCOME_HELD;
	return 0;
}

int
ops_events(struct store *s, int64_t since,
	   int (*each)(void *arg, const struct ops_event *e, struct fault *f),
	   void *arg, struct fault *f)
{
	const enum stmt_id id = STMT_EVENTS;
	struct stmt_set *sql = &s->sql;
	OWN_TXN(t);
	int rc = txn_begin(s, NULL, &t, f);

	if (!rc)
		rc = stmt_bind(sql, id, f, "i", since);
	while (!rc && (rc = stmt_row(sql, id, f)) == 0) {
		struct ops_event e = {
			.seq = stmt_int(sql, id, 0),
			.op = stmt_int(sql, id, 1),
			.verb = stmt_text(sql, id, 2),
			.kind = stmt_text(sql, id, 3),
			.fence = stmt_int(sql, id, 4),
			.resource = stmt_text(sql, id, 5),
			.session = stmt_text(sql, id, 6),
			.epoch = stmt_text(sql, id, 7),
			.actor = stmt_text(sql, id, 8),
			.reason = stmt_text(sql, id, 9),
			.boot = stmt_text(sql, id, 10),
			.at = stmt_int(sql, id, 11),
			.at_utc = stmt_int(sql, id, 12),
			.expires = stmt_int(sql, id, 13),
		};

		rc = each(arg, &e, f);
	}
	return rc < 0 ? rc : 0;
}
