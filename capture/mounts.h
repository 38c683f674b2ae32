/*
 * mounts.h - in which mounts the name of an open file is to be looked up
 *
 * The kernel shows the path of a descriptor as it runs in the mounts where
 * the file was opened. A writer in a container has others than we: there the
 * same text may name nothing here, or another file. So the mount of the
 * descriptor is compared with that of what the text leads to, first below
 * our root, then below the writer's.
 *
 * Privilege: ptrace read access, for /proc/PID/root.
 */
#ifndef CAPTURE_MOUNTS_H
#define CAPTURE_MOUNTS_H

#include <sys/types.h>

#include "base/fault.h"
#include "capture/holders.h"
#include "capture/names.h"

/*
 * The names that go with a descriptor of a process. 1: its directory is not
 * there. Where no mount tells, the text is taken for one below our root.
 */
int
mounts_open_names(struct names *n, pid_t pid, const struct holder_fd *e,
		  struct fault *f);

/*
 * Is the file itself, and not its folder, mounted somewhere here? Who opens
 * it there puts its sidecars into another folder. 0: *where is one such
 * place, owned by the caller. 1: none that we can see.
 *
 * Format: /proc/self/mountinfo as in proc(5).
 */
int
mounts_of_file(dev_t dev, ino_t ino, char **where, struct fault *f);

#endif
