/*
 * place.h - where our other programs are, and that they are ours
 */
#ifndef WARDEN_PLACE_H
#define WARDEN_PLACE_H

#include <stddef.h>

#include "base/fault.h"

/* The sanitizer build's helper goes by another name: see the Makefile. */
#define PLACE_HELPER "libexec/holdfast/" HOLDFAST_RECOVER_NAME
#define PLACE_LEASE "libexec/holdfast/holdfast-lease"
#define PLACE_CONTROLS "bin/holdfast-controls"

/*
 * The helper's path from that of our own binary: PREFIX/bin/holdfast gives
 * PREFIX/libexec/holdfast/holdfast-recover. FAULT_TROUBLE: exe is no such
 * path, or room bytes are too few.
 */
int
place_beside(const char *exe, char *path, size_t room, struct fault *f);

/*
 * *fd (owned by the caller, O_PATH) is the helper that belongs to the
 * running binary: a regular file of root's, ours or our binary's owner, and
 * not writable by everybody. It is run through this descriptor, so what was
 * looked at is what runs. No environment variable has a say.
 */
int
place_open(int *fd, struct fault *f);
/* The same for the program of the lease database. */
int
place_open_lease(int *fd, struct fault *f);
/* The same for the attack controls. */
int
place_open_controls(int *fd, struct fault *f);

#endif
