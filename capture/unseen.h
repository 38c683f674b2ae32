/*
 * unseen.h - processes that we can't look into, but whose locks the kernel
 * tells everybody of
 *
 * Format: /proc/locks as in proc(5). It leaves out the locks of processes
 * outside of our PID namespace; fcntl(F_GETLK) does not.
 */
#ifndef CAPTURE_UNSEEN_H
#define CAPTURE_UNSEEN_H

#include "base/fault.h"
#include "capture/held.h"
#include "capture/holders.h"
#include "capture/locks.h"

/*
 * Called where nobody was seen to have main open for writing and no lease
 * could be had. FAULT_TROUBLE where a process that is not among the seen has
 * a lock on it all the same: it is named, and the hint says what is missing.
 * A connection without a lock is not seen by this.
 */
int
unseen_refuse_lockers(const struct held *main, const struct holders *seen,
		      struct fault *f);

/*
 * The writers stand still, and ours are all the locks that they have. A
 * write lock beside them is that of a process that we can't see
 * (FAULT_TROUBLE), or of one that has just come (FAULT_UNSTABLE).
 */
int
unseen_refuse_writer(const struct held *main, const struct main_locks *ours,
		     const struct holders *seen, struct fault *f);

#endif
