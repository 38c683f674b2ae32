/*
 * store.h - the lease database, opened, and its transactions
 *
 * Lifecycle: store_open; for each operation one txn_begin, statements, one
 * txn_commit, and txn_end in every case; store_close.
 *
 * All that decides happens inside one BEGIN IMMEDIATE, and the clock is read
 * only when that has returned: whoever waited long for the lock must not
 * decide by the time at which it began to wait.
 *
 * A process may have one store of a file open at a time. (The file is looked
 * at before SQLite opens it, and closing a descriptor of a file drops all
 * POSIX locks that the process has on it.)
 */
#ifndef LEASE_STORE_H
#define LEASE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "lease/instant.h"
#include "lease/queue.h"
#include "lease/stmt.h"

#define STORE_APPLICATION_ID 0x4c656173	/* "Leas" */
#define STORE_USER_VERSION 1

struct store {
	struct stmt_set sql;		/* and the connection */
	struct queue queue;
	struct instant_source clock;
	uint64_t wait_ns;		/* bound of every wait for others */
	int dir, looked;		/* owned: the folder, the file */
	int wal_pages;			/* after our last commit */
	bool refused;			/* leave no trace in the folder */
	bool had_wal;
	bool wal_mode;			/* said the header of the file */
};

struct store_options {
	const char *path;		/* the file; its folder is made */
	struct instant_source clock;
	uint64_t wait_ns;		/* 0: the default */
};

/*
 * Makes a new database, takes one of the older schemas over, or opens one of
 * ours. FAULT_REFUSED: the folder or the file belongs to another or others
 * may write it, or the file is something else; it is left as it is.
 */
int
store_open(struct store **s, const struct store_options *o, struct fault *f);
void
store_close(struct store **s);

struct txn {
	struct store *store;	/* NULL: ended */
	struct instant now;	/* read inside the transaction */
	const char *verb;	/* of its events */
	int64_t op;		/* seq that its first event has */
	bool writes;
};

/* verb: "acquire" …, or NULL for one that only reads. */
int
txn_begin(struct store *s, const char *verb, struct txn *t, struct fault *f);
/* On disk when it returns 0. */
int
txn_commit(struct txn *t, struct fault *f);
/* Rolls back what was not committed; the next one has its turn. */
void
txn_end(struct txn *t);

#define OWN_STORE(name) \
	struct store *name __attribute__((cleanup(store_close))) = NULL
#define OWN_TXN(name) \
	struct txn name __attribute__((cleanup(txn_end))) = { .store = NULL }

#endif
