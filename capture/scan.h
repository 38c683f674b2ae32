/*
 * scan.h - looks through the descriptors and mappings of one process
 *
 * The inner part of holders.c, apart from it since it is about /proc/PID
 * alone. A struct scan holds the buffers that every process is read with.
 *
 * Format: /proc/PID/fd, maps and map_files as in proc(5). The owner bits of
 * a link in fd or map_files tell how the file was opened (r, w, or neither
 * for O_PATH); unlike the permissions of a mapping they tell too what an
 * mprotect could still allow.
 */
#ifndef CAPTURE_SCAN_H
#define CAPTURE_SCAN_H

#include <stddef.h>

#include "base/fault.h"
#include "capture/holders.h"
#include "capture/proc.h"

struct scan;

/*
 * ids is borrowed until scan_free. NULL: every descriptor of a regular file
 * matches, and mappings are not looked at.
 */
int
scan_new(struct scan **s, const struct inode_id *ids, size_t n,
	 struct fault *f);
void
scan_free(struct scan *s);

#define SCAN_DENIED 1

/*
 * Appends what matches to h. Of p only pid and dirfd are used; dirfd may be
 * O_PATH. A process that ends meanwhile is no fault. SCAN_DENIED: some of it
 * may not be read; what could be is in h.
 */
int
scan_process(struct scan *s, const struct proc *p, struct holder *h,
	     struct fault *f);

static inline void
own_scan_free(struct scan **s)
{
	scan_free(*s);
	*s = NULL;
}

#define OWN_SCAN(name) \
	struct scan *name __attribute__((cleanup(own_scan_free))) = NULL

#endif
