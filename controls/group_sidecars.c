/*
 * group_sidecars.c - what is no regular file of its own in a sidecar's place
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "controls/bed_file.h"
#include "controls/bed_sides.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"

#define SIDECARS_ROWS 50u
#define SIDECARS_OTHER 30u

/*
 * As backup scripts do that give up on no file: whatever cp says of a
 * sidecar, the copy is taken.
 */
static const char S_script[] =
	"rm -rf backup && mkdir backup && cp app.db backup/app.db &&"
	" { cp app.db-wal backup/app.db-wal 2>/dev/null || true; } &&"
	" exec sqlite3 -batch -init /dev/null backup/app.db \"$0\"";

static struct bed_shown
S_backup(struct trial *t)
{
	return bed_show_run(bed_command(t, BED_ARGV(
		"sh", "-c", S_script, BED_BANK_SQL)));
}

struct scene {
	struct bed_writer *w;
	const char *all, *less, *foreign;
};

/*
 * app.db with one row in the WAL, other.db, and the attack off: both sides
 * are right. Then the WAL has another name, and its place is free.
 */
static struct scene
S_scene(struct trial *t)
{
	struct scene s = { .w = bed_writer_start(t) };
	unsigned c = bed_bank(t, s.w, "app.db", "wal", SIDECARS_ROWS - 1);
	struct bed_writer *other = bed_writer_start(t);

	s.all = bed_bank_rows(t, "app.db", SIDECARS_ROWS);
	s.less = bed_bank_rows(t, "app.db", SIDECARS_ROWS - 1);
	s.foreign = bed_bank_rows(t, "other.db", SIDECARS_OTHER);
	(void)bed_sql(t, s.w, c, "pragma wal_checkpoint; insert into"
		      " acct(who, bal) values('app.db', 50)");
	(void)bed_bank(t, other, "other.db", "wal", SIDECARS_OTHER);
	bed_kill(t, other);
	bed_naive_inverse(t, S_backup(t), s.all);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_BANK_SQL), s.all);
	bed_rename(t, "app.db-wal", "aside");
	return s;
}

static const struct bed_run *
S_query_idle(struct trial *t)
{
	return bed_product(t, BED_ARGV("query", "idle.db", BED_BANK_SQL));
}

/*
 * The product with the writer alive, and on a database that nobody has
 * open; that one is made of copies, with the same thing in the WAL's place.
 * Nothing distinguishes a regular file there from the lost WAL of a crash:
 * it may be shown, if what could not be checked is said.
 */
static void
S_ours(struct trial *t, struct scene *s, bool regular,
       void (*plant)(struct trial *t, const char *path))
{
	bed_ours_refuses_capture(t, "app.db", 3, "app.db-wal");
	bed_ours(t, bed_show_captured(t, "app.db", "--displaced",
				      BED_BANK_SQL), s->all);
	(void)bed_progress(t, s->w, 0);
	bed_copy(t, "app.db", "idle.db");
	plant(t, "idle.db-wal");
	if (regular)
		bed_ours_refuses(t, S_query_idle(t), 6, "only its name",
				 NULL);
	else
		bed_ours_refuses(t, S_query_idle(t), 3, "idle.db-wal", NULL);
	bed_kill(t, s->w);
}

static void
S_plant_symlink(struct trial *t, const char *path)
{
	bed_symlink(t, "other.db-wal", path);
}

static void
S_plant_link(struct trial *t, const char *path)
{
	bed_link(t, "other.db-wal", path);
}

/* cp of either kind of link takes what it leads to. */
static void
S_foreign(struct trial *t, bool regular,
	  void (*plant)(struct trial *t, const char *path))
{
	struct scene s = S_scene(t);

	plant(t, "app.db-wal");
	bed_naive(t, S_backup(t), SYMPTOM_FOREIGN, s.foreign, s.all);
	S_ours(t, &s, regular, plant);
}

static void
S_symlink(struct trial *t)
{
	S_foreign(t, false, S_plant_symlink);
}

static void
S_link(struct trial *t)
{
	S_foreign(t, true, S_plant_link);
}

static void
S_fifo(struct trial *t)
{
	struct scene s = S_scene(t);
	const struct bed_run *naive;

	bed_fifo(t, "app.db-wal");
	naive = bed_command_fifo(t, "app.db-wal", BED_ARGV(
		"sh", "-c", S_script, BED_BANK_SQL));
	trial_examined(t, 1);
	trial_predecessor(t, naive->late ? SYMPTOM_HANGS : NULL, "%s",
			  naive->late ? "cp waits for a writer of the FIFO"
				      : bed_told(t, naive));
	S_ours(t, &s, false, bed_fifo);
}

/* Ends the control as skipped where the system lets nobody make one. */
static void
S_plant_device(struct trial *t, const char *path)
{
	if (mknod(path, S_IFCHR | 0600, makedev(1, 3)))
		trial_skip(t, "no device can be made here: %s",
			   strerror(errno));
}

static void
S_device(struct trial *t)
{
	struct scene s = S_scene(t);

	S_plant_device(t, "app.db-wal");
	bed_naive(t, S_backup(t), SYMPTOM_MISSING, s.less, s.all);
	S_ours(t, &s, false, S_plant_device);
}

static void
S_directory(struct trial *t)
{
	struct scene s = S_scene(t);

	bed_mkdir(t, "app.db-wal");
	bed_naive(t, S_backup(t), SYMPTOM_MISSING, s.less, s.all);
	S_ours(t, &s, false, bed_mkdir);
}

#define SIDECARS_SCRIPT "a script that copies main and WAL and ignores what" \
	" cp says of the WAL, as backup scripts do; then sqlite3"
#define SIDECARS_EXPECTED "refused, with the writer alive and without one;" \
	" with --displaced the rows that the writer has"
#define SIDECARS_INVERSE "the WAL is in its place"

const struct control group_sidecars[] = {
	{
		.id = "sidecar-symlink",
		.title = "A symbolic link in the place of the WAL",
		.attack = "app.db-wal is a link to the WAL of another"
			" database",
		.predecessor = SIDECARS_SCRIPT,
		.symptom = SYMPTOM_FOREIGN,
		.expected = SIDECARS_EXPECTED,
		.inverse = SIDECARS_INVERSE,
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_symlink,
	},
	{
		.id = "sidecar-hard-link",
		.title = "A hard link in the place of the WAL",
		.attack = "app.db-wal is a second name of the WAL of another"
			" database",
		.predecessor = SIDECARS_SCRIPT,
		.symptom = SYMPTOM_FOREIGN,
		.expected = "refused with the writer alive; without one never"
			" exit 0: only the name ties it, and that is said;"
			" with --displaced the rows that the writer has",
		.inverse = SIDECARS_INVERSE,
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_link,
	},
	{
		.id = "sidecar-fifo",
		.title = "A FIFO in the place of the WAL",
		.attack = "app.db-wal is a pipe that nobody writes to",
		.predecessor = SIDECARS_SCRIPT,
		.symptom = SYMPTOM_HANGS,
		.expected = SIDECARS_EXPECTED,
		.inverse = SIDECARS_INVERSE,
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_fifo,
	},
	{
		.id = "sidecar-device",
		.title = "A device in the place of the WAL",
		.attack = "app.db-wal is the null device",
		.predecessor = SIDECARS_SCRIPT,
		.symptom = SYMPTOM_MISSING,
		.expected = SIDECARS_EXPECTED,
		.inverse = SIDECARS_INVERSE,
		.needs = CONTROL_ROOT | CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_device,
	},
	{
		.id = "sidecar-directory",
		.title = "A directory in the place of the WAL",
		.attack = "app.db-wal is a directory",
		.predecessor = SIDECARS_SCRIPT,
		.symptom = SYMPTOM_MISSING,
		.expected = SIDECARS_EXPECTED,
		.inverse = SIDECARS_INVERSE,
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_directory,
	},
	{ .id = NULL },
};
