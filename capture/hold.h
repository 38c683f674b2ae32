/*
 * hold.h - a database held still: its writers paused, its files in hand
 *
 * Lifecycle: hold_init, hold_look; then hold_live where somebody can write,
 * hold_stopped where nobody can; read from hold.held, hold_still between and
 * after the reads; hold_release as soon as the last byte is read; hold_free.
 *
 * BOUNDARY capture.hold
 *
 * Before:   a path from the caller, which selects one inode.
 * After:    read-only descriptors of main and sidecars, taken from the
 *           tables of stopped writers (or by the stopped rules), bound to
 *           each other, and writers that stand still.
 * Crosses:  bytes of the files, never parsed on this side.
 * If it cannot be put up: a refusal that names what stood in the way.
 * If it is broken: whatever moves is noticed by hold_still; the kernel
 *           resumes the writers when we die.
 * Shown by: tests/e2e/test_capture.py, tests/e2e/test_names.py
 */
#ifndef CAPTURE_HOLD_H
#define CAPTURE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "capture/bind.h"
#include "capture/candidates.h"
#include "capture/held.h"
#include "capture/holders.h"
#include "capture/memory_bind.h"
#include "capture/names.h"
#include "capture/pause.h"
#include "capture/proc.h"
#include "capture/selection.h"
#include "capture/signals.h"
#include "capture/watch.h"
#include "packet/notes.h"
#include "packet/writers.h"

struct hold_rules {
	const pid_t *pids;	/* only these may be paused; none: all */
	size_t npids;
	bool displaced;		/* names may have lost the held files */
	bool accept_names;	/* stopped: the directory rule is waived */
	bool survey;		/* look only: nobody is paused */
	uint64_t stop_ns;	/* how long the stopping may take */
	uint64_t max_pause_ns;	/* how long the pause may take */
};

struct hold {
	struct held held[ROLE_COUNT];
	const char *authority;	/* "writers" or "stopped" */
	const char *binding;	/* bind.h's levels, or "stopped" */
	bool displaced;
	struct inode_id quiet;	/* a journal that undoes nothing; ino 0: none */
	struct main_locks locks;	/* of main, by all writers */
	struct names *names;	/* every spelling that was judged */
	size_t nnames;
	struct memory_bind memory;	/* what was foreseen for the binding */
	struct proc *procs;	/* the paused ones */
	size_t nprocs;
	struct holders holders;	/* the last scan */
	struct watch watch;	/* begun before the first */
	struct notes notes;
	bool leased[ROLE_COUNT];
	bool kernel_vouches;	/* main was leased: nobody could write it */
	struct writers writers;	/* for the report, filled by hold_describe */
	uint64_t deadline_ns;	/* of the pause; clock_mono_ns */
	uint64_t began_ns;	/* 0 while nobody was paused */
	uint64_t pause_ns;	/* filled by hold_resume */
	struct signals_stops stops;
	struct pause *pause;	/* last: undone first */
};

void
hold_init(struct hold *h);

/*
 * Who has it open? 0: some process holds the inode for writing; 1: none
 * does, h->holders lists those that read.
 */
int
hold_look(struct hold *h, const struct selection *s,
	  const struct hold_rules *rules, struct fault *f);

/*
 * Pauses whoever can write, to a fixpoint, takes and binds the files and
 * judges the names. h as hold_look left it when it returned 0.
 */
int
hold_live(struct hold *h, const struct selection *s,
	  const struct hold_rules *rules, struct fault *f);

/* By the stopped rules: h as hold_look left it when it returned 1. */
int
hold_stopped(struct hold *h, const struct selection *s,
	     const struct hold_rules *rules, struct fault *f);

/*
 * Has the process with the EXCLUSIVE lock on main a journal of it open? One
 * that another has open, or that is only there by its name, says nothing of
 * what that process would undo.
 */
bool
hold_has_journal(const struct hold *h);

/* Nothing moved: states, descriptors, identities, names, leases. */
int
hold_still(const struct hold *h, struct fault *f);

/* No process that runs has come to hold a file of it for writing. */
int
hold_alone(const struct hold *h, struct fault *f);

/* The writers run again. */
void
hold_resume(struct hold *h);

/* As hold_resume; and what holding took is given back. The files stay held. */
void
hold_release(struct hold *h);

/* Fills h->writers; outside of the pause where there is one. */
int
hold_describe(struct hold *h, struct fault *f);

void
hold_free(struct hold *h);

static inline void
own_hold_free(struct hold *h)
{
	hold_free(h);
}

#define OWN_HOLD(name) \
	struct hold name __attribute__((cleanup(own_hold_free)))

#endif
