/*
 * group_changes.c - changes where a naive check does not look
 */
#include <string.h>

#include "controls/bed_differ.h"
#include "controls/bed_file.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"

#define CHANGES_ROWS 50u

/* What is kept of an instant: by the naive check, and by the product. */
struct note {
	const char *naive, *packet;
};

static struct note
S_note(struct trial *t, const char *naive)
{
	static unsigned n;
	struct note now = { naive, bed_text(t, "note-%u", n++) };
	const struct bed_run *r = bed_capture(t, "app.db", now.packet, NULL);

	if (!bed_yes(r))
		trial_inverse_product(t, false, "%s", bed_told(t, r));
	return now;
}

static struct bed_shown
S_naive(struct note before, struct note after)
{
	bool same = strcmp(before.naive, after.naive) == 0;

	return (struct bed_shown){ same ? BED_SAME : BED_DIFFERENT, NULL };
}

static void
S_attacked(struct trial *t, struct note before, struct note after,
	   const char *difference)
{
	bed_naive(t, S_naive(before, after), SYMPTOM_EQUAL, BED_SAME,
		  BED_DIFFERENT);
	bed_ours(t, bed_show_verified(t, before.packet, after.packet, NULL),
		 difference);
}

static void
S_honest(struct trial *t, struct note before, struct note after,
	 const char *naive, const char *difference)
{
	bed_naive_inverse(t, S_naive(before, after), naive);
	bed_ours_inverse(t, bed_show_verified(t, before.packet, after.packet,
					      NULL), difference);
}

static const char *
S_sqlite3(struct trial *t, const char *db, const char *command)
{
	return bed_output(t, BED_ARGV("sqlite3", "-batch", "-init",
				      "/dev/null", db, command));
}

static struct note
S_note_of_acct(struct trial *t)
{
	return S_note(t, S_sqlite3(t, "app.db", ".dump acct"));
}

static void
S_unrelated(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	unsigned c = bed_bank(t, w, "app.db", "wal", CHANGES_ROWS);
	struct note first, idle, named, unrelated;

	(void)bed_sql(t, w, c, "create table audit(id integer primary key,"
		      " what); insert into audit(what) values('start')");
	first = S_note_of_acct(t);
	(void)bed_sql(t, w, c, "pragma wal_checkpoint(truncate)");
	idle = S_note_of_acct(t);
	S_honest(t, first, idle, BED_SAME, BED_UNCHANGED);
	(void)bed_sql(t, w, c, "update acct set bal = 51 where id = 7");
	named = S_note_of_acct(t);
	S_honest(t, idle, named, BED_DIFFERENT, "acct: changed id=7");

	(void)bed_sql(t, w, c, "insert into audit(what) values('lost')");
	unrelated = S_note_of_acct(t);
	S_attacked(t, named, unrelated, "audit: added id=2");
	bed_end(t, w);
}

/* What a restart is checked by: sound, and as many rows. */
#define CHANGES_CHECK "pragma integrity_check; select count(*) from acct"

/* A look at a stopped database by sqlite3 would checkpoint it. */
static struct note
S_note_stopped(struct trial *t)
{
	bed_copy(t, "app.db", "look.db");
	if (bed_exists("app.db-wal"))
		bed_copy(t, "app.db-wal", "look.db-wal");
	return S_note(t, S_sqlite3(t, "look.db", CHANGES_CHECK));
}

/* The writer starts again, moves everything, and is stopped by a crash. */
static struct note
S_note_restarted(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	unsigned c = bed_open(t, w, "app.db", "wal");
	struct note now;

	(void)bed_sql(t, w, c, "vacuum; pragma wal_checkpoint(truncate)");
	now = S_note(t, S_sqlite3(t, "app.db", CHANGES_CHECK));
	bed_kill(t, w);
	return now;
}

static void
S_stopped(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	struct note stopped;

	(void)bed_bank(t, w, "app.db", "wal", CHANGES_ROWS);
	bed_kill(t, w);
	stopped = S_note_stopped(t);
	S_honest(t, stopped, S_note_restarted(t), BED_SAME, BED_UNCHANGED);

	stopped = S_note_stopped(t);
	(void)bed_sql_file(t, "app.db", "delete from acct where id = 9");
	S_honest(t, stopped, S_note_restarted(t), BED_DIFFERENT,
		 "acct: removed id=9");

	stopped = S_note_stopped(t);
	(void)bed_sql_file(t, "app.db", "update acct set bal = 5000"
			   " where id = 7");
	S_attacked(t, stopped, S_note_restarted(t), "acct: changed id=7");
}

static const char S_policy[] =
	"{\"policy\": \"holdfast-policy/1\", \"tables\": {\"commands\":"
	" {\"added\": {\"count\": 3, \"rows\": [{\"name\": [\"text\","
	" \"pay\"]}, {\"name\": [\"text\", \"ship\"]}, {\"name\": [\"text\","
	" \"bill\"]}]}}}}\n";

/* As a job checks that the three commands are there: by how many there are. */
static const char S_count[] =
	"n() { sqlite3 -batch -init /dev/null \"$1\" 'select count(*) from"
	" commands'; }; b=$(n before.db) && a=$(n \"$0\") || exit; if"
	" [ $((a - b)) = 3 ]; then echo 'three more'; else echo 'not three';"
	" fi";

static struct bed_shown
S_counted(struct trial *t, const char *after)
{
	return bed_show_run(bed_command(t, BED_ARGV("sh", "-c", S_count,
						    after)));
}

/* before.db and what was done to it. */
static const char *
S_commands(struct trial *t, const char *after, const char *change)
{
	bed_copy(t, "before.db", after);
	(void)bed_sql_file(t, after, "insert into commands(name)"
			   " values('pay'), ('ship'), ('bill'); %s", change);
	return after;
}

static void
S_declared(struct trial *t, const char *after, const char *count,
	   const char *verdict)
{
	bed_naive_inverse(t, S_counted(t, after), count);
	bed_ours_inverse(t, bed_show_judged(t, "policy", "before.db", after),
			 verdict);
}

static void
S_miscounted(struct trial *t, const char *after, const char *verdict)
{
	bed_naive(t, S_counted(t, after), SYMPTOM_EQUAL, "three more",
		  "those three");
	bed_ours(t, bed_show_judged(t, "policy", "before.db", after),
		 verdict);
}

static void
S_counts(struct trial *t)
{
	bed_write(t, "policy", S_policy, sizeof(S_policy) - 1);
	(void)bed_sql_file(t, "before.db", "create table commands(id integer"
			   " primary key, name text); insert into"
			   " commands(name) values('open'), ('log')");
	S_declared(t, S_commands(t, "right.db", ""), "three more",
		   BED_AS_DECLARED);
	S_declared(t, S_commands(t, "two.db", "delete from commands"
				 " where name = 'ship'"),
		   "not three", "commands: count a row\n"
		   "commands: rows a row");

	S_miscounted(t, S_commands(t, "replaced.db", "update commands set"
				   " name = 'steal' where id = 2"),
		     "commands: changed id=2");
	S_miscounted(t, S_commands(t, "other.db", "update commands set"
				   " name = 'steal' where name = 'ship'"),
		     "commands: rows a row\ncommands: rows id=4");
}

/* The schema of every kind that has no rows, each in a state of its own. */
static const char S_objects[] =
	"create table t(id integer primary key, v int check(v > 0));"
	" insert into t(v) values(1); create index i on t(v);"
	" create view w as select v from t;"
	" create trigger g after insert on t begin select 1; end;"
	" pragma user_version = 1";

static const struct {
	const char *change, *difference;
} S_schema[] = {
	{ "drop trigger g; create trigger g after insert on t begin"
	  " delete from t; end", "trigger g changed" },
	{ "drop view w; create view w as select 2 as v",
	  "view w changed" },
	{ "drop index i; create index i on t(v) where v < 5",
	  "index i changed" },
	{ "pragma writable_schema = on; update sqlite_master set"
	  " sql = replace(sql, 'v > 0', 'v < 9') where name = 't'",
	  "table t changed" },
	{ "pragma user_version = 2", "user_version differs" },
};

#define CHANGES_SCHEMA (sizeof(S_schema) / sizeof(S_schema[0]))

static struct bed_shown
S_sha3sum(struct trial *t, const char *after)
{
	return bed_differ_output(t, "before.db", after, "-list", ".sha3sum");
}

static void
S_no_rows(struct trial *t)
{
	(void)bed_sql_file(t, "before.db", "%s", S_objects);
	bed_copy(t, "before.db", "same.db");
	(void)bed_sql_file(t, "same.db", "vacuum");
	bed_naive_inverse(t, S_sha3sum(t, "same.db"), BED_SAME);
	bed_ours_inverse(t, bed_show_verified(t, "before.db", "same.db",
					      NULL), BED_UNCHANGED);
	(void)bed_sql_file(t, "same.db", "update t set v = 3");
	bed_naive_inverse(t, S_sha3sum(t, "same.db"), BED_DIFFERENT);
	bed_ours_inverse(t, bed_show_verified(t, "before.db", "same.db",
					      NULL), "t: changed id=1");
	for (size_t i = 0; i < CHANGES_SCHEMA; i++) {
		const char *after = bed_text(t, "after-%zu.db", i);

		bed_copy(t, "before.db", after);
		(void)bed_sql_file(t, after, "%s", S_schema[i].change);
		bed_naive(t, S_sha3sum(t, after), SYMPTOM_EQUAL, BED_SAME,
			  S_schema[i].difference);
		bed_ours(t, bed_show_verified(t, "before.db", after, NULL),
			 S_schema[i].difference);
	}
}

const struct control group_changes[] = {
	{
		.id = "unrelated-table",
		.title = "A row in a table that nobody named",
		.attack = "a row is written to another table inside an"
			" interval in which nothing may be written",
		.predecessor = "sqlite3 app.db '.dump acct' before and after,"
			" compared byte by byte",
		.symptom = SYMPTOM_EQUAL,
		.expected = "`verify --unchanged` fails and names table and"
			" row",
		.inverse = "a checkpoint alone is no change; a row of the"
			" named table is one",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_unrelated,
	},
	{
		.id = "right-count-wrong-rows",
		.title = "As many rows as declared, and not those",
		.attack = "three rows are added as declared, and one is"
			" replaced: an old one, or one of the three",
		.predecessor = "a script that compares count(*) before and"
			" after, as jobs check a migration",
		.symptom = SYMPTOM_EQUAL,
		.expected = "`verify --policy` with those rows fails and names"
			" the replaced one",
		.inverse = "the three rows and nothing else; two of them are"
			" too few",
		.needs = CONTROL_SQLITE3,
		.run = S_counts,
	},
	{
		.id = "changed-while-stopped",
		.title = "A row changes between the stopped copy and the"
			" restart",
		.attack = "somebody updates a row while the writer is stopped",
		.predecessor = "integrity_check and count(*) of the stopped"
			" copy and after the restart, as runbooks have it",
		.symptom = SYMPTOM_EQUAL,
		.expected = "`verify --unchanged` of the stopped packet and"
			" the restarted one fails and names the row",
		.inverse = "the restart replays the WAL, vacuums and"
			" checkpoints, which is no change; a row that is gone"
			" is one",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_stopped,
	},
	{
		.id = "no-row-changed",
		.title = "Only what has no rows changed",
		.attack = "another trigger, view, partial index, CHECK or"
			" user_version; each alone",
		.predecessor = "sqlite3's .sha3sum before and after",
		.symptom = SYMPTOM_EQUAL,
		.expected = "`verify --unchanged` fails and names the object",
		.inverse = "a vacuum is no change, a changed row is one",
		.needs = CONTROL_SQLITE3,
		.run = S_no_rows,
	},
	{ .id = NULL },
};
