/*
 * filter.h - the system calls that the helper is left with
 *
 * Two objects offer this: recover/filter.c is the shipped one. A build under
 * sanitizers links tests/san/filter_san.c in its place, into a program of
 * another name that install refuses; nothing chooses between them at run
 * time.
 */
#ifndef RECOVER_FILTER_H
#define RECOVER_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* The object that is linked: true of recover/filter.c alone. */
extern const bool filter_shipped;

/* Loads the filter into every thread. FAULT_SANDBOX: it is not in force. */
int
filter_load(struct fault *f);

/*
 * Lowers RLIMIT_AS to bytes, inside the sandbox: the last resort behind the
 * caps of each part. It can't be raised again.
 */
int
filter_cap_memory(uint64_t bytes, struct fault *f);

#endif
