/*
 * group_journals.c - rollback journals that are left out, or point away
 */
#include <string.h>

#include "controls/bed_file.h"
#include "controls/bed_journal.h"
#include "controls/bed_sides.h"
#include "controls/registry.h"

#define JOURNALS_ROWS 400u

/* Before the transaction, and after it: nothing, or all of it. */
#define JOURNALS_SQL "select sum(bal = 50) || ' old, ' || sum(bal = 7) ||" \
	" ' new' from acct"
#define JOURNALS_BEFORE "400 old, 0 new"
#define JOURNALS_AFTER "0 old, 400 new"
/* Which pages were spilled is SQLite's matter, that some were is ours. */
#define JOURNALS_MIXED "some new, integrity ok"
#define JOURNALS_NAIVE "select iif(sum(bal = 7) > 0, 'some', 'none') ||" \
	" ' new, integrity ' || (select * from pragma_integrity_check)" \
	" from acct"
#define JOURNALS_CLEAN "none new, integrity ok"

static void
S_left_out(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	unsigned c = bed_spilled(t, w, "app.db", JOURNALS_ROWS);

	(void)bed_output(t, BED_ARGV("cp", "app.db", "copy.db"));
	bed_naive(t, bed_show_sqlite3(t, "copy.db", JOURNALS_NAIVE),
		  SYMPTOM_UNCOMMITTED, JOURNALS_MIXED, JOURNALS_CLEAN);
	bed_ours(t, bed_show_captured(t, "app.db", NULL, JOURNALS_SQL),
		 JOURNALS_BEFORE);

	(void)bed_sql(t, w, c, "commit");
	(void)bed_output(t, BED_ARGV("cp", "app.db", "copy.db"));
	bed_naive_inverse(t, bed_show_sqlite3(t, "copy.db", JOURNALS_SQL),
			  JOURNALS_AFTER);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      JOURNALS_SQL), JOURNALS_AFTER);
	bed_end(t, w);
}

/* app.db and app.db-journal as a crash in the transaction leaves them. */
static void
S_crashed(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);

	(void)bed_spilled(t, w, "app.db", JOURNALS_ROWS);
	bed_kill(t, w);
}

static void
S_copy_with_journal(struct trial *t, const char *to)
{
	(void)bed_output(t, BED_ARGV("cp", "app.db", to));
	(void)bed_output(t, BED_ARGV("cp", "app.db-journal",
				     bed_text(t, "%s-journal", to)));
}

static void
S_super(struct trial *t)
{
	const char *super = bed_text(t, "%s/app.db-mj0123456789",
				     bed_folder(t)), *names;

	S_crashed(t);
	S_copy_with_journal(t, "plain.db");
	bed_ours_inverse(t, bed_show_file(t, "app.db", JOURNALS_SQL),
			 JOURNALS_BEFORE);
	bed_naive_inverse(t, bed_show_sqlite3(t, "plain.db", JOURNALS_SQL),
			  JOURNALS_BEFORE);

	bed_name_super(t, "app.db", 4096, super);
	names = bed_text(t, "%s/app.db-journal", bed_folder(t));
	bed_write(t, super, names, strlen(names) + 1);
	S_copy_with_journal(t, "backup.db");
	bed_ours_refuses_capture(t, "app.db", 3, super);
	bed_ours_refuses(t, bed_product(t, BED_ARGV(
		"query", "app.db", JOURNALS_SQL)), 3, super, NULL);
	bed_unlink(t, super);
	bed_ours_refuses(t, bed_product(t, BED_ARGV(
		"query", "backup.db", JOURNALS_SQL)), 3, super, NULL);
	bed_naive(t, bed_show_sqlite3(t, "backup.db", JOURNALS_NAIVE),
		  SYMPTOM_UNCOMMITTED, JOURNALS_MIXED, JOURNALS_CLEAN);
}

/* What of the victim is there after somebody looked. */
static struct bed_shown
S_victim(struct trial *t, struct bed_shown s, const char *victim)
{
	if (s.rows)
		s.rows = bed_text(t, "%s, the other file is %s", s.rows,
				  bed_exists(victim) ? "there" : "gone");
	return s;
}

static void
S_names_victim(struct trial *t)
{
	const char *there = JOURNALS_BEFORE ", the other file is there",
		*gone = JOURNALS_BEFORE ", the other file is gone";
	char *victim;

	bed_mkdir(t, "precious");
	victim = bed_text(t, "%s/precious/file", bed_folder(t));
	bed_write(t, victim, "wages", 5);
	S_crashed(t);
	S_copy_with_journal(t, "plain.db");
	bed_ours_inverse(t, S_victim(t, bed_show_file(
		t, "app.db", JOURNALS_SQL), victim), there);
	bed_naive_inverse(t, S_victim(t, bed_show_sqlite3(
		t, "plain.db", JOURNALS_SQL), victim), there);

	bed_name_super(t, "app.db", 4096, victim);
	bed_ours_refuses_capture(t, "app.db", 3, victim);
	bed_ours_refuses(t, bed_product(t, BED_ARGV(
		"query", "app.db", JOURNALS_SQL)), 3, victim, NULL);
	trial_examined(t, 1);
	trial_product(t, bed_exists(victim), "refused, and the file that the"
		      " journal names is %s",
		      bed_exists(victim) ? "there" : "gone");
	if (!bed_exists(victim))
		bed_write(t, victim, "wages", 5);
	bed_naive(t, S_victim(t, bed_show_sqlite3(
		t, "app.db", JOURNALS_SQL), victim), SYMPTOM_VICTIM, gone,
		there);
}

const struct control group_journals[] = {
	{
		.id = "journal-left-out",
		.title = "A hot rollback journal is left out",
		.attack = "a large transaction is open, and its pages are"
			" partly in main",
		.predecessor = "cp app.db copy.db, then sqlite3 copy.db with"
			" integrity_check, which says ok",
		.symptom = SYMPTOM_UNCOMMITTED,
		.expected = "the rows from before the transaction",
		.inverse = "the transaction is committed",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_left_out,
	},
	{
		.id = "super-journal",
		.title = "A journal that belongs to a super-journal",
		.attack = "a crash in a commit over several databases; the"
			" copy of main and journal is opened where there is no"
			" super-journal",
		.predecessor = "cp of app.db and app.db-journal, then sqlite3"
			" with integrity_check, which says ok",
		.symptom = SYMPTOM_UNCOMMITTED,
		.expected = "refused, and the super-journal is named",
		.inverse = "a crash in a commit of one database",
		.needs = CONTROL_SQLITE3,
		.run = S_super,
	},
	{
		.id = "journal-names-a-victim",
		.title = "A journal that makes its reader delete a file",
		.attack = "the journal names a file somewhere else as its"
			" super-journal",
		.predecessor = "sqlite3 app.db 'select ...'",
		.symptom = SYMPTOM_VICTIM,
		.expected = "refused, the file is named, and stays",
		.inverse = "the journal names no file",
		.needs = CONTROL_SQLITE3,
		.run = S_names_victim,
	},
	{ .id = NULL },
};
