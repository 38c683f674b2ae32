/*
 * group_swaps.c - another file at the very open, and all names back
 *
 * The attack is this program's own (attack.h): it stops a command at its
 * open of a name, shows it the substitute for that open alone, and puts the
 * names back before the command can look again.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "controls/attack.h"
#include "controls/bed_file.h"
#include "controls/bed_sides.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"

#define SWAPS_ROWS 50u
#define SWAPS_OLD 40u

/* Who checks that it read what it meant to: by inode, before and after. */
#define SWAPS_CHECKED(open) \
	"a=$(stat -c %d:%i app.db) && " open " &&" \
	" b=$(stat -c %d:%i app.db) && test \"$a\" = \"$b\""
#define SWAPS_SQLITE3(db) "sqlite3 -batch -init /dev/null \"" db "\" \"$0\""

static const char S_open[] = SWAPS_CHECKED(SWAPS_SQLITE3("app.db"));
static const char S_proc[] =
	"exec 3<app.db && " SWAPS_SQLITE3("file:/proc/self/fd/3?mode=ro")
	" && test app.db -ef /proc/self/fd/3";
static const char S_immutable[] =
	SWAPS_CHECKED(SWAPS_SQLITE3("file:app.db?immutable=1"));
static const char S_nolock[] =
	SWAPS_CHECKED(SWAPS_SQLITE3("file:app.db?mode=ro&nolock=1"));

/* app.db and evil.db, in rollback mode; nobody has them open. */
static void
S_two(struct trial *t)
{
	const char *names[] = { "app.db", "evil.db" };

	for (int i = 0; i < 2; i++) {
		struct bed_writer *w = bed_writer_start(t);

		(void)bed_bank(t, w, names[i], "delete", SWAPS_ROWS);
		bed_end(t, w);
	}
}

/* The nth open only, or every one where that is NULL. */
static const struct bed_run *
S_attacked(struct trial *t, const char *swap, const char *at,
	   const char *const *words)
{
	const char *argv[32] = { "--swap", swap, at ? "--at" : "--every" };
	size_t n = 3;

	if (at)
		argv[n++] = at;
	argv[n++] = "--";
	while (*words && n < 31)
		argv[n++] = *words++;
	return bed_attack(t, argv);
}

/*
 * The right rows, or a refusal; that it never opened the name at all
 * (ATTACK_NEVER, whatever it printed counts) is fine as well.
 */
static void
S_ours(struct trial *t, const struct bed_run *r, const char *want)
{
	const char *rows = r->late ? NULL : bed_rows(t, r);
	bool right = rows && strcmp(rows, want) == 0 &&
		(bed_yes(r) || r->status == ATTACK_NEVER);
	bool refused = !rows && !r->late && r->status == 3;

	trial_examined(t, 1);
	trial_product(t, right || refused, "%s%s", right ? "shows " : "",
		      right ? rows : bed_told(t, r));
}

/* Reading app.db where evil.db is shown at each open, or at some. */
static void
S_ours_idle(struct trial *t)
{
	static const char *const at[] = { NULL, "1", "2" };
	const char *want = bed_bank_rows(t, "app.db", SWAPS_ROWS);

	for (int i = 0; i < 3; i++)
		S_ours(t, S_attacked(t, "app.db=evil.db", at[i], BED_ARGV(
			t->product, "query", "--json", "app.db",
			BED_BANK_SQL)), want);
}

/* The packet is taken under the attack, and read without it. */
static void
S_ours_live(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	unsigned c = bed_open(t, w, "app.db", "delete");
	const struct bed_run *r;

	(void)bed_progress(t, w, c);
	r = S_attacked(t, "app.db=evil.db", NULL, BED_ARGV(
		t->product, "capture", "-o", "packet", "app.db"));
	trial_examined(t, 1);
	if (bed_exists("packet"))
		bed_ours(t, bed_show_file(t, "packet", BED_BANK_SQL),
			 bed_sql(t, w, c, BED_BANK_SQL));
	else
		trial_product(t, !r->late && r->status == 3, "%s",
			      bed_told(t, r));
	bed_end(t, w);
}

static void
S_naive(struct trial *t, const char *script, const char *at)
{
	const char *const words[] = { "sh", "-c", script, BED_BANK_SQL, NULL };
	const char *app = bed_bank_rows(t, "app.db", SWAPS_ROWS),
		*evil = bed_bank_rows(t, "evil.db", SWAPS_ROWS);

	bed_naive_inverse(t, bed_show_run(bed_command(t, words)), app);
	bed_naive(t, bed_show_run(S_attacked(t, "app.db=evil.db", at, words)),
		  SYMPTOM_FOREIGN, evil, app);
}

static void
S_ours_without(struct trial *t)
{
	bed_ours_inverse(t, bed_show_file(t, "app.db", BED_BANK_SQL),
			 bed_bank_rows(t, "app.db", SWAPS_ROWS));
}

static void
S_main(struct trial *t)
{
	S_two(t);
	S_ours_without(t);
	S_naive(t, S_open, NULL);
	S_ours_idle(t);
	S_ours_live(t);
}

/* The first open is the shell's, which holds the right file. */
static void
S_proc_fd(struct trial *t)
{
	S_two(t);
	S_ours_without(t);
	S_naive(t, S_proc, "2");
	S_ours_idle(t);
	S_ours_live(t);
}

static void
S_flags(struct trial *t)
{
	S_two(t);
	S_ours_without(t);
	S_naive(t, S_immutable, NULL);
	S_naive(t, S_nolock, NULL);
	S_ours_idle(t);
	S_ours_live(t);
}

/* As a reader has it that keeps the file from being built anew. */
static int
S_hold_shm(struct trial *t, const char *path)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET,
			      .l_start = 128, .l_len = 1 };
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_SETLK, &lock))
		trial_die(t, "lock %s: %s", path, strerror(errno));
	return fd;
}

static void
S_shm(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	unsigned c = bed_bank(t, w, "app.db", "wal", SWAPS_OLD);
	const char *all = bed_bank_rows(t, "app.db", SWAPS_ROWS);

	(void)bed_sql(t, w, c, "pragma wal_checkpoint");
	bed_copy(t, "app.db-shm", "old-shm");
	(void)bed_sql(t, w, c, "with n(i) as (select 1 union all select i + 1"
		      " from n where i < %u) insert into acct(who, bal)"
		      " select 'app.db', 50 from n", SWAPS_ROWS - SWAPS_OLD);
	bed_naive_inverse(t, bed_show_sqlite3(t, "app.db", BED_BANK_SQL),
			  all);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_BANK_SQL), all);

	bed_exchange(t, "app.db-shm", "old-shm");
	bed_ours_refuses_capture(t, "app.db", 3, "app.db-shm");
	bed_ours(t, bed_show_captured(t, "app.db", "--displaced",
				      BED_BANK_SQL), all);
	(void)S_hold_shm(t, "app.db-shm");
	bed_ours_refuses_capture(t, "app.db", 3, "app.db-shm");
	bed_naive(t, bed_show_sqlite3(t, "app.db", BED_BANK_SQL),
		  SYMPTOM_OLD, bed_bank_rows(t, "app.db", SWAPS_OLD), all);
	bed_kill(t, w);
}

static const char S_absent[] = "test ! -e app.db-wal && "
	SWAPS_SQLITE3("app.db") " && test ! -e app.db-wal";

static void
S_appears(struct trial *t)
{
	const char *const naive[] = { "sh", "-c", S_absent, BED_BANK_SQL,
				      NULL };
	struct bed_writer *w = bed_writer_start(t),
		*forger = bed_writer_start(t);
	const char *app = bed_bank_rows(t, "app.db", SWAPS_ROWS);
	unsigned c;

	(void)bed_bank(t, w, "app.db", "wal", SWAPS_ROWS);
	bed_end(t, w);
	bed_copy(t, "app.db", "forged.db");
	c = bed_open(t, forger, "forged.db", "wal");
	(void)bed_sql(t, forger, c, "update acct set who = 'forger'");
	bed_kill(t, forger);

	bed_naive_inverse(t, bed_show_run(bed_command(t, naive)), app);
	bed_ours_inverse(t, bed_show_file(t, "app.db", BED_BANK_SQL), app);
	S_ours(t, S_attacked(t, "app.db-wal=forged.db-wal", NULL, BED_ARGV(
		t->product, "query", "--json", "app.db", BED_BANK_SQL)), app);
	bed_naive(t, bed_show_run(S_attacked(
		t, "app.db-wal=forged.db-wal", NULL, naive)), SYMPTOM_FOREIGN,
		bed_bank_rows(t, "forger", SWAPS_ROWS), app);
}

#define SWAPS_NEEDS (CONTROL_PAUSE | CONTROL_NOTIFY | CONTROL_SQLITE3)
#define SWAPS_ATTACK "evil.db is under the name app.db at the very open, and" \
	" app.db is back before anything looks again"
#define SWAPS_EXPECTED "the rows of app.db, or a refusal; of a live writer" \
	" as well"
#define SWAPS_INVERSE "the names stay"

const struct control group_swaps[] = {
	{
		.id = "main-swapped-at-open",
		.title = "Main is swapped at the native open",
		.attack = SWAPS_ATTACK,
		.predecessor = "a script that compares device and inode of"
			" app.db before and after sqlite3 app.db",
		.symptom = SYMPTOM_FOREIGN,
		.expected = SWAPS_EXPECTED,
		.inverse = SWAPS_INVERSE,
		.needs = SWAPS_NEEDS,
		.run = S_main,
	},
	{
		.id = "proc-fd-uri-swapped-at-open",
		.title = "A descriptor that is opened again by its link",
		.attack = SWAPS_ATTACK,
		.predecessor = "a script that holds app.db open, gives"
			" sqlite3 file:/proc/self/fd/3?mode=ro, and compares"
			" both afterwards",
		.symptom = SYMPTOM_FOREIGN,
		.expected = SWAPS_EXPECTED,
		.inverse = SWAPS_INVERSE,
		.needs = SWAPS_NEEDS,
		.run = S_proc_fd,
	},
	{
		.id = "immutable-nolock-swapped-at-open",
		.title = "immutable and nolock do not help",
		.attack = SWAPS_ATTACK,
		.predecessor = "the same script with file:app.db?immutable=1,"
			" and with file:app.db?mode=ro&nolock=1",
		.symptom = SYMPTOM_FOREIGN,
		.expected = SWAPS_EXPECTED,
		.inverse = SWAPS_INVERSE,
		.needs = SWAPS_NEEDS,
		.run = S_flags,
	},
	{
		.id = "substitute-shm",
		.title = "A substitute SHM hides the last commits",
		.attack = "an SHM kept from before the last commits takes the"
			" name, and a lock keeps it from being built anew",
		.predecessor = "sqlite3 app.db beside the writer",
		.symptom = SYMPTOM_OLD,
		.expected = "refused; with --displaced the rows that the"
			" writer has",
		.inverse = "the SHM is the writer's own",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_shm,
	},
	{
		.id = "sidecar-appears",
		.title = "A WAL appears after it was seen to be absent",
		.attack = "the WAL of an altered copy is there at the very"
			" open of app.db-wal, and at no other time",
		.predecessor = "a script that looks that there is no"
			" app.db-wal before and after sqlite3 app.db",
		.symptom = SYMPTOM_FOREIGN,
		.expected = "the rows of app.db, or a refusal",
		.inverse = "there is none",
		.needs = CONTROL_NOTIFY | CONTROL_SQLITE3,
		.run = S_appears,
	},
	{ .id = NULL },
};
