/*
 * hold_names.c - what the names say of the held files, and what they alone
 * show
 */
#include "capture/hold_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "capture/mounts.h"
#include "capture/stopped.h"

/* Bounds the look at the content of a sidecar. */
#define PROVE_NS (5 * CLOCK_NS_PER_SEC)

/* n is opened, as rc says, and handed over. */
static int
S_keep_names(struct hold *h, struct names n, const char *path, int rc,
	     struct fault *f)
{
	struct names *grown;

	if (rc == 1)
		rc = h->displaced ? 0 :
		     fault_set(f, FAULT_REFUSED, "displaced main: the writer "
			       "opened it as %s, whose directory is not there",
			       path);
	else if (!rc) {
		for (size_t i = 0; i < h->nnames; i++)
			if (strcmp(h->names[i].dir, n.dir) == 0 &&
			    strcmp(h->names[i].base, n.base) == 0)
				goto out;
		grown = reallocarray(h->names, h->nnames + 1, sizeof(*grown));
		if (grown) {
			h->names = grown;
			h->names[h->nnames++] = n;
			return 0;
		}
		rc = fault_set(f, FAULT_TROUBLE, "out of memory");
	}
out:
	names_free(&n);
	return rc;
}

int
hold_add_names(struct hold *h, const char *path, struct fault *f)
{
	struct names n = NAMES_INIT;
	int rc = names_open(&n, path, f);

	return S_keep_names(h, n, path, rc, f);
}

static int
S_add_link(struct hold *h, pid_t pid, const struct holder_fd *e,
	   struct fault *f)
{
	struct names n = NAMES_INIT;
	int rc = mounts_open_names(&n, pid, e, f);

	return S_keep_names(h, n, e->link, rc, f);
}

int
hold_gather_names(struct hold *h, const struct selection *s, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; i < h->holders.count; i++) {
		const struct holder *who = &h->holders.holder[i];

		for (size_t k = 0; rc == 0 && k < who->nfds; k++)
			if (who->fd[k].link && who->fd[k].dev == s->dev &&
			    who->fd[k].ino == s->ino)
				rc = S_add_link(h, who->pid, &who->fd[k], f);
	}
	return rc;
}

static int
S_refuse_held_idle(const struct held *idle, struct fault *f)
{
	struct inode_id id = { idle->st.st_dev, idle->st.st_ino };
	OWN_HOLDERS(who);
	int rc = holders_find(&id, 1, &who, f);

	for (size_t i = 0; rc == 0 && i < who.count; i++)
		if (who.holder[i].writable)
			rc = fault_set(f, FAULT_AMBIGUOUS, "the name of the %s "
				       "is %ju:%ju, which process %d has open "
				       "with another main", role_name(idle->role),
				       (uintmax_t)id.dev, (uintmax_t)id.ino,
				       (int)who.holder[i].pid);
	return rc;
}

/*
 * The name says that there is content, no descriptor does: an idle
 * connection after a crash, or a stopped database. Who could have put it
 * there is asked of the directories, who writes it of a lease.
 */
static int
S_take_idle(struct hold *h, const struct names *n, enum role r,
	    const struct hold_rules *rules, struct fault *f)
{
	char name[NAME_MAX + 16], who[768];
	struct held *held = &h->held[r];
	int rc;

	rc = stopped_private(n->dirfd, n->entry[r].uid, who, sizeof(who), f);
	if (rc < 0)
		return rc;
	if (rc && !rules->accept_names) {
		fault_set(f, FAULT_AMBIGUOUS, "nobody has the %s %s/%s%s open, "
			  "and its name proves nothing: others can change %s",
			  role_name(r), n->dir, n->base, role_suffix(r), who);
		return fault_hint(f, "move the database where only root and "
				  "you can write, or accept the name with "
				  "--accept-names");
	}
	if (rc) {
		rc = notes_add(&h->notes, f, role_name(r), "taken by its name, "
			       "though others can change %s", who);
		if (rc)
			return rc;
	}
	(void)snprintf(name, sizeof(name), "%s%s", n->base, role_suffix(r));
	rc = stopped_take(held, n->dirfd, name, f);
	if (rc == 1)
		return fault_set(f, FAULT_UNSTABLE, "the %s vanished while we "
				 "looked at it", role_name(r));
	if (!rc)
		rc = S_refuse_held_idle(held, f);
	if (!rc)
		rc = stopped_lease(held, &h->notes, &h->leased[r], f);
	if (rc)
		return rc;
	h->binding = "stopped";
	return 0;
}

static bool
S_has_idle_shm(const struct hold *h, const struct names *n)
{
	const struct name_entry *e = &n->entry[ROLE_SHM];

	return h->held[ROLE_SHM].fd < 0 && e->exists && S_ISREG(e->mode) &&
	       e->size > 0;
}

/*
 * A journal whose first byte is 0 is not hot (as journal_mode PERSIST leaves
 * it): SQLite looks at no more of it, and whose it is does not matter.
 */
static int
S_undoes_nothing(const struct held *h, bool *nothing, struct fault *f)
{
	unsigned char first = 1;
	size_t got;
	int rc = 0;

	if (h->role == ROLE_JOURNAL)
		rc = io_pread(h->fd, &first, sizeof(first), 0, &got, f);
	*nothing = first == 0;
	return rc;
}

/* As S_take_idle, and asks the content whether the name may be right. */
static int
S_take_and_prove(struct hold *h, const struct names *n, enum role r,
		 const struct hold_rules *rules, struct fault *f)
{
	uint64_t by = clock_mono_ns() + PROVE_NS;
	bool proven;
	int rc = S_take_idle(h, n, r, rules, f);

	if (!rc && r == ROLE_WAL && S_has_idle_shm(h, n))
		rc = S_take_idle(h, n, ROLE_SHM, rules, f);
	if (!rc)
		rc = bind_idle(h->held, r, by, &proven, f);
	if (rc || proven)
		return rc;
	rc = S_undoes_nothing(&h->held[r], &proven, f);
	if (rc || proven)
		return rc;
	return notes_add(&h->notes, f, role_name(r), "only its name ties it to "
			 "main: no process had both open, and no page tells");
}

/*
 * Under --displaced the names have lost the files, so they can't say either
 * whether a sidecar exists that nobody has open.
 */
static int
S_judge_displaced(struct hold *h, struct fault *f)
{
	for (size_t i = 0; i < h->nnames; i++) {
		struct fault why = FAULT_INIT;
		enum role idle;

		if (names_judge(&h->names[i], h->held, &h->quiet, &idle,
				&why) < 0)
			h->displaced = true;
	}
	if (h->displaced && h->held[ROLE_WAL].fd < 0 &&
	    h->held[ROLE_JOURNAL].fd < 0)
		return notes_add(&h->notes, f, "sidecars", "displaced: whether "
				 "one exists that no process has open can't be "
				 "told");
	return 0;
}

int
hold_judge_names(struct hold *h, const struct hold_rules *rules, struct fault *f)
{
	if (rules->displaced)
		return S_judge_displaced(h, f);
	for (size_t i = 0; i < h->nnames; i++) {
		enum role idle;
		int rc;

		while ((rc = names_judge(&h->names[i], h->held, &h->quiet,
					 &idle, f)) == 1) {
			rc = S_take_and_prove(h, &h->names[i], idle, rules, f);
			if (rc)
				return rc;
		}
		if (rc)
			return rc;
	}
	return 0;
}
