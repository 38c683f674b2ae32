/*
 * group_names.c - names that show other files than the writer has open
 */
#include "controls/bed_file.h"
#include "controls/bed_sides.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"

#define NAMES_ROWS 50u
#define NAMES_OLD 40u
#define NAMES_OTHER 30u

/* "cp" of main and WAL, and what sqlite3 shows of the copies. */
static struct bed_shown
S_copied(struct trial *t, const char *to)
{
	(void)bed_output(t, BED_ARGV("cp", "app.db",
				     bed_text(t, "%s.db", to)));
	(void)bed_output(t, BED_ARGV("cp", "app.db-wal",
				     bed_text(t, "%s.db-wal", to)));
	return bed_show_sqlite3(t, bed_text(t, "%s.db", to), BED_BANK_SQL);
}

/* A bank with rows in main and one more row in the WAL. */
static unsigned
S_partly(struct trial *t, struct bed_writer *w, const char *path,
	 unsigned rows)
{
	unsigned c = bed_bank(t, w, path, "wal", rows - 1);

	(void)bed_sql(t, w, c, "pragma wal_checkpoint; insert into acct(who,"
		      " bal) values('%s', 50)", path);
	return c;
}

static void
S_crossed(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	const char *app = bed_bank_rows(t, "app.db", NAMES_ROWS),
		*other = bed_bank_rows(t, "other.db", NAMES_OTHER);

	(void)S_partly(t, w, "app.db", NAMES_ROWS);
	(void)S_partly(t, w, "other.db", NAMES_OTHER);
	bed_exchange(t, "app.db-wal", "other.db-wal");
	bed_naive(t, S_copied(t, "crossed"), SYMPTOM_FOREIGN, other, app);
	bed_ours_refuses_capture(t, "app.db", 3, "app.db");
	/* With those of the SHM every name agrees with every other. */
	bed_exchange(t, "app.db-shm", "other.db-shm");
	bed_ours_refuses_capture(t, "app.db", 3, "app.db-wal");
	bed_ours(t, bed_show_captured(t, "app.db", "--displaced",
				      BED_BANK_SQL), app);
	bed_ours(t, bed_show_captured(t, "other.db", "--displaced",
				      BED_BANK_SQL), other);

	bed_exchange(t, "app.db-wal", "other.db-wal");
	bed_exchange(t, "app.db-shm", "other.db-shm");
	bed_naive_inverse(t, S_copied(t, "right"), app);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_BANK_SQL), app);
	bed_end(t, w);
}

static void
S_unlinked(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	const char *old = bed_bank_rows(t, "app.db", NAMES_ROWS - 1),
		*all = bed_bank_rows(t, "app.db", NAMES_ROWS);

	(void)S_partly(t, w, "app.db", NAMES_ROWS);
	bed_naive_inverse(t, bed_show_sqlite3(t, "app.db", BED_BANK_SQL),
			  all);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_BANK_SQL), all);

	bed_unlink(t, "app.db-wal");
	bed_unlink(t, "app.db-shm");
	bed_ours_refuses_capture(t, "app.db", 3, "-wal");
	bed_ours(t, bed_show_captured(t, "app.db", "--displaced",
				      BED_BANK_SQL), all);
	bed_naive(t, bed_show_sqlite3(t, "app.db", BED_BANK_SQL),
		  SYMPTOM_MISSING, old, all);
	(void)bed_progress(t, w, 0);
	bed_kill(t, w);
}

static void
S_renamed(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	const char *app = bed_bank_rows(t, "app.db", NAMES_ROWS);
	unsigned c = bed_bank(t, w, "app.db", "wal", NAMES_ROWS);

	(void)bed_sql(t, w, c, "pragma wal_checkpoint(truncate)");
	(void)bed_sql_file(t, "new.db", "create table acct(id integer primary"
			   " key, who text, bal int); insert into acct(who,"
			   " bal) values('new.db', 1000)");
	bed_naive_inverse(t, bed_show_sqlite3(t, "app.db", BED_BANK_SQL),
			  app);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_BANK_SQL), app);

	bed_rename(t, "new.db", "app.db");
	bed_ours_refuses_capture(t, "app.db", 3, "app.db");
	bed_ours_refuses(t, bed_product(t, BED_ARGV(
		"query", "app.db", BED_BANK_SQL)), 3, "app.db", NULL);
	bed_naive(t, bed_show_sqlite3(t, "app.db", BED_BANK_SQL),
		  SYMPTOM_FOREIGN, "1|1000|new.db", app);
	(void)bed_progress(t, w, c);
	bed_kill(t, w);
}

/*
 * Generations of the WAL: one with 40 rows, which is kept aside; one with
 * 10 more, checkpointed; and one with a row more.
 */
static void
S_stale(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	const char *old = bed_bank_rows(t, "app.db", NAMES_OLD),
		*all = bed_bank_rows(t, "app.db", NAMES_ROWS);
	unsigned c = bed_bank(t, w, "app.db", "wal", NAMES_OLD);
	struct bed_bytes stale = bed_read(t, "app.db-wal");

	(void)bed_sql(t, w, c, "with n(i) as (select 1 union all select i + 1"
		      " from n where i < %u) insert into acct(who, bal)"
		      " select 'app.db', 50 from n;"
		      " pragma wal_checkpoint(restart);"
		      " insert into acct(who, bal) values('app.db', 50)",
		      NAMES_ROWS - NAMES_OLD - 1);
	bed_naive_inverse(t, S_copied(t, "right"), all);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_BANK_SQL), all);

	bed_rename(t, "app.db-wal", "aside");
	bed_write(t, "app.db-wal", stale.p, stale.n);
	bed_naive(t, S_copied(t, "stale"), SYMPTOM_OLD, old, all);
	bed_ours_refuses_capture(t, "app.db", 3, "app.db-wal");
	bed_ours(t, bed_show_captured(t, "app.db", "--displaced",
				      BED_BANK_SQL), all);

	/* The same bytes, written over those of the writer's own WAL. */
	bed_rename(t, "aside", "app.db-wal");
	bed_write(t, "app.db-wal", stale.p, stale.n);
	bed_naive(t, S_copied(t, "over"), SYMPTOM_OLD, old, all);
	bed_ours_refuses_capture(t, "app.db", 3, "salt");
	bed_kill(t, w);
}

/*
 * A whole database of another one, WAL and all, is in the place of the
 * sidecars before anybody opens them, and stays there.
 */
static void
S_coherent(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t),
		*forger = bed_writer_start(t);
	const char *app = bed_bank_rows(t, "app.db", NAMES_ROWS);
	unsigned c = bed_bank(t, w, "app.db", "wal", NAMES_ROWS - 1);
	const char *check = "a=$(stat -c %i:%s:%y app.db app.db-wal)"
		" && cp app.db copy.db && cp app.db-wal copy.db-wal &&"
		" b=$(stat -c %i:%s:%y app.db app.db-wal)"
		" && test \"$a\" = \"$b\" &&"
		" sqlite3 -batch -init /dev/null copy.db \"$0\"";
	const struct bed_run *r;
	unsigned forged;

	(void)bed_sql(t, w, c, "pragma wal_checkpoint");
	bed_copy(t, "app.db", "forged.db");
	(void)bed_sql(t, w, c, "insert into acct(who, bal)"
		      " values('app.db', 50)");
	forged = bed_open(t, forger, "forged.db", "wal");
	(void)bed_sql(t, forger, forged, "update acct set bal = 1000000,"
		      " who = 'forger'");
	r = bed_command(t, BED_ARGV("sh", "-c", check, BED_BANK_SQL));
	bed_naive_inverse(t, bed_show_run(r), app);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_BANK_SQL), app);

	bed_kill(t, forger);
	bed_exchange(t, "app.db-wal", "forged.db-wal");
	bed_exchange(t, "app.db-shm", "forged.db-shm");
	bed_unlink(t, "copy.db");
	r = bed_command(t, BED_ARGV("sh", "-c", check, BED_BANK_SQL));
	bed_naive(t, bed_show_run(r), SYMPTOM_FOREIGN, "49|49000000|forger",
		  app);
	bed_ours_refuses_capture(t, "app.db", 3, "app.db-wal");
	bed_ours(t, bed_show_captured(t, "app.db", "--displaced",
				      BED_BANK_SQL), app);
	bed_kill(t, w);
}

const struct control group_names[] = {
	{
		.id = "crossed-wal-names",
		.title = "Crossed WAL names of two databases in one writer",
		.attack = "the names of two WALs are exchanged while the"
			" writer has both databases open; then those of the"
			" SHMs as well",
		.predecessor = "cp of app.db and app.db-wal, then sqlite3",
		.symptom = SYMPTOM_FOREIGN,
		.expected = "refused; with --displaced the rows of each"
			" database",
		.inverse = "the names are exchanged back",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_crossed,
	},
	{
		.id = "unlinked-sidecars",
		.title = "WAL and SHM are unlinked under the writer",
		.attack = "app.db-wal and app.db-shm are removed while the"
			" writer has them open",
		.predecessor = "sqlite3 app.db",
		.symptom = SYMPTOM_MISSING,
		.expected = "refused; with --displaced the rows that the"
			" writer has; it goes on",
		.inverse = "the files are in their places",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_unlinked,
	},
	{
		.id = "renamed-main",
		.title = "Main is replaced by rename while it is open",
		.attack = "another database is renamed over app.db while the"
			" writer has it open",
		.predecessor = "sqlite3 app.db",
		.symptom = SYMPTOM_FOREIGN,
		.expected = "refused, by capture and by query; the writer"
			" goes on",
		.inverse = "app.db is the file that the writer has open",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_renamed,
	},
	{
		.id = "stale-wal",
		.title = "A WAL of an older generation",
		.attack = "a WAL kept from before a checkpoint takes the"
			" name of the present one; then it is written over it",
		.predecessor = "cp of app.db and app.db-wal, then sqlite3",
		.symptom = SYMPTOM_OLD,
		.expected = "the name is refused, and --displaced shows the"
			" rows that the writer has; the bytes are refused by"
			" their salts",
		.inverse = "the WAL is the writer's own",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_stale,
	},
	{
		.id = "coherent-substitute-wal",
		.title = "A coherent substitute that is there all the time",
		.attack = "WAL and SHM of an altered copy, with valid salts"
			" and checksums, take the names before anybody looks,"
			" and stay",
		.predecessor = "a script that copies and compares inode, size"
			" and time before and after, as backup scripts do",
		.symptom = SYMPTOM_FOREIGN,
		.expected = "refused; with --displaced the rows that the"
			" writer has",
		.inverse = "the names show the writer's own files",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_coherent,
	},
	{ .id = NULL },
};
