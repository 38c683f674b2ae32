/*
 * instant.h - now, as leases count it
 *
 * CLOCK_BOOTTIME on a boot decides: nobody sets it, and it goes on while the
 * machine sleeps. Wall time is for show. The source is a value, so that a
 * test can be at any time of any boot; the program only ever uses the
 * system's.
 */
#ifndef LEASE_INSTANT_H
#define LEASE_INSTANT_H

#include <stdint.h>

#include "base/clock.h"
#include "base/fault.h"

#define INSTANT_SECOND ((int64_t)1000000000)

struct instant {
	int64_t at;				/* ns since the boot */
	int64_t utc;				/* ns since 1970 */
	char boot[CLOCK_BOOT_ID_BYTES];
};

struct instant_source {
	int (*read)(void *arg, struct instant *now, struct fault *f);
	void *arg;
};

/* The boot id is read once. */
struct instant_system {
	char boot[CLOCK_BOOT_ID_BYTES];
};

/* FAULT_TROUBLE: the kernel shows no boot id. s must outlive the source. */
int
instant_system(struct instant_system *s, struct instant_source *source,
	       struct fault *f);

#endif
