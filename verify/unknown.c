/*
 * unknown.c - collations that a schema names and SQLite does not have
 */
#include "verify/unknown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shared by the catalog and by SQLite, which lets go when it closes. */
struct unknown {
	unsigned refs;
	bool any;
	const char *asked;
};

struct stand_in {
	struct unknown *log;
	char why[];
};

static void
S_release(struct unknown *u)
{
	if (--u->refs == 0)
		free(u);
}

static void
S_destroy(void *arg)
{
	struct stand_in *s = arg;

	S_release(s->log);
	free(s);
}

/* By bytes, so that it is an order, though not the right one. */
static int
S_compare(void *arg, int na, const void *a, int nb, const void *b)
{
	struct stand_in *s = arg;
	int d = memcmp(a, b, (size_t)(na < nb ? na : nb));

	s->log->asked = s->why;
	return d ? d : na - nb;
}

/* Where this fails SQLite goes on without, and says that it lacks one. */
static void
S_needed(void *arg, sqlite3 *db, int encoding, const char *name)
{
	static const char why[] = "no such collation sequence: ";
	struct unknown *u = arg;
	struct stand_in *s = malloc(sizeof(*s) + sizeof(why) + strlen(name));

	if (!s)
		return;
	s->log = u;
	u->refs++;
	(void)sprintf(s->why, "%s%s", why, name);
	if (sqlite3_create_collation_v2(db, name, encoding, s, S_compare,
					S_destroy) == SQLITE_OK)
		u->any = true;
	else
		S_destroy(s);
}

int
unknown_watch(struct unknown **u, sqlite3 *db, struct fault *f)
{
	struct unknown *n = calloc(1, sizeof(*n));

	if (!n)
		return fault_set(f, FAULT_TROUBLE,
				 "out of memory: collations");
	n->refs = 1;
	if (sqlite3_collation_needed(db, n, S_needed) != SQLITE_OK) {
		free(n);
		return fault_set(f, FAULT_TROUBLE,
				 "SQLite takes no collations");
	}
	*u = n;
	return 0;
}

bool
unknown_any(const struct unknown *u)
{
	return u && u->any;
}

const char *
unknown_asked(struct unknown *u)
{
	const char *why = u ? u->asked : NULL;

	if (u)
		u->asked = NULL;
	return why;
}

void
unknown_free(struct unknown *u)
{
	if (u)
		S_release(u);
}
