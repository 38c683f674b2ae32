/*
 * candidates.h - the database files that the paused writers have open
 *
 * Every regular file in a writer's descriptor table is looked at; those that
 * are or may be SQLite's are held. What a file is, is told by comparing its
 * first bytes with four constants; no number is taken from them. Its name
 * counts in two ways, both against it: a file that bears main's own name and
 * a suffix is a candidate whatever it holds, and a candidate that bears
 * another name is not bound without a look at its content.
 */
#ifndef CAPTURE_CANDIDATES_H
#define CAPTURE_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "base/role.h"
#include "capture/held.h"
#include "capture/holders.h"
#include "capture/locks.h"
#include "capture/proc.h"

struct candidate {
	struct held held;	/* held.role says what it is */
	bool own_name;		/* a writer's link text is main's + suffix */
	bool blank;		/* empty, or its first byte is 0: no content */
	bool locked;		/* who has it open has a lock on the main */
	struct main_locks locks;	/* ROLE_MAIN: of all writers */
};

/* Candidate 0 is the main that is to be captured. */
struct candidates {
	struct candidate *list;
	size_t count;
};

/* A writer with more open database files than this is refused. */
#define CANDIDATES_MAX 1024u

#define CANDIDATES_INIT { .list = NULL, .count = 0 }

/*
 * Adds what one paused writer has open; main_ino is the main to capture,
 * which the writer holds. Inodes that are there already are not taken twice.
 */
int
candidates_add(struct candidates *c, const struct proc *p, dev_t main_dev,
	       ino_t main_ino, struct fault *f);

/*
 * *any: the process has a database file open that is none of ids. Those are
 * not opened for it.
 */
int
candidates_others(const struct proc *p, const struct inode_id *ids, size_t n,
		  bool *any, struct fault *f);

/* Which one is this inode: its index, or -1. */
int
candidates_find(const struct candidates *c, dev_t dev, ino_t ino);

/* A sidecar that has something to say: it must be bound, or left. */
bool
candidate_has_content(const struct candidate *c);

/* How many there are of a role. */
size_t
candidates_of(const struct candidates *c, enum role r);

void
candidates_free(struct candidates *c);

#define OWN_CANDIDATES(name) \
	struct candidates name __attribute__((cleanup(candidates_free))) = \
		CANDIDATES_INIT

#endif
