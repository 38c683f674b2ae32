/*
 * group_copies.c - what a copy of files under their names misses
 */
#include <string.h>

#include "controls/bed.h"
#include "controls/bed_file.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"
#include "controls/trial.h"

#define COPIES_ROWS 40u

/* cp main; open the copy. */
static void
S_main_only(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	unsigned c = bed_bank(t, w, "app.db", "wal", COPIES_ROWS);
	const char *want = bed_sql(t, w, c, BED_BANK_SQL), *got;
	const struct bed_run *why;

	(void)bed_sql(t, w, c, "pragma wal_checkpoint(full); delete from acct"
		      " where id > 30");
	want = bed_sql(t, w, c, BED_BANK_SQL);
	(void)bed_output(t, BED_ARGV("cp", "app.db", "copy.db"));
	got = bed_sqlite3_rows(t, "copy.db", BED_BANK_SQL, &why);
	trial_predecessor(t, got && !strcmp(got, bed_bank_rows(
				t, "app.db", COPIES_ROWS)) ?
			  SYMPTOM_MISSING : NULL,
			  "%s where the writer has %s",
			  got ? got : bed_told(t, why), want);
	why = bed_capture(t, "app.db", "p", NULL);
	got = bed_yes(why) ? bed_product_rows(t, "p", BED_BANK_SQL, &why)
			   : NULL;
	trial_product(t, got && !strcmp(got, want), "%s",
		      got ? got : bed_told(t, why));
	(void)bed_progress(t, w, c);
	trial_examined(t, 2);

	(void)bed_sql(t, w, c, "pragma wal_checkpoint(truncate)");
	want = bed_sql(t, w, c, BED_BANK_SQL);
	(void)bed_output(t, BED_ARGV("cp", "app.db", "copy.db"));
	got = bed_sqlite3_rows(t, "copy.db", BED_BANK_SQL, &why);
	trial_inverse_predecessor(t, got && !strcmp(got, want), "%s",
				  got ? got : bed_told(t, why));
	why = bed_capture(t, "app.db", "p2", NULL);
	got = bed_yes(why) ? bed_product_rows(t, "p2", BED_BANK_SQL, &why)
			   : NULL;
	trial_inverse_product(t, got && !strcmp(got, want), "%s",
			      got ? got : bed_told(t, why));
	trial_examined(t, 2);
	bed_end(t, w);
}

const struct control group_copies[] = {
	{
		.id = "main-only-copy",
		.title = "A copy of main alone misses committed rows",
		.attack = "The last commits are only in the WAL",
		.predecessor = "cp app.db copy.db, then sqlite3 copy.db",
		.symptom = SYMPTOM_MISSING,
		.expected = "The rows that the writer sees",
		.inverse = "Everything was checkpointed",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_main_only,
	},
	{ .id = NULL },
};
