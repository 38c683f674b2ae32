/*
 * memory_bind.h - which main each sidecar belongs to, by the writers' memory
 *
 * Lifecycle: memory_bind_foresee for each writer while it still runs, which
 * searches all of its memory and keeps where its open databases are;
 * memory_bind_owners when all stand still, which reads them again; free.
 *
 * What was found before the pause is a hint and no more. Inside of it each
 * place is read anew and must be an open database again, and each descriptor
 * of a main must have its place: an open in between has made a descriptor,
 * a close has zeroed a place. Else the process is searched again, within
 * MEMORY_PAUSE_BYTES for all of them, and beyond that there is no answer.
 *
 * Trust: see memory_sqlite.h. Whatever a place says about descriptors is
 * looked up in the table that the kernel shows of the stopped process.
 */
#ifndef CAPTURE_MEMORY_BIND_H
#define CAPTURE_MEMORY_BIND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "capture/candidates.h"
#include "capture/memory_map.h"
#include "capture/memory_sqlite.h"
#include "capture/proc.h"

/* Searched while the writer runs; of one process. */
#define MEMORY_RUNNING_BYTES (4ull << 30)
/* Searched while it stands still; of all of them. */
#define MEMORY_PAUSE_BYTES (64ull << 20)

struct memory_writer {
	pid_t pid;
	uint64_t start_time;
	struct memory_map map;
	struct memory_found found;
};

struct memory_bind {
	struct memory_writer *writer;	/* owned */
	size_t count;
	uint64_t pause_bytes;	/* left of MEMORY_PAUSE_BYTES */
	const char *silent;	/* why there is no answer, or NULL: a clause
				   behind "the memory of process PID" */
	pid_t silent_pid;
	int err;		/* of process_vm_readv, or 0 */
};

void
memory_bind_init(struct memory_bind *m);

/* Failure is no fault: then the search is left to the pause. */
void
memory_bind_foresee(struct memory_bind *m, const struct proc *p,
		    const struct candidates *c, uint64_t deadline_ns);

#define MEMORY_UNKNOWN (-1)

/*
 * owner[i] for each candidate: the index of its main, or MEMORY_UNKNOWN; where
 * several other mains have it, one of them. What the main (candidate 0) and
 * another one have is nobody's.
 * 0: each sidecar with content has its main; 1: not so, m->silent says why.
 * FAULT_AMBIGUOUS: the main has two of a role.
 */
int
memory_bind_owners(struct memory_bind *m, const struct proc *procs, size_t n,
		   const struct candidates *c, uint64_t deadline_ns,
		   int owner[CANDIDATES_MAX], struct fault *f);

void
memory_bind_free(struct memory_bind *m);

#endif
