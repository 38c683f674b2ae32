/*
 * leased.h - rows that are held, as an answer shows them
 */
#ifndef LEASE_LEASED_H
#define LEASE_LEASED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "lease/owner.h"
#include "lease/stmt.h"

/* All texts are owned; agent, host, cwd and note may be NULL. */
struct leased {
	char *resource, *session, *epoch;
	char *agent, *host, *cwd, *note;
	int64_t fence;
	int64_t acquired, renewed, expires;	/* ns since the boot */
	int64_t acquired_utc, expires_utc;
	bool legacy;
	struct owner_process process;
};

struct leased_list {
	struct leased *at;	/* owned */
	size_t n, room;
	bool more;		/* than were asked for */
};

/* Appends the row that statement id is at: one of STMT_AT, _BELOW, _STATUS. */
int
leased_read(struct leased_list *l, const struct stmt_set *s, enum stmt_id id,
	  struct fault *f);
void
leased_free(struct leased_list *l);

#define OWN_LEASED(name) \
	struct leased_list name \
		__attribute__((cleanup(leased_free))) = { .at = NULL }

#endif
