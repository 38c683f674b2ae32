/*
 * state.h - one database as recovered from its images, ready for SQL
 *
 * Lifecycle: state_setup once in the process, before the sandbox; state_open,
 * state_connect for each thread that reads, close the connections with
 * sqlite3_close, state_finish, state_free.
 *
 * SQLite recovers over the held VFS; the result is copied by its backup
 * API into memory, and the connection over the images is closed. Where that
 * would pass the memory limit, or the side asks to be read in place,
 * connections work over the images instead and
 * in_memory is false.
 */
#ifndef RECOVER_STATE_H
#define RECOVER_STATE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "recover/journal.h"
#include "recover/wal.h"
#include "reply/ask.h"

struct state;

enum state_view {
	STATE_VIEW_RECOVERY,	/* what a fresh open would see */
	STATE_VIEW_LIVE,	/* what the writer's SHM says is committed */
};

/* What was found on the way; filled by state_open. */
struct state_facts {
	uint32_t page_size;
	uint32_t page_count;		/* of the recovered state */
	int encoding;			/* 1 UTF-8, 2 UTF-16le, 3 UTF-16be; 0:
					   empty file */
	bool wal_mode;			/* main's header asks for a WAL */
	bool in_memory;
	struct wal_account wal;
	struct journal_account journal;
	bool live_known;		/* the SHM gives a live view */
	uint32_t live_frames;		/* its mxFrame */
	bool views_agree;
	const char *view;		/* "recovery" or "live" as opened */
};

/*
 * All that needs the system: configures and initialises SQLite (URI names
 * off), draws its randomness, sets TZ to UTC, resolves SHA-256, takes away
 * every VFS that can open a file. Nothing of this room opens, stats or
 * reads a path afterwards. SQLite must not be initialised yet; a second
 * call does nothing.
 */
int
state_setup(struct fault *f);

/*
 * side is borrowed and must outlive the state. FAULT_DAMAGED with a sentence
 * that says which: not a database, encrypted or not a database, truncated,
 * WAL damage that loses commits, block digest, wal-index disagreement.
 * FAULT_REFUSED: a super-journal is named.
 */
int
state_open(struct state **s, const struct ask_side *side,
	   enum state_view view, uint64_t memory_limit, struct fault *f);

const struct state_facts *
state_facts(const struct state *s);

/*
 * A new connection to the recovered state, hardened (defensive, no trusted
 * schema, no extensions, query_only, limits), for one thread at a time.
 * The caller closes it.
 */
int
state_connect(struct state *s, sqlite3 **db, struct fault *f);

/*
 * n bytes of the recovered database as one plain file (page 1 says rollback
 * journal), from offset; n and offset are multiples of the page size.
 */
int
state_pages(struct state *s, uint64_t offset, void *bytes, size_t n,
	    struct fault *f);

/* Checks every block that nothing has read yet: FAULT_DAMAGED names it. */
int
state_finish(struct state *s, struct fault *f);

void
state_free(struct state *s);

/*
 * A SQLite error on db as a fault: what the images met, else FAULT_DAMAGED
 * for corrupt or unsupported evidence, FAULT_CAP for memory and sizes,
 * FAULT_INTERRUPTED, FAULT_TROUBLE. A caller that runs somebody else's SQL
 * must tell SQLITE_ERROR and its like apart before.
 */
int
state_sql_fault(sqlite3 *db, int sqlite_rc, const char *doing,
		struct fault *f);

#endif
