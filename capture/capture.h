/*
 * capture.h - takes one packet from the stopped writers of a database
 *
 * Trust: names, directories, the content of the files and every process of
 * another uid may be the attacker's. The kernel and the writers are trusted.
 *
 * Privilege: ptrace and /proc/PID/fd of every writer (root, CAP_SYS_PTRACE,
 * or the writers' own uid where Yama allows it).
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/role.h"
#include "packet/notes.h"
#include "packet/writers.h"

struct capture_request {
	const char *db;			/* selects an inode, no more */
	const pid_t *pids;		/* none: every holder is found */
	size_t npids;
	const char *output;		/* NULL: NAME-TIME.holdfast here */
	bool force;			/* replace output */
	bool refuse_journal;		/* a hot journal is a refusal */
	bool displaced;			/* capture what the names no longer name */
	bool accept_names;		/* stopped: skip the directory rule */
	double timeout_s;		/* bounds the stopping */
	double max_pause_s;		/* bounds the whole pause */
	/* Called between steps, never inside a pause; may be NULL. */
	void (*progress)(void *arg, const char *step, uint64_t done,
			 uint64_t total);
	void *progress_arg;
};

struct capture_file {
	bool present;
	uint64_t bytes;
	dev_t dev;
	ino_t ino;
	char sha256[DIGEST_HEX_BYTES];
};

struct capture_result {
	char *packet;			/* path; NULL from capture_survey */
	char id[DIGEST_HEX_BYTES];
	char *database;			/* base name, its raw bytes */
	uint64_t pause_ns;		/* survey: the expected pause */
	unsigned attempts;		/* pauses that it took */
	const char *authority;		/* "writers" or "stopped" */
	const char *binding;		/* "sole", "content", "writer-memory",
					   "stopped", "none":
					   no sidecar to bind */
	bool displaced;
	struct capture_file file[ROLE_COUNT];
	struct writers *writers;	/* owned */
	struct notes not_checked;	/* owned */
};

/* FAULT_REFUSED, FAULT_AMBIGUOUS, FAULT_UNSTABLE, FAULT_TROUBLE ...: then
   no packet and no part of one exists, and every writer runs. */
int
capture_run(const struct capture_request *q, struct capture_result *r,
	    struct fault *f);

/* Who holds what and how it would be bound; pauses nobody. */
int
capture_survey(const struct capture_request *q, struct capture_result *r,
	       struct fault *f);

void
capture_result_free(struct capture_result *r);

#endif
