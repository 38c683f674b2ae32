/*
 * ops.h - what can be done with leases
 *
 * Each operation is one transaction: it is done as a whole and on disk when
 * it returns 0, or nothing of it happened. Every row that comes, changes or
 * goes has its event in the same transaction.
 *
 * Lifecycle: an empty struct answer, one operation, answer_free.
 */
#ifndef LEASE_OPS_H
#define LEASE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "lease/leased.h"
#include "lease/instant.h"
#include "lease/owner.h"
#include "lease/store.h"

enum outcome {
	OUTCOME_ERROR,		/* nothing was decided */
	OUTCOME_ACQUIRED,	/* or renewed */
	OUTCOME_BLOCKED,
	OUTCOME_RELEASED,	/* or forced */
	OUTCOME_ABSENT,		/* there was nothing of this owner */
	OUTCOME_EPOCH_MISMATCH,	/* only under other epochs of the session */
	OUTCOME_FREE,
	OUTCOME_HELD,		/* by the fence that was asked for */
};

/* "acquired", "blocked" …: the word in JSON and in the usage counter. */
const char *
outcome_name(enum outcome o);

/* Where a path of an acquire stands afterwards. */
struct taken {
	int64_t fence;
	int64_t expires, expires_utc;
	bool kept;		/* it was the owner's before */
};

struct answer {
	enum outcome outcome;
	struct instant now;	/* of the transaction */
	size_t count;		/* rows that were taken, renewed, removed … */
	size_t reaped;
	int64_t fence;		/* the newest of the rows; 0: none */
	int64_t expires, expires_utc;	/* the earliest of the rows */
	struct taken *taken;	/* owned: one for each path */
	struct leased_list held;	/* blockers, or what was looked for */
	char **epochs;		/* owned: held by this session, see count */
	size_t nepochs;
	char *ended;		/* owned: how the lease of a fence ended */
	char *session, *epoch, *agent;	/* owned: of a fence */
	int64_t ttl;		/* ns */
};

void
answer_free(struct answer *a);

#define OWN_ANSWER(name) \
	struct answer name __attribute__((cleanup(answer_free))) = \
		{ .outcome = OUTCOME_ERROR }

struct ops_acquire {
	char *const *paths;	/* keys (path.h), each once */
	size_t npaths;
	const char *session, *epoch;	/* canonical; epoch is never NULL */
	const char *agent, *host, *cwd, *note;	/* or NULL */
	int64_t ttl;		/* ns, 1 s to the longest that is allowed */
	const struct owner_process *process;	/* or NULL */
};

/*
 * All paths or none. ACQUIRED or BLOCKED. What had expired is reaped, and
 * that stays so when the answer is BLOCKED. New paths share one new fence;
 * paths that the owner holds keep their fence and their acquired, only
 * their expiry moves, and never back.
 */
int
ops_acquire(struct store *s, const struct ops_acquire *q, struct answer *a,
	    struct fault *f);

/*
 * The live rows of a fence, for ttl from now (0: as at first). ACQUIRED, or
 * ABSENT with what ended it, or EPOCH_MISMATCH where session (or NULL) and
 * epoch are not its owner. An expired lease is never renewed.
 */
int
ops_renew(struct store *s, int64_t fence, const char *session,
	  const char *epoch, int64_t ttl, struct answer *a, struct fault *f);

/*
 * Exactly the live rows of (session, epoch); with a fence (else 0) those of
 * it alone. RELEASED, ABSENT or EPOCH_MISMATCH. Where an owner with an epoch
 * has none, it is given the rows of its session whose empty epoch nobody
 * chose, as long as the handoff is open.
 */
int
ops_release(struct store *s, const char *session, const char *epoch,
	    int64_t fence, struct answer *a, struct fault *f);

/* RELEASED or ABSENT. actor and reason go into the events. */
int
ops_force(struct store *s, int64_t fence, const char *actor,
	  const char *reason, struct answer *a, struct fault *f);

/*
 * FREE; BLOCKED with the first rows in the way; HELD where a row of fence
 * (else 0) is on path or above it; ABSENT where fence was asked for and
 * nothing is held: that fence is stale.
 */
int
ops_check(struct store *s, const char *path, int64_t fence, struct answer *a,
	  struct fault *f);

/* Every live row, in order of the paths. */
int
ops_status(struct store *s, struct answer *a, struct fault *f);

/* Removes what has expired; a->reaped says how much. */
int
ops_reap(struct store *s, struct answer *a, struct fault *f);

struct ops_event {
	int64_t seq, op;
	const char *verb, *kind;
	int64_t fence;			/* 0: none */
	const char *resource, *session, *epoch;	/* or NULL */
	const char *actor, *reason, *boot;
	int64_t at, at_utc;
	int64_t expires;		/* 0: none */
};

/* Each event behind since, in order, borrowed for the call. */
int
ops_events(struct store *s, int64_t since,
	   int (*each)(void *arg, const struct ops_event *e, struct fault *f),
	   void *arg, struct fault *f);

/*
 * Drops the events up to seq through, and the grants that no row and no event
 * names any more. It stops before the first event that a live row needs.
 * a->count: events dropped.
 */
int
ops_prune(struct store *s, int64_t through, struct answer *a,
	  struct fault *f);

/* Inside a transaction: */

/* Expired rows go, each with its event. */
int
ops_reap_due(struct txn *t, size_t *reaped, struct fault *f);
/* After rows may have gone: the last legacy one closes the handoff. */
int
ops_close_handoff(struct txn *t, struct fault *f);
/* Rows of the old schema may still be handed over. */
int
ops_handoff_open(struct txn *t, bool *open, struct fault *f);

#endif
