/*
 * group_stages.c - the capture fails, or is killed, at each of its stages
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "controls/bed_file.h"
#include "controls/bed_sides.h"
#include "controls/bed_watch.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"

#define STAGES_ROWS 50u
/* Calls of one kind that are tried, from the first to the last. */
#define STAGES_OF_A_KIND 4u

/*
 * As backup scripts do that stop a program to copy its files, with set -e
 * as good practice wants it.
 */
static const char S_script[] =
	"set -e; mkdir -p backup; kill -STOP $0; cp app.db backup/app.db;"
	" cp app.db-wal backup/app.db-wal; sync backup/app.db"
	" backup/app.db-wal; kill -CONT $0";

struct kind {
	const char *name;
	int call, error;
};

static const struct kind S_kinds[] = {
	{ "ptrace", SYS_ptrace, EIO },
	{ "waitid", SYS_waitid, EIO },
	{ "openat", SYS_openat, EMFILE },
	{ "pread64", SYS_pread64, EIO },
	{ "pwrite64", SYS_pwrite64, ENOSPC },
	{ "fallocate", SYS_fallocate, ENOSPC },
	{ "copy_file_range", SYS_copy_file_range, EIO },
	{ "clone3", SYS_clone3, EAGAIN },
	{ "pidfd_open", SYS_pidfd_open, EMFILE },
	{ "fsync", SYS_fsync, EIO },
	{ "linkat", SYS_linkat, EIO },
};

#define STAGES_KINDS (sizeof(S_kinds) / sizeof(S_kinds[0]))
/* A capture makes calls of most of the kinds, or this is none. */
#define STAGES_KINDS_MET 7u

struct scene {
	struct bed_writer *w;
	unsigned c;
	const char *pid, *rows;
	unsigned long met, failed;
	unsigned kinds;
};

static struct scene
S_scene(struct trial *t)
{
	struct scene s = { .w = bed_writer_start(t) };

	s.c = bed_bank(t, s.w, "app.db", "wal", STAGES_ROWS);
	s.pid = bed_text(t, "%d", s.w->pid);
	s.rows = bed_bank_rows(t, "app.db", STAGES_ROWS);
	bed_mkdir(t, "out");
	return s;
}

/* Commits one row and takes it back. */
#define STAGES_COMMITS "insert into acct(who, bal) values('x', 0);" \
	" delete from acct where bal = 0"

/* The writer runs, commits, and what has the packet's name is one. */
static void
S_judge(struct trial *t, struct scene *s, const struct kind *k,
	const struct bed_watch *w, const struct bed_run *r)
{
	const char *how, *rows;

	trial_examined(t, 1);
	s->met += w->met;
	s->failed += !bed_yes(r);
	if (!bed_runs(t, s->w, s->c, STAGES_COMMITS, &how))
		trial_product(t, false, "%s, call %lu, %s: the writer"
			      " stands still: %s", k->name, w->nth,
			      bed_told(t, r), how);
	if (!bed_exists("out/p"))
		return;
	rows = bed_product_rows(t, "out/p", BED_BANK_SQL, NULL);
	if (!rows || strcmp(rows, s->rows))
		trial_product(t, false, "%s %lu: the packet shows %s",
			      k->name, w->nth, rows ? rows : "nothing");
	bed_unlink(t, "out/p");
}

static const struct bed_run *
S_capture(struct trial *t, struct bed_watch *w)
{
	return bed_watch(t, BED_ARGV(t->product, "capture", "-o", "out/p",
				     "app.db"), w);
}

static void
S_each_stage(struct trial *t, struct scene *s, const struct kind *k,
	     bool killed)
{
	struct bed_watch w = { .call = k->call };
	const struct bed_run *r = S_capture(t, &w);
	unsigned long calls = w.calls, before = 0;

	if (!bed_yes(r))
		trial_die(t, "a capture whose %s is watched: %s", k->name,
			  bed_told(t, r));
	bed_unlink(t, "out/p");
	s->kinds += calls > 0;
	for (unsigned i = 0; calls && i < STAGES_OF_A_KIND; i++) {
		w.nth = 1 + i * (calls - 1) / (STAGES_OF_A_KIND - 1);
		w.error = killed ? 0 : k->error;
		w.kill = killed;
		if (w.nth == before)
			continue;
		before = w.nth;
		r = S_capture(t, &w);
		S_judge(t, s, k, &w, r);
	}
}

static void
S_ours(struct trial *t, struct scene *s, bool killed)
{
	for (size_t i = 0; i < STAGES_KINDS; i++)
		S_each_stage(t, s, &S_kinds[i], killed);
	trial_product(t, s->kinds >= STAGES_KINDS_MET && s->met > s->kinds &&
		      2 * s->failed > s->met, "%lu stages of %u kinds of"
		      " calls, at %lu of them it ended without a packet: the"
		      " writer commits after each", s->met, s->kinds,
		      s->failed);
}

static void
S_naive(struct trial *t, struct scene *s, bool killed)
{
	struct bed_watch w = { .call = SYS_fsync, .all = true };
	const char *const *argv = BED_ARGV("sh", "-c", S_script, s->pid);
	const char *how = "committed";
	bool runs;

	/* Without the attack: how many there are, and it is right. */
	if (bed_watch(t, argv, &w)->status)
		trial_die(t, "the script fails");
	runs = bed_runs(t, s->w, s->c, STAGES_COMMITS, &how);
	trial_examined(t, 1);
	trial_inverse_predecessor(t, runs, "the writer has %s", how);
	bed_naive_inverse(t, bed_show_sqlite3(t, "backup/app.db",
					      BED_BANK_SQL), s->rows);

	w.nth = w.calls;
	w.error = killed ? 0 : EIO;
	w.kill = killed;
	(void)bed_watch(t, argv, &w);
	runs = bed_runs(t, s->w, s->c, STAGES_COMMITS, &how);
	trial_examined(t, 1);
	trial_predecessor(t, w.met && !runs ? SYMPTOM_STANDS : NULL,
			  "the writer has %s", how);
}

static void
S_stages(struct trial *t, bool killed)
{
	struct scene s = S_scene(t);

	S_naive(t, &s, killed);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_BANK_SQL), s.rows);
	S_ours(t, &s, killed);
	bed_end(t, s.w);
}

static void
S_refused(struct trial *t)
{
	S_stages(t, false);
}

static void
S_killed(struct trial *t)
{
	S_stages(t, true);
}

const struct control group_stages[] = {
	{
		.id = "failing-stage",
		.title = "The capture fails in the middle, at each stage",
		.attack = "a system call fails: of each kind that a capture"
			" makes four, from the first to the last",
		.predecessor = "kill -STOP, cp, cp, sync, kill -CONT in a"
			" script with set -e, as backup scripts do",
		.symptom = SYMPTOM_STANDS,
		.expected = "the writer commits after each, and no half"
			" packet is left",
		.inverse = "no call fails",
		.needs = CONTROL_PAUSE | CONTROL_NOTIFY | CONTROL_SQLITE3,
		.run = S_refused,
	},
	{
		.id = "killed-stage",
		.title = "The capture is killed in the middle, at each stage",
		.attack = "SIGKILL at a system call: of each kind that a"
			" capture makes four, from the first to the last",
		.predecessor = "kill -STOP, cp, cp, sync, kill -CONT in a"
			" script, killed with all its children",
		.symptom = SYMPTOM_STANDS,
		.expected = "the writer commits after each, and no half"
			" packet is left",
		.inverse = "nobody kills it",
		.needs = CONTROL_PAUSE | CONTROL_NOTIFY | CONTROL_SQLITE3,
		.run = S_killed,
	},
	{ .id = NULL },
};
