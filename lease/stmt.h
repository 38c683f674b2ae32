/*
 * stmt.h - every statement that runs, each prepared once
 *
 * Lifecycle: stmt_bind, step (stmt_run, or stmt_row until it gives 1), and
 * stmt_done, which the next stmt_bind does as well.
 */
#ifndef LEASE_STMT_H
#define LEASE_STMT_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/fault.h"

enum stmt_id {
	STMT_BEGIN_WRITE,
	STMT_BEGIN_READ,
	STMT_COMMIT,
	STMT_ROLLBACK,
	STMT_LAST_EVENT,
	STMT_META,
	STMT_DUE,
	STMT_DUE_EVENTS,
	STMT_DUE_DELETE,
	STMT_LEGACY_LEFT,
	STMT_CLOSE_HANDOFF,
	STMT_AT,
	STMT_BELOW,
	STMT_GRANT,
	STMT_TAKE,
	STMT_KEEP,
	STMT_EVENT,
	STMT_TTL,
	STMT_GRANT_OF,
	STMT_RENEW,
	STMT_FENCE_EVENTS,
	STMT_FENCE_DELETE,
	STMT_OWNER_EVENTS,
	STMT_OWNER_DELETE,
	STMT_HANDOFF_EVENTS,
	STMT_HANDOFF_DELETE,
	STMT_EPOCHS,
	STMT_ENDED,
	STMT_STATUS,
	STMT_EVENTS,
	STMT_FIRST_NEEDED,
	STMT_PRUNE_EVENTS,
	STMT_PRUNE_GRANTS,
	STMT_PRUNED,
	STMT_COUNT
};

struct stmt_set {
	sqlite3 *db;			/* borrowed */
	sqlite3_stmt *st[STMT_COUNT];	/* owned */
};

void
stmt_free(struct stmt_set *s);

/*
 * Resets the statement and binds its parameters in order, one letter each:
 * i int64_t, I int64_t or NULL where it is negative, t const char * (NULL is
 * NULL). Text is borrowed until stmt_done.
 */
int
stmt_bind(struct stmt_set *s, enum stmt_id id, struct fault *f,
	  const char *letters, ...);
/* 0: a row is there to be read; 1: none is left. */
int
stmt_row(struct stmt_set *s, enum stmt_id id, struct fault *f);
/* Steps to the end, whatever rows come. */
int
stmt_run(struct stmt_set *s, enum stmt_id id, struct fault *f);
void
stmt_done(struct stmt_set *s, enum stmt_id id);

int64_t
stmt_int(const struct stmt_set *s, enum stmt_id id, int column);
/* Borrowed until the next step; NULL for NULL. */
const char *
stmt_text(const struct stmt_set *s, enum stmt_id id, int column);

/* SQLite's last error on db as a fault: refused, damaged or trouble. */
int
stmt_fault(sqlite3 *db, struct fault *f, const char *doing);

#endif
