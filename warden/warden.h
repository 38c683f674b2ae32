/*
 * warden.h - starts the recover helper, watches it, reads its answer
 *
 * Lifecycle: warden_start, warden_next until it returns 1 or a fault,
 * warden_free (which kills and reaps a helper that still runs). Who has
 * something else to do while the helper gets ready calls warden_begin,
 * warden_ready, warden_ask instead of warden_start.
 *
 * Trust: after warden_start the helper may be in the hands of the database
 * that it reads. Nothing it says is believed beyond its shape.
 */
#ifndef WARDEN_WARDEN_H
#define WARDEN_WARDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "reply/ask.h"
#include "reply/wire.h"

#define WARDEN_SQLITE_BYTES 128

/* What the parent saw of the child in /proc before it wrote the ask. */
struct warden_seen {
	pid_t pid;
	long uid, gid;			/* real = effective = saved = fs */
	int groups;			/* supplementary groups left */
	bool no_new_privs;
	int seccomp;			/* mode: 2 is a filter */
	int filters;			/* Seccomp_filters, -1: not shown */
	uint64_t capabilities;		/* or-ed: inheritable, permitted,
					   effective, bounding, ambient */
	uint64_t held;			/* the same without bounding: 0 */
	int descriptors;		/* open ones, -1: not shown */
	int threads;			/* all of them were checked */
	int landlock;			/* ABI as the child says; 0: none */
	char sqlite[WARDEN_SQLITE_BYTES];	/* the version, as it says */
	char sqlite_source[WARDEN_SQLITE_BYTES];	/* and its source id */
	uint64_t ready_ns;		/* from fork to the end of the check */
};

struct warden_limits {
	uint64_t memory;	/* bytes of heap; 0: ASK_MEMORY_DEFAULT */
	uint64_t output;	/* bytes of frames; 0: ASK_OUTPUT_DEFAULT */
	uint32_t cpu_seconds;	/* RLIMIT_CPU; 0: WARDEN_CPU_DEFAULT */
	uint32_t wall_seconds;	/* whole answer; 0: four times the CPU limit */
	int (*interrupted)(void);	/* NULL: nothing ends it early */
};

#define WARDEN_CPU_DEFAULT 900u

struct warden;

/*
 * Starts libexec/holdfast/holdfast-recover (found beside our own binary,
 * never through the environment), checks its sandbox from outside, and
 * writes the ask. evidence[i] becomes descriptor EVIDENCE_FD + i of the
 * child; ours stay open and ours. text is ask->text_bytes long, or NULL.
 * The limits of the ask are replaced by those of limits (NULL: defaults).
 * FAULT_SANDBOX: the sandbox does not stand, and nothing was handed over.
 *
 * The helper is killed when the calling thread ends. SIGCHLD must not be
 * ignored, else nobody learns how the helper ended.
 */
int
warden_start(struct warden **w, const int *evidence, size_t n,
	     const struct ask *ask, const char *text,
	     const struct warden_limits *limits, struct fault *f);

/* The first third of warden_start: the helper runs, and has nothing yet. */
int
warden_begin(struct warden **w, const int *evidence, size_t n,
	     const struct warden_limits *limits, struct fault *f);
/* The second: its sandbox stands, as seen from outside. Again: nothing. */
int
warden_ready(struct warden *w, struct fault *f);
/* The last: the ask is handed over, once. */
int
warden_ask(struct warden *w, const struct ask *ask, const char *text,
	   struct fault *f);

/* As warden_start, of another program (O_PATH, borrowed). For tests. */
int
warden_start_program(struct warden **w, int program, const int *evidence,
		     size_t n, const struct ask *ask, const char *text,
		     const struct warden_limits *limits, struct fault *f);

/*
 * The next frame. HELLO is consumed by warden_start; a FAULT frame becomes
 * the fault. 1: END came, its count was right, the child exited with 0;
 * *fr is the END frame then, its cells unread but for the count.
 * A child that died gives FAULT_CAP (SIGXCPU, out of memory: the cap is
 * named), FAULT_SANDBOX (SIGSYS: a forbidden call) or FAULT_TROUBLE (crash).
 */
int
warden_next(struct warden *w, struct wire_frame *fr, struct fault *f);

/* Borrowed until warden_free. */
const struct warden_seen *
warden_seen(const struct warden *w);

void
warden_free(struct warden *w);

static inline void
own_warden_free(struct warden **w)
{
	warden_free(*w);
	*w = NULL;
}

#define OWN_WARDEN(name) \
	struct warden *name __attribute__((cleanup(own_warden_free))) = NULL

#endif
