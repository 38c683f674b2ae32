/*
 * cmds.h - what each verb does with the words and the answer
 */
#ifndef LEASE_CMDS_H
#define LEASE_CMDS_H

#include <stdio.h>

#include "base/fault.h"
#include "lease/ops.h"
#include "lease/options.h"
#include "lease/store.h"

/* Exit statuses; those of faults are in main.c. */
enum cmds_status {
	CMDS_YES = 0,
	CMDS_NO = 1,		/* that fence is not held */
	CMDS_BUSY = 7,
	CMDS_RUN_FAILED = 125,
};

/*
 * Each writes its answer to out and sets *status, or fills f. The usage
 * counter gets its line in either case.
 */
#define CMDS_VERB(name) \
	int cmds_##name(const struct options *o, FILE *out, int *status, \
			struct fault *f)

CMDS_VERB(acquire);
CMDS_VERB(renew);
CMDS_VERB(release);
CMDS_VERB(force);
CMDS_VERB(check);
CMDS_VERB(status);
CMDS_VERB(reap);
CMDS_VERB(events);
/* Its output is that of the command: out gets nothing. */
CMDS_VERB(run);

/* The words of an acquire or a run, as a request; all is owned. */
struct cmds_request {
	struct ops_acquire q;
	char **paths;			/* owned, as q.paths */
	char *session, *cwd;		/* owned */
	char host[65];
	struct owner_process process;
};

/* pid: the process that asks. */
int
cmds_request(const struct options *o, int64_t pid, struct cmds_request *r,
	     struct fault *f);
void
cmds_request_free(struct cmds_request *r);

#define OWN_REQUEST(name) \
	struct cmds_request name \
		__attribute__((cleanup(cmds_request_free))) = { .paths = NULL }

/* The database that the words, the environment or the home name. */
int
cmds_open(const struct options *o, struct instant_system *clock,
	  struct store **s, struct fault *f);

#endif
