/*
 * bind.c - which of the open sidecars belong to the main
 */
#include "capture/bind.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"
#include "capture/bind_pages.h"
#include "capture/names.h"

#define OWNER_UNKNOWN (-1)
#define OWNER_NOBODY (-2)	/* it holds nothing that could belong */

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
		if (c->list[i].held.role != r || !candidate_has_content(&c->list[i]))
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

/* Why it is ambiguous all the same: the writers' memory told nothing. */
static int
S_add_silence(const struct memory_bind *m, struct fault *f)
{
	struct fault told = *f;

	if (!m->silent)
		return -(int)f->code;
	fault_set(f, told.code, "%s; the memory of process %d %s", told.text,
		  (int)m->silent_pid, m->silent);
	if (m->err)
		return fault_hint(f, "process_vm_readv: %s: a container or a "
				  "security module forbids it; where it is "
				  "allowed the writer's memory tells which "
				  "belong together; %s", strerror(m->err),
				  told.hint);
	return fault_hint(f, "%s", told.hint);
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
		    !candidate_has_content(&c->list[i]))
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

/*
 * Where the pages don't tell it the writers' memory does, if it tells it of
 * every file of the role; where both tell it they must agree.
 */
static int
S_merge(const struct candidates *c, enum role r,
	const int memory[CANDIDATES_MAX], bool *used, int owner[ASK_EXTRAS],
	struct fault *f)
{
	bool all = true;

	for (size_t i = 0; i < c->count; i++)
		if (c->list[i].held.role == r &&
		    candidate_has_content(&c->list[i]))
			all &= memory[i] != MEMORY_UNKNOWN;
	for (size_t i = 0; i < c->count; i++) {
		const struct stat *st = &c->list[i].held.st;

		if (c->list[i].held.role != r || memory[i] == MEMORY_UNKNOWN ||
		    owner[i] == OWNER_NOBODY || owner[i] == memory[i])
			continue;
		if (owner[i] != OWNER_UNKNOWN)
			return fault_set(f, FAULT_REFUSED, "contradicting "
					 "evidence: the pages of %s %ju:%ju "
					 "are those of one main, the memory of "
					 "its writer ties it to another",
					 role_name(r), (uintmax_t)st->st_dev,
					 (uintmax_t)st->st_ino);
		if (!all)
			continue;
		owner[i] = memory[i];
		*used |= memory[i] == 0;
	}
	return 0;
}

static void
S_set_level(struct binding *b, const char *level)
{
	b->level = b->of[ROLE_WAL] == BIND_NOT_THERE &&
		   b->of[ROLE_JOURNAL] == BIND_NOT_THERE ? "none" : level;
}

static int
S_bind_content(const struct candidates *c, const int memory[CANDIDATES_MAX],
	       uint64_t deadline_ns, struct binding *b, struct fault *f)
{
	static struct matches ms;	/* too large for a stack */
	int owner[ASK_EXTRAS];
	bool used = false;
	int rc;

	rc = bind_ask(c, deadline_ns, &ms, f);
	if (rc)
		return rc;
	S_owners_by_pages(c, &ms, ROLE_WAL, owner);
	rc = S_merge(c, ROLE_WAL, memory, &used, owner, f);
	if (S_in_rollback_mode(&ms))
		S_disown_unknown(c->count, owner);
	if (!rc)
		rc = S_pick(c, ROLE_WAL, owner, &b->of[ROLE_WAL], f);
	if (!rc)
		rc = S_pick_shm(c, &ms, b->of[ROLE_WAL], &b->of[ROLE_SHM], f);
	if (rc)
		return rc;
	S_owners_by_pages(c, &ms, ROLE_JOURNAL, owner);
	rc = S_merge(c, ROLE_JOURNAL, memory, &used, owner, f);
	S_owner_by_lock(c, owner);
	if (!rc)
		rc = S_pick(c, ROLE_JOURNAL, owner, &b->of[ROLE_JOURNAL], f);
	S_find_quiet(c, owner, b);
	S_set_level(b, used ? "writer-memory" : "content");
	return rc;
}

/* By name alone: it undoes nothing, whosever it is. */
static void
S_find_empty_journal(const struct candidates *c, struct binding *b)
{
	for (size_t i = 1; i < c->count; i++)
		if (c->list[i].held.role == ROLE_JOURNAL &&
		    c->list[i].own_name && !candidate_has_content(&c->list[i]))
			b->quiet = (int)i;
}

/* The memory tells it of every file that has content. */
static int
S_bind_memory(const struct candidates *c, const int memory[CANDIDATES_MAX],
	      struct binding *b)
{
	for (size_t i = 1; i < c->count; i++) {
		const struct candidate *side = &c->list[i];

		/* An empty journal says whose lock is one of a journal. */
		if (memory[i] == 0 && (candidate_has_content(side) ||
				       side->held.role == ROLE_JOURNAL))
			b->of[side->held.role] = (int)i;
	}
	if (b->of[ROLE_JOURNAL] == BIND_NOT_THERE)
		S_find_empty_journal(c, b);
	S_set_level(b, "writer-memory");
	return 0;
}

/*
 * The memory is asked first: it takes less than a millisecond where the
 * helper takes ten or more, and the writers stand still meanwhile.
 */
static int
S_bind_several(const struct candidates *c, const struct bind_writers *w,
	       uint64_t deadline_ns, struct binding *b, struct fault *f)
{
	int memory[CANDIDATES_MAX];
	int rc = memory_bind_owners(w->memory, w->procs, w->nprocs, c,
				    deadline_ns, memory, f);

	if (rc == 0)
		return S_bind_memory(c, memory, b);
	if (rc == 1)
		rc = S_bind_content(c, memory, deadline_ns, b, f);
	return rc == -FAULT_AMBIGUOUS ? S_add_silence(w->memory, f) : rc;
}

bool
bind_is_open(const struct candidates *c)
{
	if (S_is_sole(c))
		return false;
	for (size_t i = 1; i < c->count; i++)
		if (candidate_has_content(&c->list[i]) ||
		    (c->list[i].held.role == ROLE_JOURNAL &&
		     c->list[0].locks.exclusive))
			return true;
	return false;
}

int
bind_sidecars(const struct candidates *c, const struct bind_writers *w,
	      uint64_t deadline_ns, struct binding *b, struct fault *f)
{
	for (enum role r = 0; r < ROLE_COUNT; r++)
		b->of[r] = BIND_NOT_THERE;
	b->of[ROLE_MAIN] = 0;
	b->quiet = BIND_NOT_THERE;
	b->level = "none";
	if (bind_is_open(c))
		return S_bind_several(c, w, deadline_ns, b, f);
	if (S_is_sole(c))
		S_bind_sole(c, b);
	else
		S_find_empty_journal(c, b);
	return 0;
}
