/*
 * hold_pause.c - pauses every writer and takes its files, to a fixpoint
 */
#include "capture/hold_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "capture/split.h"

/* Rounds of pausing before a set of holders that never settles is refused. */
#define HOLD_ROUNDS_MAX 64

bool
hold_holds(const struct holder *who, dev_t dev, ino_t ino)
{
	for (size_t i = 0; i < who->nfds; i++)
		if (who->fd[i].dev == dev && who->fd[i].ino == ino)
			return true;
	return false;
}

bool
hold_is_paused(const struct hold *h, const struct holder *who)
{
	for (size_t i = 0; i < h->nprocs; i++)
		if (h->procs[i].pid == who->pid &&
		    h->procs[i].start_time == who->start_time)
			return true;
	return false;
}

int
hold_scan(struct hold *h, const struct inode_id *ids, size_t n, struct fault *f)
{
	holders_free(&h->holders);
	return holders_find(ids, n, &h->holders, f);
}

/*
 * Who can write a sidecar of this name but does not have main open uses it
 * with another main: then the names lie.
 */
int
hold_refuse_strangers(const struct hold *h, const struct selection *s,
		   struct fault *f)
{
	for (size_t i = 0; i < h->holders.count; i++) {
		const struct holder *who = &h->holders.holder[i];

		if (!who->writable || hold_holds(who, s->dev, s->ino))
			continue;
		fault_set(f, FAULT_REFUSED, "process %d has a sidecar of %s "
			  "open for writing (%ju:%ju, %s), but not the main "
			  "file %ju:%ju: it belongs to another database",
			  (int)who->pid, s->path, (uintmax_t)who->fd[0].dev,
			  (uintmax_t)who->fd[0].ino,
			  who->fd[0].link ? who->fd[0].link : "?",
			  (uintmax_t)s->dev, (uintmax_t)s->ino);
		return fault_hint(f, "the main file was replaced under process "
				  "%d: --displaced captures what that process "
				  "has open", (int)who->pid);
	}
	return 0;
}

static bool
S_may_pause(const struct hold_rules *rules, pid_t pid)
{
	for (size_t i = 0; i < rules->npids; i++)
		if (rules->pids[i] == pid)
			return true;
	return rules->npids == 0;
}

int
hold_list_writer(struct hold *h, const struct proc *p, const struct holder *who,
	      bool paused, struct fault *f)
{
	struct writer *grown = reallocarray(h->writers.writer,
					    h->writers.count + 1,
					    sizeof(*grown));
	char *exe;

	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	h->writers.writer = grown;
	exe = proc_exe(p);
	if (!exe)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	grown[h->writers.count++] = (struct writer){
		.pid = who->pid,
		.start_time = who->start_time,
		.uid = who->uid,
		.exe = exe,
		.paused = paused,
		.descriptors = (unsigned)who->nfds,
	};
	return 0;
}

/* 0: it is paused and listed; 1: it has gone meanwhile. */
static int
S_pause_one(struct hold *h, const struct holder *who,
	    const struct hold_rules *rules, uint64_t stop_by, struct fault *f)
{
	struct proc p = PROC_INIT, *grown;
	int rc = proc_open(who->pid, &p, f);

	if (rc)
		return rc;
	if (p.start_time != who->start_time) {
		proc_close(&p);
		return 1;
	}
	grown = reallocarray(h->procs, h->nprocs + 1, sizeof(*grown));
	if (!grown) {
		proc_close(&p);
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	}
	h->procs = grown;
	h->procs[h->nprocs++] = p;
	rc = hold_list_writer(h, &p, who, true, f);
	if (rc || rules->survey)
		return rc;
	rc = pause_add(h->pause, &h->procs[h->nprocs - 1], stop_by, f);
	h->began_ns = pause_began_ns(h->pause);
	h->deadline_ns = h->began_ns + rules->max_pause_ns;
	if (!rc)
		h->writers.writer[h->writers.count - 1].threads =
			pause_threads(h->pause, p.pid);
	if (!rc)
		h->writers.writer[h->writers.count - 1].was_stopped =
			pause_was_stopped(h->pause, p.pid);
	return rc;
}

/* Pauses every writer of the last scan that still runs; *more: some. */
static int
S_pause_writers(struct hold *h, const struct hold_rules *rules,
		uint64_t stop_by, bool *more, struct fault *f)
{
	*more = false;
	for (size_t i = 0; i < h->holders.count; i++) {
		const struct holder *who = &h->holders.holder[i];
		int rc;

		if (!who->writable || hold_is_paused(h, who))
			continue;
		if (!S_may_pause(rules, who->pid)) {
			fault_set(f, FAULT_REFUSED, "process %d has the "
				  "database open for writing as well, and "
				  "--pid does not name it", (int)who->pid);
			return fault_hint(f, "add --pid %d, or give no --pid: "
					  "then all are paused",
					  (int)who->pid);
		}
		*more = true;
		rc = S_pause_one(h, who, rules, stop_by, f);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int
S_collect(const struct hold *h, const struct selection *s,
	  struct candidates *c, struct fault *f)
{
	candidates_free(c);
	for (size_t i = 0; i < h->nprocs; i++) {
		int rc = candidates_add(c, &h->procs[i], s->dev, s->ino, f);

		if (rc)
			return rc;
	}
	if (c->count == 0 || c->list[0].held.role != ROLE_MAIN ||
	    !held_is(&c->list[0].held, s->dev, s->ino))
		return fault_set(f, FAULT_UNSTABLE, "the writers no longer "
				 "have %s (%ju:%ju) open", s->path,
				 (uintmax_t)s->dev, (uintmax_t)s->ino);
	return 0;
}

/* Do all writers have nothing of SQLite's open but what is watched? */
static bool
S_is_sole(const struct hold *h)
{
	struct fault ignored = FAULT_INIT;

	for (size_t i = 0; i < h->holders.count; i++) {
		const struct holder *who = &h->holders.holder[i];
		bool others = true;
		OWN_PROC(p);

		if (who->writable &&
		    (proc_open(who->pid, &p, &ignored) != 0 ||
		     candidates_others(&p, h->watch.id, h->watch.count,
				       &others, &ignored) || others))
			return false;
	}
	return true;
}

void
hold_foresee(struct hold *h, const struct selection *s,
	     const struct hold_rules *rules)
{
	uint64_t until = clock_mono_ns() + rules->stop_ns;
	struct fault ignored = FAULT_INIT;
	OWN_CANDIDATES(c);
	bool open = false;

	/* Opening the files would spoil the watch. */
	if (S_is_sole(h))
		return;
	/* The second time round it is known whether there is a question. */
	for (int round = 0; round < 2 && (round == 0 || open); round++) {
		for (size_t i = 0; i < h->holders.count; i++) {
			const struct holder *who = &h->holders.holder[i];
			OWN_PROC(p);

			if (!who->writable ||
			    proc_open(who->pid, &p, &ignored) != 0 ||
			    p.start_time != who->start_time)
				continue;
			if (round == 0 && candidates_add(&c, &p, s->dev,
							 s->ino, &ignored))
				return;
			if (round == 1)
				memory_bind_foresee(&h->memory, &p, &c, until);
		}
		open = c.count > 0 && bind_is_open(&c);
	}
}

static size_t
S_bound_ids(const struct candidates *c, const struct binding *b,
	    struct inode_id ids[ROLE_COUNT])
{
	size_t n = 0;

	for (enum role r = 0; r < ROLE_COUNT; r++) {
		const struct held *held;

		if (b->of[r] == BIND_NOT_THERE)
			continue;
		held = &c->list[b->of[r]].held;
		ids[n++] = (struct inode_id){ held->st.st_dev,
					      held->st.st_ino };
	}
	return n;
}

static void
S_keep_bound(struct hold *h, struct candidates *c, const struct binding *b)
{
	for (enum role r = 0; r < ROLE_COUNT; r++) {
		if (b->of[r] == BIND_NOT_THERE)
			continue;
		h->held[r] = c->list[b->of[r]].held;
		h->held[r].role = r;
		c->list[b->of[r]].held.fd = -1;
	}
	if (b->quiet != BIND_NOT_THERE) {
		h->quiet.dev = c->list[b->quiet].held.st.st_dev;
		h->quiet.ino = c->list[b->quiet].held.st.st_ino;
	}
	h->locks = c->list[0].locks;
	h->binding = b->level;
}

/*
 * Who holds what came out, while the writers are paused. Looking at every
 * process takes longer than all else, so where the kernel says that nobody
 * has opened any of the files since hold_look, only new processes are.
 */
static int
S_look_again(struct hold *h, const struct candidates *c,
	     const struct binding *b, bool quiet, struct fault *f)
{
	struct inode_id ids[ROLE_COUNT];
	size_t n = S_bound_ids(c, b, ids);

	if (quiet && watch_covers(&h->watch, ids, n))
		return holders_update(&h->holders, ids, n, f);
	return hold_scan(h, ids, n, f);
}

/*
 * Pause, collect, bind, and look again who holds what came out: until no
 * process is new. Files and processes settle each other, for a sidecar can
 * show a writer that has main open read-only.
 */
int
hold_settle(struct hold *h, const struct selection *s,
	    const struct hold_rules *rules, struct fault *f)
{
	OWN_CANDIDATES(c);
	uint64_t stop_by = clock_mono_ns() + rules->stop_ns;
	struct bind_writers who;
	struct binding b;
	bool more, quiet;
	int rc;

	for (int round = 0; round < HOLD_ROUNDS_MAX; round++) {
		rc = S_pause_writers(h, rules, stop_by, &more, f);
		if (rc)
			return rc;
		if (!more && round > 0) {
			S_keep_bound(h, &c, &b);
			return 0;
		}
		/* Collecting opens the files: the watch is of use once. */
		quiet = watch_quiet(&h->watch);
		rc = S_collect(h, s, &c, f);
		who = (struct bind_writers){ h->procs, h->nprocs, &h->memory };
		if (!rc)
			rc = split_judge(&c, f);
		if (!rc)
			rc = bind_sidecars(&c, &who, rules->survey ?
					   stop_by : h->deadline_ns, &b, f);
		if (!rc)
			rc = S_look_again(h, &c, &b, quiet, f);
		if (!rc)
			rc = hold_refuse_strangers(h, s, f);
		if (rc)
			return rc;
	}
	return fault_set(f, FAULT_UNSTABLE, "ever new processes open %s: "
			 "no set of writers could be paused", s->path);
}
