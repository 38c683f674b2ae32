/*
 * hold.c - a database held still: its writers paused, its files in hand
 */
#include "capture/hold_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "capture/mounts.h"
#include "capture/rights.h"
#include "capture/signals.h"
#include "capture/stopped.h"
#include "capture/unseen.h"

/*
 * Who had main open for a moment has gone at one of several looks; who is
 * there all the time and in no table of ours can't be seen.
 */
#define LEASE_TRIES_NS (CLOCK_NS_PER_SEC / 2)
#define LEASE_STEP_NS 1000000l
/* More of them, each after the last, before a stranger is believed. */
#define STRANGER_LOOKS 3

void
hold_init(struct hold *h)
{
	memset(h, 0, sizeof(*h));
	for (enum role r = 0; r < ROLE_COUNT; r++) {
		h->held[r] = (struct held)HELD_INIT;
		h->held[r].role = r;
	}
	h->watch = (struct watch)WATCH_INIT;
	h->binding = "none";
	memory_bind_init(&h->memory);
}

void
hold_resume(struct hold *h)
{
	if (h->pause)
		pause_resume(h->pause);
	if (h->began_ns && !h->pause_ns)
		h->pause_ns = clock_mono_ns() - h->began_ns;
}

void
hold_release(struct hold *h)
{
	hold_resume(h);
	pause_free(h->pause);
	h->pause = NULL;
	signals_allow_stops(&h->stops);
	for (enum role r = 0; r < ROLE_COUNT; r++) {
		if (h->leased[r])
			(void)fcntl(h->held[r].fd, F_SETLEASE, F_UNLCK);
		h->leased[r] = false;
	}
}

void
hold_free(struct hold *h)
{
	hold_release(h);
	for (enum role r = 0; r < ROLE_COUNT; r++)
		held_free(&h->held[r]);
	for (size_t i = 0; i < h->nnames; i++)
		names_free(&h->names[i]);
	free(h->names);
	for (size_t i = 0; i < h->nprocs; i++)
		proc_close(&h->procs[i]);
	free(h->procs);
	memory_bind_free(&h->memory);
	holders_free(&h->holders);
	watch_end(&h->watch);
	notes_free(&h->notes);
	writers_free(&h->writers);
	hold_init(h);
}

static const struct holder *
S_holder_of_pid(const struct hold *h, pid_t pid)
{
	for (size_t i = 0; i < h->holders.count; i++)
		if (h->holders.holder[i].pid == pid)
			return &h->holders.holder[i];
	return NULL;
}

/*
 * The main, and what bears the name of a sidecar: a name can make us look
 * at more processes, never at fewer.
 */
static size_t
S_first_ids(const struct selection *s, const struct names *n,
	    struct inode_id ids[ROLE_COUNT])
{
	size_t count = 0;

	ids[count++] = (struct inode_id){ s->dev, s->ino };
	for (enum role r = ROLE_WAL; n && r < ROLE_COUNT; r++) {
		const struct name_entry *e = &n->entry[r];

		if (e->exists && S_ISREG(e->mode))
			ids[count++] = (struct inode_id){ e->dev, e->ino };
	}
	return count;
}

static bool
S_is_among(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* A table that we may not read says nothing: least of all that it is empty. */
static int
S_check_readable(const struct holders *h, pid_t pid, struct fault *f)
{
	OWN_PROC(p);
	struct rights r;
	int rc;

	if (!S_is_among(h->root_pid, h->unreadable_root, pid) &&
	    !S_is_among(h->other_pid, h->unreadable_other, pid))
		return 0;
	rc = proc_open(pid, &p, f);
	if (rc)
		return rc < 0 ? rc : 0;
	fault_set(f, FAULT_TROUBLE, "the descriptors of process %d may not be "
		  "read", (int)pid);
	rights_look(&p, RIGHTS_READ, &r);
	return rights_hint(&r, f);
}

static int
S_check_pids(const struct hold *h, const struct selection *s,
	     const struct hold_rules *rules, struct fault *f)
{
	for (size_t i = 0; i < rules->npids; i++) {
		const struct holder *who = S_holder_of_pid(h, rules->pids[i]);

		if (who && hold_holds(who, s->dev, s->ino))
			continue;
		if (S_check_readable(&h->holders, rules->pids[i], f))
			return -(int)f->code;
		fault_set(f, FAULT_REFUSED, "process %d does not have %s "
			  "(%ju:%ju) open", (int)rules->pids[i], s->path,
			  (uintmax_t)s->dev, (uintmax_t)s->ino);
		return fault_hint(f, "'holdfast capture --check %s' lists who"
				  " has it open", s->base);
	}
	return 0;
}

/*
 * Processes that we can't see into. A lease on main was the kernel's word
 * that none of them had it open to write.
 */
static int
S_note_unseen(struct hold *h, struct fault *f)
{
	const struct holders *seen = &h->holders;
	int rc = 0;

	if (h->kernel_vouches)
		return 0;
	if (seen->unreadable_other > 0)
		rc = notes_add(&h->notes, f, "holders", "%zu process%s of other"
			       " users whose descriptors we may not read",
			       seen->unreadable_other,
			       seen->unreadable_other == 1 ? "" : "es");
	if (!rc && seen->hidden)
		rc = notes_add(&h->notes, f, "holders", "/proc hides processes "
			       "of other users (hidepid)");
	if (!rc && seen->nested)
		rc = notes_add(&h->notes, f, "holders", "processes outside of "
			       "this PID namespace are not seen");
	return rc;
}

/*
 * A journal that was deleted since its name was looked up may have given its
 * inode's number to any file, and got it back since. So a stranger must be
 * one at each of several looks; where the name moves only main is asked for.
 */
static int
S_judge_strangers(struct hold *h, const struct selection *s,
		  const struct inode_id *ids, size_t n, struct fault *f)
{
	int rc = hold_refuse_strangers(h, s, f);

	for (int i = 0; rc == -FAULT_REFUSED && i < STRANGER_LOOKS; i++) {
		struct fault moved = FAULT_INIT;
		bool still = h->nnames == 0 ||
			     names_still(&h->names[0], &moved) !=
			     -FAULT_UNSTABLE;

		*f = (struct fault)FAULT_INIT;
		rc = hold_scan(h, ids, still ? n : 1, f);
		if (!rc)
			rc = hold_refuse_strangers(h, s, f);
	}
	return rc;
}

int
hold_look(struct hold *h, const struct selection *s,
	  const struct hold_rules *rules, struct fault *f)
{
	struct inode_id ids[ROLE_COUNT];
	size_t n;
	int rc = 0;

	h->displaced = s->displaced;
	if (!s->displaced)
		rc = hold_add_names(h, s->path, f);
	if (rc)
		return rc;
	/* Under --displaced the names are known to show other files. */
	n = S_first_ids(s, h->nnames && !rules->displaced ? &h->names[0]
							  : NULL, ids);
	if (h->nnames)
		watch_begin(&h->watch, &h->names[0], ids, n);
	rc = hold_scan(h, ids, n, f);
	if (!rc)
		rc = S_check_pids(h, s, rules, f);
	if (!rc && !rules->displaced)
		rc = S_judge_strangers(h, s, ids, n, f);
	for (size_t i = 0; rc == 0 && i < h->holders.count; i++)
		if (h->holders.holder[i].writable &&
		    hold_holds(&h->holders.holder[i], s->dev, s->ino))
			return 0;
	return rc ? rc : 1;
}

int
hold_live(struct hold *h, const struct selection *s,
	  const struct hold_rules *rules, struct fault *f)
{
	int rc;

	h->authority = "writers";
	hold_foresee(h, s, rules);
	signals_hold_stops(&h->stops);
	rc = pause_new(&h->pause, f);
	if (!rc)
		rc = hold_settle(h, s, rules, f);
	if (!rc && !rules->survey)
		rc = unseen_refuse_writer(&h->held[ROLE_MAIN], &h->locks,
					  &h->holders, f);
	if (!rc)
		rc = hold_gather_names(h, s, f);
	/* What was seen before the pause may be old by now. */
	for (size_t i = 0; rc == 0 && i < h->nnames; i++)
		rc = names_look(&h->names[i], f);
	if (!rc)
		rc = hold_judge_names(h, rules, f);
	return rc;
}

/*
 * Without a writer the absence of a sidecar rests on names alone: who can
 * change the directory can have taken it away.
 */
static int
S_note_absent(struct hold *h, const struct hold_rules *rules, struct fault *f)
{
	const struct names *n = &h->names[0];
	char who[768];
	int rc;

	if (rules->accept_names || h->held[ROLE_WAL].fd >= 0 ||
	    h->held[ROLE_JOURNAL].fd >= 0)
		return 0;
	rc = stopped_private(n->dirfd, n->entry[ROLE_MAIN].uid, who,
			     sizeof(who), f);
	if (rc == 1)
		rc = notes_add(&h->notes, f, "sidecars", "none is there, but "
			       "others can change %s", who);
	return rc;
}

/*
 * Sidecars lie beside the name that the writer used: of a file with several
 * names nobody can tell us which that was.
 */
static int
S_check_links(struct hold *h, const struct selection *s,
	      const struct hold_rules *rules, struct fault *f)
{
	uintmax_t links = (uintmax_t)h->held[ROLE_MAIN].st.st_nlink;
	OWN_MEM(char, mounted);
	int rc;

	if (s->symlink) {
		fault_set(f, FAULT_REFUSED, "nobody has it open, and it is a "
			  "symbolic link");
		return fault_hint(f, "name the file itself: %s", s->path);
	}
	rc = mounts_of_file(s->dev, s->ino, &mounted, f);
	if (rc < 0 || (rc == 1 && links <= 1))
		return rc < 0 ? rc : 0;
	if (rc == 0 && rules->accept_names)
		return notes_add(&h->notes, f, "sidecars", "main is mounted at "
				 "%s as a file of its own: only those of this "
				 "name were looked for", mounted);
	if (rc == 0) {
		fault_set(f, FAULT_REFUSED, "nobody has it open, and it is "
			  "mounted at %s as a file of its own: a journal or "
			  "WAL may lie beside another name", mounted);
		return fault_hint(f, "--accept-names takes this name for the "
				  "one that its writers use");
	}
	if (rules->accept_names)
		return notes_add(&h->notes, f, "sidecars", "main has %ju names "
				 "(hard links): only those of this name were "
				 "looked for", links);
	fault_set(f, FAULT_REFUSED, "nobody has it open, and it has %ju names "
		  "(hard links): a journal or WAL may lie beside another one",
		  links);
	return fault_hint(f, "--accept-names takes this name for the one that "
			  "its writers use");
}

/* FAULT_UNSTABLE: one has it open for writing that we can see. */
static int
S_see_opener(const struct selection *s, struct fault *f)
{
	const struct inode_id main = { s->dev, s->ino };
	OWN_HOLDERS(now);
	int rc = holders_find(&main, 1, &now, f);

	for (size_t i = 0; rc == 0 && i < now.count; i++)
		if (now.holder[i].writable)
			rc = fault_set(f, FAULT_UNSTABLE, "process %d has just"
				       " opened it for writing",
				       (int)now.holder[i].pid);
	return rc;
}

/*
 * The lease is refused where a process has main open for writing: one that
 * opened it since we looked, or one that we can't see.
 */
static int
S_lease_main(struct hold *h, const struct selection *s, struct fault *f)
{
	uint64_t until = clock_mono_ns() + LEASE_TRIES_NS;
	struct timespec step = { .tv_nsec = LEASE_STEP_NS };
	int rc;

	for (;;) {
		struct fault seen = FAULT_INIT;

		*f = (struct fault)FAULT_INIT;
		rc = stopped_lease(&h->held[ROLE_MAIN], &h->notes,
				   &h->leased[ROLE_MAIN], f);
		if (rc != -FAULT_REFUSED)
			break;
		if (S_see_opener(s, &seen)) {
			*f = seen;
			return -(int)f->code;
		}
		if (clock_left_ns(until) == 0 || signals_pending())
			break;
		(void)nanosleep(&step, NULL);
	}
	h->kernel_vouches = h->leased[ROLE_MAIN];
	return rc;
}

int
hold_stopped(struct hold *h, const struct selection *s,
	     const struct hold_rules *rules, struct fault *f)
{
	struct held *main = &h->held[ROLE_MAIN];
	int rc;

	h->authority = "stopped";
	h->binding = "none";
	if (s->displaced) {
		fault_set(f, FAULT_REFUSED, "displaced main: the name has lost "
			  "%ju:%ju, and no process has that open for writing",
			  (uintmax_t)s->dev, (uintmax_t)s->ino);
		return fault_hint(f, "without --displaced the file that the "
				  "name shows now is captured");
	}
	rc = held_from_path_fd(main, s->path_fd, f);
	if (!rc)
		rc = S_check_links(h, s, rules, f);
	if (!rc)
		rc = S_lease_main(h, s, f);
	if (!rc && !h->kernel_vouches)
		rc = unseen_refuse_lockers(main, &h->holders, f);
	if (!rc && h->nnames == 0)
		rc = hold_add_names(h, s->path, f);
	if (!rc)
		rc = names_look(&h->names[0], f);
	if (!rc)
		rc = hold_judge_names(h, rules, f);
	if (!rc)
		rc = S_note_absent(h, rules, f);
	return rc;
}

bool
hold_has_journal(const struct hold *h)
{
	const struct held *journal = &h->held[ROLE_JOURNAL];
	const struct holder *who;

	if (journal->fd < 0 || h->locks.exclusive_pid <= 0)
		return false;
	who = S_holder_of_pid(h, h->locks.exclusive_pid);
	return who && hold_holds(who, journal->st.st_dev, journal->st.st_ino);
}

static int
S_still_open(const struct hold *h, const struct held *held, struct fault *f)
{
	for (size_t i = 0; i < h->nprocs; i++)
		if (h->procs[i].pid == held->pid)
			return held_still_open(held, &h->procs[i], f);
	return 0;
}

int
hold_still(const struct hold *h, struct fault *f)
{
	int rc = h->pause ? pause_check(h->pause, f) : 0;

	for (enum role r = 0; rc == 0 && r < ROLE_COUNT; r++) {
		if (h->held[r].fd < 0)
			continue;
		rc = held_still(&h->held[r], f);
		if (!rc && h->held[r].pid)
			rc = S_still_open(h, &h->held[r], f);
		if (!rc && h->leased[r])
			rc = stopped_lease_still(&h->held[r], f);
	}
	for (size_t i = 0; rc == 0 && i < h->nnames && !h->displaced; i++)
		rc = names_still(&h->names[i], f);
	return rc;
}

int
hold_alone(const struct hold *h, struct fault *f)
{
	struct inode_id ids[ROLE_COUNT];
	OWN_HOLDERS(now);
	size_t n = 0;
	int rc;

	for (enum role r = 0; r < ROLE_COUNT; r++)
		if (h->held[r].fd >= 0)
			ids[n++] = (struct inode_id){ h->held[r].st.st_dev,
						      h->held[r].st.st_ino };
	rc = holders_find(ids, n, &now, f);
	for (size_t i = 0; rc == 0 && i < now.count; i++)
		if (now.holder[i].writable && !hold_is_paused(h, &now.holder[i]))
			rc = fault_set(f, FAULT_UNSTABLE, "process %d opened "
				       "the database for writing while we "
				       "read", (int)now.holder[i].pid);
	return rc;
}

int
hold_describe(struct hold *h, struct fault *f)
{
	int rc = S_note_unseen(h, f);

	for (size_t i = 0; rc == 0 && i < h->holders.count; i++) {
		const struct holder *who = &h->holders.holder[i];
		OWN_PROC(p);

		if (hold_is_paused(h, who) || proc_open(who->pid, &p, f) != 0)
			continue;
		rc = hold_list_writer(h, &p, who, false, f);
	}
	return rc;
}
