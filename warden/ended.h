/*
 * ended.h - what the way in which the helper ended means
 */
#ifndef WARDEN_ENDED_H
#define WARDEN_ENDED_H

#include <stdint.h>

#include "base/fault.h"
#include "warden/spawn.h"

/*
 * 0: it exited with 0. FAULT_CAP names the limit that it hit, of cpu_seconds
 * of processor time or memory bytes; FAULT_SANDBOX: a forbidden call;
 * FAULT_TROUBLE: it crashed, or failed and did not say why.
 */
int
ended_say(const struct spawn_end *e, uint32_t cpu_seconds, uint64_t memory,
	  struct fault *f);

#endif
