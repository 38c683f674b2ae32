/*
 * bind.c - which of the open sidecars belong to the main
 */
#include "capture/bind.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/own.h"
#include "capture/names.h"
#include "capture/signals.h"
#include "warden/warden.h"

/* What the helper found of one sidecar against one main. */
struct match {
	int64_t compared, equal, distinctive;
};

struct matches {
	size_t n;			/* candidates handed over */
	struct match m[ASK_EXTRAS][ASK_EXTRAS];	/* [sidecar][main] */
};

#define OWNER_UNKNOWN (-1)
#define OWNER_NOBODY (-2)	/* it holds nothing that could belong */

static bool
S_has_content(const struct candidate *c)
{
	return c->held.role != ROLE_MAIN && !c->blank;
}

/*
 * Sole: with one main and one file a role there is nothing to confuse. A
 * file of another name could be of a database whose main we can't tell
 * from its bytes (an encrypted one): that is looked into.
 */
static bool
S_is_sole(const struct candidates *c)
{
	if (candidates_of(c, ROLE_MAIN) != 1)
		return false;
	for (enum role r = ROLE_WAL; r < ROLE_COUNT; r++)
		if (candidates_of(c, r) > 1)
			return false;
	for (size_t i = 1; i < c->count; i++)
		if (!c->list[i].own_name)
			return false;
	return true;
}

static void
S_bind_sole(const struct candidates *c, struct binding *b)
{
	for (size_t i = 1; i < c->count; i++)
		b->of[c->list[i].held.role] = (int)i;
	b->level = c->count > 1 ? "sole" : "none";
}

static int
S_collect(struct warden *w, struct matches *ms, struct fault *f)
{
	struct wire_frame fr;
	int rc;

	while ((rc = warden_next(w, &fr, f)) == 0) {
		int64_t side, against;
		struct match m;

		if (fr.type != WIRE_MATCH)
			continue;
		if (wire_get_int(&fr, &side, f) ||
		    wire_get_int(&fr, &against, f) ||
		    wire_get_int(&fr, &m.compared, f) ||
		    wire_get_int(&fr, &m.equal, f) ||
		    wire_get_int(&fr, &m.distinctive, f) ||
		    wire_get_done(&fr, f))
			return -(int)f->code;
		if (side < 0 || side >= (int64_t)ms->n || against < 0 ||
		    against >= (int64_t)ms->n)
			return fault_set(f, FAULT_SANDBOX, "the helper's answer"
					 " names a file that it was not given");
		ms->m[side][against] = m;
	}
	return rc == 1 ? 0 : rc;
}

static int
S_ask_helper(const struct candidates *c, uint64_t deadline_ns,
	     struct matches *ms, struct fault *f)
{
	struct warden_limits limits = {
		.cpu_seconds = 5,
		.interrupted = signals_pending,
	};
	int fds[ASK_EXTRAS];
	struct ask ask;
	OWN_WARDEN(w);
	int rc;

	if (c->count > ASK_EXTRAS)
		return fault_set(f, FAULT_CAP, "the writers have %zu database "
				 "files open, more than can be told apart (%u)",
				 c->count, ASK_EXTRAS);
	limits.wall_seconds = (uint32_t)(clock_left_ns(deadline_ns) /
					 CLOCK_NS_PER_SEC) + 1;
	ask_init(&ask, ASK_BIND);
	ask.nextras = (uint32_t)c->count;
	for (size_t i = 0; i < c->count; i++) {
		const struct held *h = &c->list[i].held;

		fds[i] = h->fd;
		ask.extra[i] = (struct ask_member){
			.present = 1,
			.role = h->role,
			.fd = EVIDENCE_FD + (int)i,
			.size = (uint64_t)h->st.st_size,
		};
	}
	ms->n = c->count;
	rc = warden_start(&w, fds, c->count, &ask, NULL, &limits, f);
	if (!rc)
		rc = S_collect(w, ms, f);
	if (rc)
		return fault_wrap(f, "compare sidecars with mains");
	return 0;
}

/* The main that alone has pages which speak for the sidecar. */
static int
S_owner_by_pages(const struct candidates *c, const struct matches *ms,
		 size_t side)
{
	bool wal = c->list[side].held.role == ROLE_WAL;
	int owner = OWNER_UNKNOWN;

	for (size_t i = 0; i < c->count; i++) {
		const struct match *m = &ms->m[side][i];

		if (c->list[i].held.role != ROLE_MAIN)
			continue;
		/*
		 * All frames that were copied back must be in their main. Of
		 * a journal some images differ: pages written already.
		 */
		if (m->distinctive == 0 || (wal && m->equal < m->compared))
			continue;
		if (owner != OWNER_UNKNOWN)
			return OWNER_UNKNOWN;
		owner = (int)i;
	}
	return owner;
}

static bool
S_speaks(const struct candidates *c, const struct matches *ms, size_t side)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->list[i].held.role == ROLE_MAIN &&
		    ms->m[side][i].compared > 0)
			return true;
	return false;
}

/*
 * The pages that a transaction has overwritten are, in its journal, those of
 * a clone of its main: but nobody has a lock to write the clone.
 */
static bool
S_is_being_written(const struct candidate *main)
{
	return main->locks.reserved || main->locks.pending ||
	       main->locks.exclusive;
}

static void
S_owners_by_pages(const struct candidates *c, const struct matches *ms,
		  enum role r, int owner[ASK_EXTRAS])
{
	for (size_t i = 0; i < c->count; i++) {
		owner[i] = OWNER_NOBODY;
		if (c->list[i].held.role != r || !S_has_content(&c->list[i]))
			continue;
		/* A journal without one whole record undoes nothing. */
		if (r == ROLE_JOURNAL && !S_speaks(c, ms, i))
			continue;
		owner[i] = S_owner_by_pages(c, ms, i);
		if (r == ROLE_JOURNAL && owner[i] >= 0 &&
		    !S_is_being_written(&c->list[owner[i]]))
			owner[i] = OWNER_UNKNOWN;
	}
}

/* By its own header: then no WAL is main's. */
static bool
S_in_rollback_mode(const struct matches *ms)
{
	return ms->m[0][0].compared > 0 && ms->m[0][0].equal == 0;
}

static void
S_disown_unknown(size_t n, int owner[ASK_EXTRAS])
{
	for (size_t i = 0; i < n; i++)
		if (owner[i] == OWNER_UNKNOWN)
			owner[i] = OWNER_NOBODY;
}

/*
 * A journal whose images all differ from every main is one whose pages have
 * all been written: its main is under an EXCLUSIVE lock. Where one such
 * journal and one such main are left over, they belong together.
 */
static void
S_owner_by_lock(const struct candidates *c, int owner[ASK_EXTRAS])
{
	int journal = -1, main = -1;

	for (size_t i = 0; i < c->count; i++) {
		bool has_journal = false;

		if (owner[i] == OWNER_UNKNOWN) {
			if (journal >= 0)
				return;
			journal = (int)i;
		}
		if (c->list[i].held.role != ROLE_MAIN ||
		    !c->list[i].locks.exclusive)
			continue;
		for (size_t k = 0; k < c->count; k++)
			has_journal |= owner[k] == (int)i;
		if (has_journal)
			continue;
		if (main >= 0)
			return;
		main = (int)i;
	}
	if (journal >= 0 && main >= 0)
		owner[journal] = main;
}

/* One database and one such file are open, but by another name than its. */
static int
S_renamed(const struct candidates *c, enum role r, struct fault *f)
{
	const struct stat *main = &c->list[0].held.st;
	struct fault ignored = FAULT_INIT;
	OWN_MEM(char, name);
	size_t i = 1;

	while (c->list[i].held.role != r)
		i++;
	(void)names_of_fd(&name, c->list[i].held.fd, &ignored);
	fault_set(f, FAULT_AMBIGUOUS, "ambiguous %s: process %d has %ju:%ju "
		  "open as descriptor %d, whose name is %s and not that of "
		  "main %ju:%ju with %s behind it, and no page tells whether "
		  "they belong together", role_name(r),
		  (int)c->list[i].held.pid,
		  (uintmax_t)c->list[i].held.st.st_dev,
		  (uintmax_t)c->list[i].held.st.st_ino,
		  c->list[i].held.pid_fd, name ? name : "?",
		  (uintmax_t)main->st_dev, (uintmax_t)main->st_ino,
		  role_suffix(r));
	return fault_hint(f, "where somebody renamed it give it its name "
			  "back; else try again after the writer's next "
			  "checkpoint");
}

static int
S_ambiguous(const struct candidates *c, enum role r, const char *why,
	    struct fault *f)
{
	const struct stat *st = &c->list[0].held.st;

	if (candidates_of(c, ROLE_MAIN) == 1 && candidates_of(c, r) == 1)
		return S_renamed(c, r, f);
	fault_set(f, FAULT_AMBIGUOUS, "ambiguous %s: the writers have %zu "
		  "databases and %zu files of this kind open, and %s main "
		  "%ju:%ju", role_name(r), candidates_of(c, ROLE_MAIN),
		  candidates_of(c, r), why, (uintmax_t)st->st_dev,
		  (uintmax_t)st->st_ino);
	return fault_hint(f, "try again after the writer's next checkpoint; "
			  "a writer with one open database is never "
			  "ambiguous");
}

/* The one sidecar of a role whose owner is the main; *of stays where none. */
static int
S_pick(const struct candidates *c, enum role r, const int owner[ASK_EXTRAS],
       int *of, struct fault *f)
{
	bool unknown = false;

	for (size_t i = 0; i < c->count; i++) {
		unknown |= owner[i] == OWNER_UNKNOWN;
		if (owner[i] != 0)
			continue;
		if (*of != BIND_NOT_THERE)
			return S_ambiguous(c, r, "two of them match", f);
		*of = (int)i;
	}
	if (*of == BIND_NOT_THERE && unknown)
		return S_ambiguous(c, r, "no page tells which belongs to", f);
	/* A second, silent journal could still be this main's. */
	if (r == ROLE_JOURNAL && unknown)
		return S_ambiguous(c, r, "one of them may belong to", f);
	return 0;
}

/* The SHM goes with the WAL whose salts it has. */
static int
S_pick_shm(const struct candidates *c, const struct matches *ms, int wal,
	   int *of, struct fault *f)
{
	for (size_t i = 0; i < c->count; i++) {
		bool paired = false;

		if (c->list[i].held.role != ROLE_SHM ||
		    !S_has_content(&c->list[i]))
			continue;
		for (size_t k = 0; k < c->count; k++)
			paired |= c->list[k].held.role == ROLE_WAL &&
				  ms->m[i][k].equal > 0;
		if (!paired && wal != BIND_NOT_THERE)
			return S_ambiguous(c, ROLE_SHM, "one has the salts of "
					   "no WAL: it may be that of", f);
		if (wal == BIND_NOT_THERE || ms->m[i][wal].equal == 0)
			continue;
		if (*of != BIND_NOT_THERE)
			return S_ambiguous(c, ROLE_SHM, "two have the salts of"
					   " the WAL of", f);
		*of = (int)i;
	}
	return 0;
}

/*
 * A journal that is zeroed or has no whole record yet: whose it is can't be
 * told from pages and does not matter, for it undoes nothing.
 */
static void
S_find_quiet(const struct candidates *c, const int owner[ASK_EXTRAS],
	     struct binding *b)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->list[i].held.role == ROLE_JOURNAL &&
		    c->list[i].own_name && owner[i] == OWNER_NOBODY)
			b->quiet = (int)i;
}

static int
S_bind_content(const struct candidates *c, uint64_t deadline_ns,
	       struct binding *b, struct fault *f)
{
	static struct matches ms;	/* too large for a stack */
	int owner[ASK_EXTRAS];
	int rc;

	memset(&ms, 0, sizeof(ms));
	rc = S_ask_helper(c, deadline_ns, &ms, f);
	if (rc)
		return rc;
	S_owners_by_pages(c, &ms, ROLE_WAL, owner);
	if (S_in_rollback_mode(&ms))
		S_disown_unknown(c->count, owner);
	rc = S_pick(c, ROLE_WAL, owner, &b->of[ROLE_WAL], f);
	if (!rc)
		rc = S_pick_shm(c, &ms, b->of[ROLE_WAL], &b->of[ROLE_SHM], f);
	if (rc)
		return rc;
	S_owners_by_pages(c, &ms, ROLE_JOURNAL, owner);
	S_owner_by_lock(c, owner);
	rc = S_pick(c, ROLE_JOURNAL, owner, &b->of[ROLE_JOURNAL], f);
	S_find_quiet(c, owner, b);
	b->level = b->of[ROLE_WAL] == BIND_NOT_THERE &&
		   b->of[ROLE_JOURNAL] == BIND_NOT_THERE ? "none" : "content";
	return rc;
}

int
bind_sidecars(const struct candidates *c, uint64_t deadline_ns,
	      struct binding *b, struct fault *f)
{
	bool content = false;

	for (enum role r = 0; r < ROLE_COUNT; r++)
		b->of[r] = BIND_NOT_THERE;
	b->of[ROLE_MAIN] = 0;
	b->quiet = BIND_NOT_THERE;
	b->level = "none";
	if (S_is_sole(c)) {
		S_bind_sole(c, b);
		return 0;
	}
	for (size_t i = 1; i < c->count; i++)
		content |= S_has_content(&c->list[i]);
	return content ? S_bind_content(c, deadline_ns, b, f) : 0;
}

static int
S_not_descended(const struct held held[ROLE_COUNT], const struct match *m,
		struct fault *f)
{
	const struct stat *wal = &held[ROLE_WAL].st;
	const struct stat *main = &held[ROLE_MAIN].st;

	fault_set(f, FAULT_REFUSED, "the WAL %ju:%ju does not descend from "
		  "main %ju:%ju: of %lld pages that a checkpoint copied back, "
		  "%lld are not in main", (uintmax_t)wal->st_dev,
		  (uintmax_t)wal->st_ino, (uintmax_t)main->st_dev,
		  (uintmax_t)main->st_ino, (long long)m->compared,
		  (long long)(m->compared - m->equal));
	return fault_hint(f, "they were copied at different times, or one of "
			  "them was replaced: stock SQLite would replay one "
			  "over the other");
}

int
bind_idle(const struct held held[ROLE_COUNT], enum role sidecar,
	  uint64_t deadline_ns, bool *proven, struct fault *f)
{
	struct candidate list[ROLE_COUNT] = { { .held = held[ROLE_MAIN] } };
	struct candidates c = { .list = list, .count = 1 };
	static struct matches ms;
	const struct match *m, *shm;
	int rc;

	list[c.count++].held = held[sidecar];
	if (sidecar == ROLE_WAL && held[ROLE_SHM].fd >= 0)
		list[c.count++].held = held[ROLE_SHM];
	memset(&ms, 0, sizeof(ms));
	rc = S_ask_helper(&c, deadline_ns, &ms, f);
	if (rc)
		return rc;
	m = &ms.m[1][0];
	shm = &ms.m[2][1];
	if (sidecar == ROLE_WAL && m->equal < m->compared)
		return S_not_descended(held, m, f);
	/*
	 * Frames that main holds show the same database, not the same time: a
	 * main copied later than its WAL has them too. The SHM is of its time.
	 */
	*proven = sidecar == ROLE_WAL ? shm->equal > 0 : m->equal > 0;
	return 0;
}
