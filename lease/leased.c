/*
 * leased.c - rows that are held, as an answer shows them
 */
#include "lease/leased.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"

/* In the order of the columns of S_SHOWN in stmt.c. */
enum {
	COL_RESOURCE, COL_FENCE, COL_SESSION, COL_EPOCH, COL_ORIGIN,
	COL_ACQUIRED, COL_RENEWED, COL_EXPIRES, COL_ACQUIRED_UTC,
	COL_EXPIRES_UTC, COL_AGENT, COL_HOST, COL_CWD, COL_NOTE, COL_PID,
	COL_PID_START, COL_PID_NS, COL_PID_BOOT
};

static void
S_free_one(struct leased *h)
{
	free(h->resource);
	free(h->session);
	free(h->epoch);
	free(h->agent);
	free(h->host);
	free(h->cwd);
	free(h->note);
}

static bool
S_copy(const struct stmt_set *s, enum stmt_id id, int column, char **text)
{
	const char *from = stmt_text(s, id, column);

	*text = from ? strdup(from) : NULL;
	return !from || *text;
}

static int
S_room(struct leased_list *l, struct fault *f)
{
	size_t room = l->room ? l->room * 2 : 8;
	struct leased *at;

	if (l->n < l->room)
		return 0;
	at = reallocarray(l->at, room, sizeof(*at));
	if (!at)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	l->at = at;
	l->room = room;
	return 0;
}

int
leased_read(struct leased_list *l, const struct stmt_set *s, enum stmt_id id,
	  struct fault *f)
{
	const char *origin = stmt_text(s, id, COL_ORIGIN);
	const char *boot = stmt_text(s, id, COL_PID_BOOT);
	struct leased *h;
	int rc = S_room(l, f);

	if (rc)
		return rc;
	h = &l->at[l->n];
	*h = (struct leased){
		.fence = stmt_int(s, id, COL_FENCE),
		.acquired = stmt_int(s, id, COL_ACQUIRED),
		.renewed = stmt_int(s, id, COL_RENEWED),
		.expires = stmt_int(s, id, COL_EXPIRES),
		.acquired_utc = stmt_int(s, id, COL_ACQUIRED_UTC),
		.expires_utc = stmt_int(s, id, COL_EXPIRES_UTC),
		.legacy = origin && strcmp(origin, "legacy") == 0,
		.process = {
			.pid = stmt_int(s, id, COL_PID),
			.start = stmt_int(s, id, COL_PID_START),
			.ns = stmt_int(s, id, COL_PID_NS),
		},
	};
	if (boot)
		(void)strncpy(h->process.boot, boot,
			      sizeof(h->process.boot) - 1);
	if (!S_copy(s, id, COL_RESOURCE, &h->resource) ||
	    !S_copy(s, id, COL_SESSION, &h->session) ||
	    !S_copy(s, id, COL_EPOCH, &h->epoch) ||
	    !S_copy(s, id, COL_AGENT, &h->agent) ||
	    !S_copy(s, id, COL_HOST, &h->host) ||
	    !S_copy(s, id, COL_CWD, &h->cwd) ||
	    !S_copy(s, id, COL_NOTE, &h->note)) {
		S_free_one(h);
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	}
	l->n++;
	return 0;
}

void
leased_free(struct leased_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		S_free_one(&l->at[i]);
	free(l->at);
	*l = (struct leased_list){ .at = NULL };
}
