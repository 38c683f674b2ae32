/*
 * ops.c - what every operation needs
 */
#include "lease/ops.h"

#include <stdlib.h>

const char *
outcome_name(enum outcome o)
{
	static const char *const names[] = {
		[OUTCOME_ERROR] = "error",
		[OUTCOME_ACQUIRED] = "acquired",
		[OUTCOME_BLOCKED] = "blocked",
		[OUTCOME_RELEASED] = "released",
		[OUTCOME_ABSENT] = "absent",
		[OUTCOME_EPOCH_MISMATCH] = "epoch-mismatch",
		[OUTCOME_FREE] = "free",
		[OUTCOME_HELD] = "held",
	};

	return names[o];
}

void
answer_free(struct answer *a)
{
	for (size_t i = 0; i < a->nepochs; i++)
		free(a->epochs[i]);
	free(a->epochs);
	free(a->taken);
	free(a->ended);
	free(a->session);
	free(a->epoch);
	free(a->agent);
	leased_free(&a->held);
	*a = (struct answer){ .outcome = OUTCOME_ERROR };
}

int
ops_reap_due(struct txn *t, size_t *reaped, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_DUE, f, "ti", t->now.boot, t->now.at);

	if (!rc)
		rc = stmt_row(sql, STMT_DUE, f);
	if (rc)
		return rc < 0 ? rc : 0;
	stmt_done(sql, STMT_DUE);
	rc = stmt_bind(sql, STMT_DUE_EVENTS, f, "ittttt" "ii", t->op, t->verb,
		       "expired", NULL, NULL, t->now.boot, t->now.at,
		       t->now.utc);
	if (!rc)
		rc = stmt_run(sql, STMT_DUE_EVENTS, f);
	if (!rc)
		rc = stmt_bind(sql, STMT_DUE_DELETE, f, "ti", t->now.boot,
			       t->now.at);
	if (!rc)
		rc = stmt_run(sql, STMT_DUE_DELETE, f);
	if (!rc)
		*reaped = (size_t)sqlite3_changes64(sql->db);
	return rc ? rc : ops_close_handoff(t, f);
}

int
ops_handoff_open(struct txn *t, bool *open, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_META, f, "");

	if (!rc)
		rc = stmt_row(sql, STMT_META, f);
	if (rc == 1)
		return fault_set(f, FAULT_DAMAGED, "the table meta is empty");
	if (rc)
		return rc;
	*open = stmt_int(sql, STMT_META, 0) == 0;
	stmt_done(sql, STMT_META);
	return 0;
}

int
ops_close_handoff(struct txn *t, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	bool open = false;
	int rc = ops_handoff_open(t, &open, f);

	if (rc || !open)
		return rc;
	rc = stmt_bind(sql, STMT_LEGACY_LEFT, f, "");
	if (!rc)
		rc = stmt_row(sql, STMT_LEGACY_LEFT, f);
	if (rc <= 0) {
		stmt_done(sql, STMT_LEGACY_LEFT);
		return rc;
	}
	rc = stmt_bind(sql, STMT_CLOSE_HANDOFF, f, "");
	return rc ? rc : stmt_run(sql, STMT_CLOSE_HANDOFF, f);
}
