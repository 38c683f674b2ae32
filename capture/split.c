/*
 * split.c - sidecars of one main that the writers do not share
 */
#include "capture/split.h"

#include <inttypes.h>

static const char *
S_unlinked(const struct held *h)
{
	return h->st.st_nlink == 0 ? " (unlinked)" : "";
}

static int
S_refuse_split(const struct candidates *c, const struct held *a,
	       const struct held *b, struct fault *f)
{
	const struct stat *main = &c->list[0].held.st;

	return fault_set(f, FAULT_REFUSED, "split %s: process %d has %ju:%ju%s "
			 "open as descriptor %d, process %d has %ju:%ju%s as "
			 "descriptor %d, both for main %ju:%ju",
			 role_name(a->role), (int)a->pid,
			 (uintmax_t)a->st.st_dev, (uintmax_t)a->st.st_ino,
			 S_unlinked(a), a->pid_fd,
			 (int)b->pid, (uintmax_t)b->st.st_dev,
			 (uintmax_t)b->st.st_ino,
			 S_unlinked(b), b->pid_fd,
			 (uintmax_t)main->st_dev, (uintmax_t)main->st_ino);
}

static int
S_judge_split(const struct candidates *c, enum role r, struct fault *f)
{
	const struct candidate *first = NULL;

	for (size_t i = 1; i < c->count; i++) {
		const struct candidate *one = &c->list[i];

		if (one->held.role != r || !one->own_name)
			continue;
		if (!first) {
			first = one;
			continue;
		}
		(void)S_refuse_split(c, &first->held, &one->held, f);
		return fault_hint(f, "what one of them commits the other does "
				  "not see: stop the process whose file is "
				  "unlinked or the other, then capture with "
				  "--displaced or without");
	}
	return 0;
}

/* Unlinked, and whoever has it open has no lock on main. */
static bool
S_is_over(const struct candidate *c)
{
	return c->own_name && c->held.st.st_nlink == 0 && !c->locked;
}

static int
S_refuse_over(const struct candidate *wal, struct fault *f)
{
	fault_set(f, FAULT_REFUSED, "process %d has the unlinked WAL %ju:%ju "
		  "open as descriptor %d and no lock on main: its connection "
		  "is over, or is that of the process that forked it, or it "
		  "lost its locks when it closed main a second time",
		  (int)wal->held.pid, (uintmax_t)wal->held.st.st_dev,
		  (uintmax_t)wal->held.st.st_ino, wal->held.pid_fd);
	return fault_hint(f, "what that WAL would replay may be older than "
			  "main: end process %d", (int)wal->held.pid);
}

static void
S_take_out(struct candidates *c, size_t i)
{
	held_free(&c->list[i].held);
	c->list[i] = c->list[--c->count];
}

int
split_judge(struct candidates *c, struct fault *f)
{
	int rc;

	for (size_t i = c->count; i-- > 1;)
		if (c->list[i].held.role == ROLE_JOURNAL &&
		    S_is_over(&c->list[i]))
			S_take_out(c, i);
	rc = S_judge_split(c, ROLE_WAL, f);
	if (!rc)
		rc = S_judge_split(c, ROLE_SHM, f);
	for (size_t i = 1; rc == 0 && i < c->count; i++)
		if (c->list[i].held.role == ROLE_WAL &&
		    S_is_over(&c->list[i]))
			rc = S_refuse_over(&c->list[i], f);
	return rc;
}
