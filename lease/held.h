/*
 * held.h - rows that are held, as an answer shows them
 */
#ifndef LEASE_HELD_H
#define LEASE_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "lease/owner.h"
#include "lease/stmt.h"

/* All texts are owned; agent, host, cwd and note may be NULL. */
struct held {
	char *resource, *session, *epoch;
	char *agent, *host, *cwd, *note;
	int64_t fence;
	int64_t acquired, renewed, expires;	/* ns since the boot */
	int64_t acquired_utc, expires_utc;
	bool legacy;
	struct owner_process process;
};

struct held_list {
	struct held *at;	/* owned */
	size_t n, room;
	bool more;		/* than were asked for */
};

/* Appends the row that statement id is at: one of STMT_AT, _BELOW, _STATUS. */
int
held_read(struct held_list *l, const struct stmt_set *s, enum stmt_id id,
	  struct fault *f);
void
held_free(struct held_list *l);

#define OWN_HELD(name) \
	struct held_list name __attribute__((cleanup(held_free))) = { NULL }

#endif
