/*
 * memory_bind.c - which main each sidecar belongs to, by the writers' memory
 */
#include "capture/memory_bind.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/own.h"
#include "capture/holders.h"

/* While they are gathered: the main and another one have claimed it. */
#define CLAIMED_TWICE (-2)

/* What all places of all processes say. */
struct claims {
	const struct candidates *c;
	int *owner;
	/* What the main uses; inode 0: nothing so far. */
	struct inode_id uses[ROLE_COUNT];
	bool two[ROLE_COUNT];		/* it uses two of it */
};

struct place {
	struct memory_process process;
	struct memory_view view;
	struct memory_fd *fd;		/* owned */
	struct memory_fds fds;		/* of fd */
	struct memory_file *file;	/* owned */
	size_t nfiles;
};

static void
S_place_free(struct place *p)
{
	memory_process_close(&p->process);
	free(p->fd);
	free(p->file);
}

#define OWN_PLACE(name) \
	struct place name __attribute__((cleanup(S_place_free))) = \
		{ .process = { .pagemap = -1 } }

void
memory_bind_init(struct memory_bind *m)
{
	*m = (struct memory_bind){ .pause_bytes = MEMORY_PAUSE_BYTES };
}

static void
S_writer_free(struct memory_writer *w)
{
	memory_map_free(&w->map);
	memory_found_free(&w->found);
}

void
memory_bind_free(struct memory_bind *m)
{
	for (size_t i = 0; i < m->count; i++)
		S_writer_free(&m->writer[i]);
	free(m->writer);
	memory_bind_init(m);
}

static int
S_silent(struct memory_bind *m, const struct proc *p, const char *why)
{
	m->silent = why;
	m->silent_pid = p->pid;
	return 1;
}

/* 1: a thread has descriptors of its own, and no number means one file. */
static int
S_descriptors(struct place *at, const struct proc *p,
	      const struct candidates *c, struct fault *f)
{
	OWN_HOLDER(table);
	int rc = holders_table(p, &table, f);

	if (rc || table.split)
		return rc ? rc : 1;
	at->fd = calloc(table.nfds + 1, sizeof(*at->fd));
	if (!at->fd)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	for (size_t i = 0; i < table.nfds; i++) {
		const struct holder_fd *e = &table.fd[i];
		int k = candidates_find(c, e->dev, e->ino);

		if (e->fd < 0)
			continue;
		at->fd[at->fds.count++] = (struct memory_fd){
			.fd = e->fd, .dev = e->dev, .ino = e->ino,
			.main = k >= 0 && c->list[k].held.role == ROLE_MAIN,
		};
	}
	at->fds.list = at->fd;
	return 0;
}

static enum memory_end
S_search(struct place *at, struct memory_writer *w,
	 struct memory_budget *budget, int *err)
{
	memory_found_free(&w->found);
	memory_process_view(&at->process, &w->map, &at->view);
	return memory_sqlite_find(&at->view, &at->fds, budget, &w->found, err);
}

static int
S_keep(struct memory_bind *m, struct memory_writer *w, struct fault *f)
{
	struct memory_writer *grown = reallocarray(m->writer, m->count + 1,
						   sizeof(*grown));

	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	m->writer = grown;
	grown[m->count++] = *w;
	*w = (struct memory_writer){ .pid = 0 };
	return 0;
}

void
memory_bind_foresee(struct memory_bind *m, const struct proc *p,
		    const struct candidates *c, uint64_t deadline_ns)
{
	struct memory_budget budget = {
		.bytes = MEMORY_RUNNING_BYTES, .deadline_ns = deadline_ns
	};
	struct memory_writer w = { .pid = p->pid,
				   .start_time = p->start_time };
	struct fault ignored = FAULT_INIT;
	OWN_PLACE(at);
	int err;

	memory_process_open(&at.process, p);
	if (S_descriptors(&at, p, c, &ignored) == 0 &&
	    memory_map_read(p, &w.map, &ignored) == 0 &&
	    S_search(&at, &w, &budget, &err) == MEMORY_ALL &&
	    proc_same(p, &ignored) == 0)
		(void)S_keep(m, &w, &ignored);
	S_writer_free(&w);
}

static bool
S_has_place(const struct place *at, int fd)
{
	for (size_t i = 0; i < at->nfiles; i++)
		if (at->file[i].of[ROLE_MAIN] == fd)
			return true;
	return false;
}

/*
 * Reads every known place again. 0, or 1: one of them is an open database
 * no longer, or a descriptor of a main has none.
 */
static int
S_read_again(struct place *at, const struct memory_writer *w, bool strict,
	     struct fault *f)
{
	free(at->file);
	at->nfiles = 0;
	at->file = calloc(w->found.count + 1, sizeof(*at->file));
	if (!at->file)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	memory_process_view(&at->process, &w->map, &at->view);
	for (size_t i = 0; i < w->found.count; i++) {
		if (memory_sqlite_file(&at->view, &at->fds, w->found.at[i],
				       &at->file[at->nfiles]) == 0)
			at->nfiles++;
		else if (strict)
			return 1;
	}
	for (size_t i = 0; strict && i < at->fds.count; i++)
		if (at->fd[i].main && !S_has_place(at, at->fd[i].fd))
			return 1;
	return 0;
}

static struct memory_writer *
S_known(struct memory_bind *m, const struct proc *p)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->writer[i].pid == p->pid &&
		    m->writer[i].start_time == p->start_time)
			return &m->writer[i];
	return NULL;
}

/* The whole search, inside the pause. 1: no answer. */
static int
S_search_stopped(struct memory_bind *m, const struct proc *p,
		 struct place *at, struct memory_writer *w,
		 uint64_t deadline_ns, struct fault *f)
{
	struct memory_budget budget = {
		.bytes = m->pause_bytes, .deadline_ns = deadline_ns
	};
	enum memory_end end;
	int rc;

	memory_map_free(&w->map);
	rc = memory_map_read(p, &w->map, f);
	if (rc)
		return rc;
	end = S_search(at, w, &budget, &m->err);
	m->pause_bytes = budget.bytes;
	if (end == MEMORY_DENIED)
		return S_silent(m, p, "may not be read");
	if (end == MEMORY_TOO_MUCH)
		return S_silent(m, p, "is more than can be searched while it "
				"stands still");
	return S_read_again(at, w, false, f);
}

/* Fills at->file. 1: no answer. */
static int
S_look(struct memory_bind *m, const struct proc *p, struct place *at,
       uint64_t deadline_ns, struct fault *f)
{
	struct memory_writer *w = S_known(m, p);
	struct memory_writer new = { .pid = p->pid,
				     .start_time = p->start_time };
	int rc;

	if (w) {
		rc = S_read_again(at, w, true, f);
		return rc == 1 ? S_search_stopped(m, p, at, w, deadline_ns, f)
			       : rc;
	}
	rc = S_search_stopped(m, p, at, &new, deadline_ns, f);
	if (!rc)
		rc = S_keep(m, &new, f);
	S_writer_free(&new);
	return rc;
}

static const struct memory_fd *
S_fd(const struct place *at, int fd)
{
	for (size_t i = 0; i < at->fds.count; i++)
		if (at->fd[i].fd == fd)
			return &at->fd[i];
	return NULL;
}

static void
S_use(struct claims *s, enum role r, int fd, const struct memory_fd *side)
{
	struct inode_id *uses = &s->uses[r];

	s->two[r] |= fd == MEMORY_TWO;
	if (!side)
		return;
	s->two[r] |= uses->ino != 0 && (uses->dev != side->dev ||
					uses->ino != side->ino);
	*uses = (struct inode_id){ side->dev, side->ino };
}

static void
S_claim(const struct place *at, const struct memory_file *file, enum role r,
	struct claims *s)
{
	const struct memory_fd *main = S_fd(at, file->of[ROLE_MAIN]);
	const struct memory_fd *side = S_fd(at, file->of[r]);
	int m = main ? candidates_find(s->c, main->dev, main->ino) : -1;
	int k;

	if (m == 0)
		S_use(s, r, file->of[r], side);
	k = side ? candidates_find(s->c, side->dev, side->ino) : -1;
	/* One that is no candidate is empty: it has nothing to bind. */
	if (m < 0 || k < 0)
		return;
	if (s->c->list[k].held.role != r)
		s->owner[k] = CLAIMED_TWICE;
	else if (s->owner[k] == MEMORY_UNKNOWN)
		s->owner[k] = m;
	else if (s->owner[k] != m && (s->owner[k] == 0 || m == 0))
		s->owner[k] = CLAIMED_TWICE;
}

/* 1: no answer. */
static int
S_ask(struct memory_bind *m, const struct proc *p, uint64_t deadline_ns,
      struct claims *s, struct fault *f)
{
	OWN_PLACE(at);
	int rc = S_descriptors(&at, p, s->c, f);

	if (rc == 1)
		return S_silent(m, p, "has descriptors that only one of its "
				"threads knows");
	if (rc)
		return rc;
	memory_process_open(&at.process, p);
	rc = S_look(m, p, &at, deadline_ns, f);
	for (size_t i = 0; rc == 0 && i < at.nfiles; i++)
		for (enum role r = ROLE_WAL; r < ROLE_COUNT; r++)
			S_claim(&at, &at.file[i], r, s);
	return rc;
}

/*
 * An old file and a new one of the same name, both in use: whichever is
 * taken, commits of the other are lost.
 */
static int
S_refuse_two(const struct candidates *c, enum role r, struct fault *f)
{
	const struct stat *st = &c->list[0].held.st;

	fault_set(f, FAULT_AMBIGUOUS, "ambiguous %s: by the writers' own "
		  "memory they use two of them with main %ju:%ju",
		  role_name(r), (uintmax_t)st->st_dev, (uintmax_t)st->st_ino);
	return fault_hint(f, "one was unlinked or renamed while it was in use:"
			  " restart the writers");
}

/* 1: a sidecar has no main, or the main and another one. */
static int
S_settle(struct memory_bind *m, const struct proc *p, struct claims *s,
	 struct fault *f)
{
	int rc = 0;

	for (enum role r = ROLE_WAL; r < ROLE_COUNT; r++)
		if (s->two[r])
			return S_refuse_two(s->c, r, f);
	for (size_t i = 0; i < s->c->count; i++) {
		if (s->owner[i] == CLAIMED_TWICE)
			rc = S_silent(m, p, "gives two answers");
		else if (s->owner[i] == MEMORY_UNKNOWN && rc == 0 &&
			 candidate_has_content(&s->c->list[i]))
			rc = S_silent(m, p, "shows no connection of a known "
				      "form that uses one of them");
		if (s->owner[i] == CLAIMED_TWICE)
			s->owner[i] = MEMORY_UNKNOWN;
	}
	return rc;
}

int
memory_bind_owners(struct memory_bind *m, const struct proc *procs, size_t n,
		   const struct candidates *c, uint64_t deadline_ns,
		   int owner[CANDIDATES_MAX], struct fault *f)
{
	struct claims s = { .c = c, .owner = owner };
	int rc = n == 0;

	m->silent = NULL;
	m->err = 0;
	for (size_t i = 0; i < c->count; i++)
		owner[i] = MEMORY_UNKNOWN;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = S_ask(m, &procs[i], deadline_ns, &s, f);
	if (rc == 0)
		return S_settle(m, &procs[0], &s, f);
	/* What some say counts only where all could be asked. */
	for (size_t i = 0; i < c->count; i++)
		owner[i] = MEMORY_UNKNOWN;
	return rc;
}
