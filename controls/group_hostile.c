/*
 * group_hostile.c - database files that use up whoever reads them
 */
#include <signal.h>

#include "controls/bed_sides.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"

/* What stock sqlite3 and the product may use. */
#define HOSTILE_SECONDS "1"
#define HOSTILE_STOCK_KIB "262144"
#define HOSTILE_TIME "--time-limit", HOSTILE_SECONDS
#define HOSTILE_MEMORY "--memory-limit", "64"

#define HOSTILE_CHECK "pragma integrity_check"
#define HOSTILE_QUERY "select * from acct"

/* Stock sqlite3 under a limit of ulimit: "-t 1". */
static const struct bed_run *
S_stock(struct trial *t, const char *limit, const char *db, const char *sql)
{
	const char *script = bed_text(
		t, "ulimit -S -c 0 && ulimit -S %s && exec sqlite3 -batch"
		" -init /dev/null \"$0\" \"$1\"", limit);

	return bed_command(t, BED_ARGV("sh", "-c", script, db, sql));
}

/* A table whose one row was written while its CHECK was not looked at. */
static void
S_checked(struct trial *t, const char *db, const char *check)
{
	(void)bed_sql_file(t, db, "pragma ignore_check_constraints = on;"
			   " create table acct(id integer primary key, bal,"
			   " check(%s)); insert into acct values(1, 50)",
			   check);
}

/*
 * A search for half of it in eight million zeros: one function call, which
 * no progress handler interrupts.
 */
#define HOSTILE_ENDLESS_CHECK "instr(zeroblob(8000000)," \
	" cast(zeroblob(4000000) || x'01' as blob)) = 0"
#define HOSTILE_ENDLESS_VIEW "with recursive n(i) as (select 1 union all" \
	" select i + 1 from n) select count(*) from n"

static const struct bed_run *
S_recover(struct trial *t, const char *limit, const char *value,
	  const char *db)
{
	return bed_product(t, BED_ARGV("recover", limit, value, db));
}

static const struct bed_run *
S_query(struct trial *t, const char *db)
{
	return bed_product(t, BED_ARGV("query", HOSTILE_TIME, db,
				       HOSTILE_QUERY));
}

static void
S_used_up(struct trial *t, const char *db, const char *sql)
{
	const struct bed_run *r = S_stock(t, "-t " HOSTILE_SECONDS, db, sql);
	bool hangs = !r->late && r->status == 128 + SIGXCPU;

	trial_examined(t, 1);
	trial_predecessor(t, hangs ? SYMPTOM_HANGS : NULL, "%s",
			  hangs ? "still running after " HOSTILE_SECONDS " s"
			  " of processor time" : bed_told(t, r));
}

static void
S_right(struct trial *t, const char *limit, const char *db, const char *sql,
	const char *rows, const struct bed_run *ours)
{
	bed_naive_inverse(t, bed_show_run(S_stock(t, limit, db, sql)), rows);
	trial_examined(t, 1);
	trial_inverse_product(t, bed_yes(ours), "%s", bed_told(t, ours));
}

static void
S_endless(struct trial *t)
{
	S_checked(t, "check.db", HOSTILE_ENDLESS_CHECK);
	S_used_up(t, "check.db", HOSTILE_CHECK);
	bed_ours_refuses(t, S_recover(t, HOSTILE_TIME, "check.db"), 5,
			 "--time-limit", NULL);
	(void)bed_sql_file(t, "view.db", "create view acct as "
			   HOSTILE_ENDLESS_VIEW);
	S_used_up(t, "view.db", HOSTILE_QUERY);
	bed_ours_refuses(t, S_query(t, "view.db"), 5, "--time-limit", NULL);

	S_checked(t, "quick.db", "instr(zeroblob(8000), x'01') = 0");
	S_right(t, "-t " HOSTILE_SECONDS, "quick.db", HOSTILE_CHECK, "ok",
		S_recover(t, HOSTILE_TIME, "quick.db"));
	(void)bed_sql_file(t, "ends.db", "create view acct as with recursive"
			   " n(i) as (select 1 union all select i + 1 from n"
			   " where i < 9) select count(*) from n");
	S_right(t, "-t " HOSTILE_SECONDS, "ends.db", HOSTILE_QUERY, "9",
		S_query(t, "ends.db"));
}

static void
S_memory(struct trial *t)
{
	static const char limit[] = "-v " HOSTILE_STOCK_KIB;
	const struct bed_run *r;
	bool eaten;

	S_checked(t, "large.db", "length(hex(zeroblob(100000000))) > 0");
	r = S_stock(t, limit, "large.db", HOSTILE_CHECK);
	eaten = !r->late && r->status != 0 && bed_says(r, "out of memory");
	trial_examined(t, 1);
	trial_predecessor(t, eaten ? SYMPTOM_MEMORY : NULL, "%s",
			  eaten ? "memory over " HOSTILE_STOCK_KIB " KiB"
				: bed_told(t, r));
	bed_ours_refuses(t, S_recover(t, HOSTILE_MEMORY, "large.db"), 5,
			 "--memory-limit", NULL);

	S_checked(t, "small.db", "length(hex(zeroblob(400000))) > 0");
	S_right(t, limit, "small.db", HOSTILE_CHECK, "ok",
		S_recover(t, HOSTILE_MEMORY, "small.db"));
}

const struct control group_hostile[] = {
	{
		.id = "endless-file",
		.title = "A file whose check or view does not end",
		.attack = "a CHECK that searches for minutes inside one"
			" function, and a view that counts for ever",
		.predecessor = "sqlite3 with integrity_check, or a query of"
			" the view; its processor time is limited and used"
			" up",
		.symptom = SYMPTOM_HANGS,
		.expected = "exit 5 from recover and query, and the limit is"
			" named",
		.inverse = "a check and a view that end, under the same"
			" limits",
		.needs = CONTROL_SQLITE3,
		.run = S_endless,
	},
	{
		.id = "memory-eating-file",
		.title = "A file that eats memory when it is checked",
		.attack = "a CHECK that makes a text of 200 MB out of nothing",
		.predecessor = "sqlite3 with integrity_check; its address"
			" space is limited to " HOSTILE_STOCK_KIB " KiB",
		.symptom = SYMPTOM_MEMORY,
		.expected = "exit 5 from recover, and the limit is named",
		.inverse = "a text that fits, under the same limits",
		.needs = CONTROL_SQLITE3,
		.run = S_memory,
	},
	{ .id = NULL },
};
