/*
 * split.h - sidecars of one main that the writers do not share
 *
 * Two processes can sit on two WALs of one main: one on a file that was
 * unlinked or renamed, or each on that of another name of main. Each then
 * commits what the other does not see, and no choice of one is the database.
 *
 * A child that was forked keeps what its parent had open, and no lock. A
 * journal or WAL of a transaction or connection that is over, unlinked by
 * SQLite itself, lives on in it.
 */
#ifndef CAPTURE_SPLIT_H
#define CAPTURE_SPLIT_H

#include "base/fault.h"
#include "capture/candidates.h"

/*
 * Takes out journals that are over. FAULT_REFUSED names both files of a
 * split, or the unlinked WAL that no connection uses any more.
 */
int
split_judge(struct candidates *c, struct fault *f);

#endif
