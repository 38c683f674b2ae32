/*
 * stopped.h - files that nobody holds open, taken by name all the same
 *
 * Without a writer there is no descriptor table that could prove which
 * files belong together. What stands in for it: nobody but root and us can
 * have changed a name on the way to the file (the private-directory rule),
 * and a read lease of the kernel shows that nobody opened the file for
 * writing while it was read.
 */
#ifndef CAPTURE_STOPPED_H
#define CAPTURE_STOPPED_H

#include <stdbool.h>

#include "base/fault.h"
#include "capture/held.h"
#include "packet/notes.h"

/*
 * 0: from the directory dirfd (O_PATH is enough) up to the root each one
 * can be changed by root and us alone; a sticky one counts where root or we
 * own it and its entry. 1: some other can; *who names directory and owner.
 */
int
stopped_private(int dirfd, uid_t entry_owner, char *who, size_t who_bytes,
		struct fault *f);

/*
 * Opens name below dirfd, no link followed, as a regular file.
 * 1: there is none, or it is empty.
 */
int
stopped_take(struct held *h, int dirfd, const char *name, struct fault *f);

/*
 * Puts a read lease on a held file. FAULT_REFUSED: somebody has it open for
 * writing. Where we may not have a lease (neither owner nor CAP_LEASE, or a
 * file system without) a note is added and *leased is false.
 */
int
stopped_lease(const struct held *h, struct notes *notes, bool *leased,
	      struct fault *f);

/* The lease stands, or FAULT_UNSTABLE: somebody opens the file to write. */
int
stopped_lease_still(const struct held *h, struct fault *f);

#endif
