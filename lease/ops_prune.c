/*
 * ops_prune.c - reap what expired, prune what nobody needs
 */
#include "base/own.h"
#include "lease/ops.h"

int
ops_reap(struct store *s, struct answer *a, struct fault *f)
{
	OWN_TXN(t);
	int rc = txn_begin(s, "reap", &t, f);

	if (!rc)
		rc = ops_reap_due(&t, &a->reaped, f);
	a->now = t.now;
	if (!rc)
		rc = txn_commit(&t, f);
	if (!rc)
		a->outcome = OUTCOME_RELEASED;
	return rc;
}

/* The last event that may go: the grant of a live row may not. */
static int
S_bound(struct txn *t, int64_t *through, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_FIRST_NEEDED, f, "");
	int64_t first;

	if (!rc)
		rc = stmt_row(sql, STMT_FIRST_NEEDED, f);
	if (rc)
		return rc;
	first = stmt_int(sql, STMT_FIRST_NEEDED, 0);
	stmt_done(sql, STMT_FIRST_NEEDED);
	if (first > 0 && *through >= first)
		*through = first - 1;
	if (*through >= t->op)
		*through = t->op - 1;
	return 0;
}

static int
S_prune(struct txn *t, int64_t through, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_PRUNE_GRANTS, f, "");

	if (!rc)
		rc = stmt_run(sql, STMT_PRUNE_GRANTS, f);
	if (!rc)
		rc = stmt_bind(sql, STMT_PRUNED, f, "i", through);
	if (!rc)
		rc = stmt_run(sql, STMT_PRUNED, f);
	/* Its expires column says up to where. */
	if (!rc)
		rc = stmt_bind(sql, STMT_EVENT, f, "ittttt" "iiItttI", t->op,
			       t->verb, "pruned", NULL, NULL, t->now.boot,
			       t->now.at, t->now.utc, (int64_t)-1, NULL, NULL,
			       NULL, through);
	return rc ? rc : stmt_run(sql, STMT_EVENT, f);
}

int
ops_prune(struct store *s, int64_t through, struct answer *a, struct fault *f)
{
	struct stmt_set *sql = &s->sql;
	OWN_TXN(t);
	int rc = txn_begin(s, "prune", &t, f);

	if (!rc)
		rc = S_bound(&t, &through, f);
	if (!rc)
		rc = stmt_bind(sql, STMT_PRUNE_EVENTS, f, "i", through);
	if (!rc)
		rc = stmt_run(sql, STMT_PRUNE_EVENTS, f);
	if (!rc) {
		a->count = (size_t)sqlite3_changes64(sql->db);
		if (a->count > 0)
			rc = S_prune(&t, through, f);
	}
	a->now = t.now;
	if (!rc)
		rc = txn_commit(&t, f);
	if (!rc)
		a->outcome = OUTCOME_RELEASED;
	return rc;
}
