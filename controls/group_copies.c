/*
 * group_copies.c - what copies of files under their names miss or mix
 */
#include "controls/bed_file.h"
#include "controls/bed_load.h"
#include "controls/bed_sides.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"

/* Rows of 50 each, and how many of them main has when more are in the WAL. */
#define COPIES_ROWS 50u
#define COPIES_OLD 40u

static void
S_cp(struct trial *t, const char *from, const char *to)
{
	(void)bed_output(t, BED_ARGV("cp", from, to));
}

/* 40 rows in main, 10 more in the WAL. */
static unsigned
S_partly(struct trial *t, struct bed_writer *w)
{
	unsigned c = bed_bank(t, w, "app.db", "wal", COPIES_OLD);

	(void)bed_sql(t, w, c, "pragma wal_checkpoint(truncate); with n(i) as"
		      " (select 1 union all select i + 1 from n where i < %u)"
		      " insert into acct(who, bal) select 'app.db', 50 from n",
		      COPIES_ROWS - COPIES_OLD);
	return c;
}

static void
S_main_only(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	const char *old = bed_bank_rows(t, "app.db", COPIES_OLD),
		*all = bed_bank_rows(t, "app.db", COPIES_ROWS);
	unsigned c = S_partly(t, w);

	S_cp(t, "app.db", "copy.db");
	bed_naive(t, bed_show_sqlite3(t, "copy.db", BED_BANK_SQL),
		  SYMPTOM_MISSING, old, all);
	bed_ours(t, bed_show_captured(t, "app.db", NULL, BED_BANK_SQL), all);

	(void)bed_sql(t, w, c, "pragma wal_checkpoint(truncate)");
	S_cp(t, "app.db", "copy.db");
	bed_naive_inverse(t, bed_show_sqlite3(t, "copy.db", BED_BANK_SQL),
			  all);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_BANK_SQL), all);
	bed_end(t, w);
}

/*
 * Money moves between the first and the last row, which are in different
 * pages: a copy that has one page of before and one of after has another
 * sum.
 */
static void
S_main_first(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	unsigned c = bed_money(t, w, "app.db");

	(void)bed_sql(t, w, c, "pragma wal_checkpoint(truncate)");
	S_cp(t, "app.db", "copy.db");
	bed_move(t, w, c, 100);
	(void)bed_sql(t, w, c, "pragma wal_checkpoint(truncate);"
		      " update acct set who = 'y' where id = 1");
	S_cp(t, "app.db-wal", "copy.db-wal");
	bed_naive(t, bed_show_sqlite3(t, "copy.db", BED_MONEY_SOUND),
		  SYMPTOM_TORN, "900 in all\nok", BED_MONEY_ROWS);
	bed_ours_under_load(t, "app.db");

	(void)bed_sql(t, w, c, "pragma wal_checkpoint(truncate)");
	bed_move(t, w, c, 100);
	S_cp(t, "app.db", "quiet.db");
	S_cp(t, "app.db-wal", "quiet.db-wal");
	bed_naive_inverse(t, bed_show_sqlite3(t, "quiet.db", BED_MONEY_SQL),
			  BED_MONEY_ROWS);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_MONEY_SQL), BED_MONEY_ROWS);
	bed_end(t, w);
}

static void
S_wal_first(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t),
		*other = bed_writer_start(t);
	unsigned c = bed_bank(t, w, "app.db", "wal", COPIES_OLD);
	const char *all = bed_bank_rows(t, "app.db", COPIES_ROWS);

	S_cp(t, "app.db-wal", "copy.db-wal");
	(void)bed_sql(t, w, c, "with n(i) as (select 1 union all select i + 1"
		      " from n where i < %u) insert into acct(who, bal)"
		      " select 'app.db', 50 from n;"
		      " pragma wal_checkpoint(truncate)",
		      COPIES_ROWS - COPIES_OLD);
	S_cp(t, "app.db", "copy.db");
	bed_naive(t, bed_show_sqlite3(t, "copy.db", BED_BANK_SQL),
		  SYMPTOM_OLD, bed_bank_rows(t, "app.db", COPIES_OLD), all);
	bed_ours(t, bed_show_captured(t, "app.db", NULL, BED_BANK_SQL), all);
	(void)bed_money(t, other, "money.db");
	bed_ours_under_load(t, "money.db");
	bed_end(t, other);

	S_cp(t, "app.db-wal", "quiet.db-wal");
	S_cp(t, "app.db", "quiet.db");
	bed_naive_inverse(t, bed_show_sqlite3(t, "quiet.db", BED_BANK_SQL),
			  all);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_BANK_SQL), all);
	bed_end(t, w);
}

const struct control group_copies[] = {
	{
		.id = "main-only-copy",
		.title = "A copy of main alone misses committed rows",
		.attack = "the last commits are only in the WAL",
		.predecessor = "cp app.db copy.db, then sqlite3 copy.db",
		.symptom = SYMPTOM_MISSING,
		.expected = "the rows that the writer has",
		.inverse = "everything was checkpointed",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_main_only,
	},
	{
		.id = "main-then-wal",
		.title = "Main and WAL copied at two instants, main first",
		.attack = "money moves, with a checkpoint, between the two"
			" copies; for Holdfast without end during each"
			" capture",
		.predecessor = "cp app.db, then cp app.db-wal, then sqlite3",
		.symptom = SYMPTOM_TORN,
		.expected = "every capture has the sum that every commit has",
		.inverse = "the writer is idle",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_main_first,
	},
	{
		.id = "wal-then-main",
		.title = "Main and WAL copied at two instants, the WAL first",
		.attack = "rows are added and checkpointed between the two"
			" copies; for Holdfast commits without end during"
			" each capture",
		.predecessor = "cp app.db-wal, then cp app.db, then sqlite3",
		.symptom = SYMPTOM_OLD,
		.expected = "the rows that the writer has",
		.inverse = "the writer is idle",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_wal_first,
	},
	{ .id = NULL },
};
