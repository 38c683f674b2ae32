/*
 * ops_release.c - an owner's own rows, and nobody else's
 *
 * A lease of another owner, of another epoch, or one that has expired since,
 * is not touched, whoever asks. The one exception is the handoff from the
 * schema without epochs: there nobody chose the empty epoch, so a session
 * that has an epoch by now may take its own old rows. It is bound to rows
 * that were migrated (origin), and ends for ever with the last of them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "lease/limits.h"
#include "lease/ops.h"

static int
S_own_rows(struct txn *t, const char *session, const char *epoch,
	   int64_t fence, struct answer *a, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int64_t only = fence ? fence : -1;
	int rc = stmt_bind(sql, STMT_OWNER_EVENTS, f, "ittttt" "iittI", t->op,
			   t->verb, "released", NULL, NULL, t->now.boot,
			   t->now.at, t->now.utc, session, epoch, only);

	if (!rc)
		rc = stmt_run(sql, STMT_OWNER_EVENTS, f);
	if (!rc)
		rc = stmt_bind(sql, STMT_OWNER_DELETE, f, "ttI" "ti", session,
			       epoch, only, t->now.boot, t->now.at);
	if (!rc)
		rc = stmt_run(sql, STMT_OWNER_DELETE, f);
	if (!rc)
		a->count = (size_t)sqlite3_changes64(sql->db);
	return rc;
}

static int
S_handed_over(struct txn *t, const char *session, const char *epoch,
	      struct answer *a, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	bool open = false;
	int rc = ops_handoff_open(t, &open, f);

	if (rc || !open)
		return rc;
	rc = stmt_bind(sql, STMT_HANDOFF_EVENTS, f, "ittttt" "iit", t->op,
		       t->verb, "released", epoch, "handoff", t->now.boot,
		       t->now.at, t->now.utc, session);
	if (!rc)
		rc = stmt_run(sql, STMT_HANDOFF_EVENTS, f);
	if (!rc)
		rc = stmt_bind(sql, STMT_HANDOFF_DELETE, f, "tti", session,
			       t->now.boot, t->now.at);
	if (!rc)
		rc = stmt_run(sql, STMT_HANDOFF_DELETE, f);
	if (!rc)
		a->count = (size_t)sqlite3_changes64(sql->db);
	return rc;
}

/* The epochs under which the session holds something, into a. */
static int
S_epochs(struct txn *t, const char *session, struct answer *a,
	 struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_EPOCHS, f, "ttii", session, t->now.boot,
			   t->now.at, (int64_t)LIMITS_SHOWN);

	a->epochs = calloc(LIMITS_SHOWN, sizeof(*a->epochs));
	if (!a->epochs)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	while (!rc && (rc = stmt_row(sql, STMT_EPOCHS, f)) == 0) {
		char *epoch = strdup(stmt_text(sql, STMT_EPOCHS, 0));

		if (!epoch)
			return fault_set(f, FAULT_TROUBLE, "out of memory");
		a->epochs[a->nepochs++] = epoch;
	}
	return rc < 0 ? rc : 0;
}

static bool
S_has_epoch(const struct answer *a, const char *epoch)
{
	for (size_t i = 0; i < a->nepochs; i++)
		if (strcmp(a->epochs[i], epoch) == 0)
			return true;
	return false;
}

int
ops_release(struct store *s, const char *session, const char *epoch,
	    int64_t fence, struct answer *a, struct fault *f)
{
	enum outcome outcome = OUTCOME_RELEASED;
	OWN_TXN(t);
	int rc = txn_begin(s, "release", &t, f);

	if (!rc)
		rc = S_own_rows(&t, session, epoch, fence, a, f);
	if (!rc && a->count == 0 && *epoch && !fence)
		rc = S_handed_over(&t, session, epoch, a, f);
	if (!rc && a->count > 0)
		rc = ops_close_handoff(&t, f);
	if (!rc && a->count == 0) {
		rc = S_epochs(&t, session, a, f);
		outcome = a->nepochs > 0 && !S_has_epoch(a, epoch)
			  ? OUTCOME_EPOCH_MISMATCH : OUTCOME_ABSENT;
	}
	a->now = t.now;
	if (!rc)
		rc = txn_commit(&t, f);
	if (!rc)
		a->outcome = outcome;
	return rc;
}
