/*
 * unseen.h - processes whose descriptors we may not read, but whose locks
 * the kernel shows to everybody
 *
 * Format: /proc/locks as in proc(5).
 */
#ifndef CAPTURE_UNSEEN_H
#define CAPTURE_UNSEEN_H

#include <sys/stat.h>

#include "base/fault.h"

/*
 * Called where nobody was seen to have the file open, some tables may not be
 * read, and no lease could be had. FAULT_TROUBLE where a process has a lock
 * on the inode all the same: it is named, and the hint says which right is
 * missing. A connection without a lock is not seen by this.
 */
int
unseen_refuse_lockers(const struct stat *file, struct fault *f);

#endif
