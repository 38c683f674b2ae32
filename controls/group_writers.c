/*
 * group_writers.c - writers that do not stand still, or are another's
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controls/bed_file.h"
#include "controls/bed_load.h"
#include "controls/bed_sides.h"
#include "controls/bed_watch.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"

#define WRITERS_ROWS 50u
#define WRITERS_OTHER 30u
#define WRITERS_COPIES 4

/* The steps of a script that stops a program to copy its files. */
static void
S_kill(struct trial *t, const char *signal, pid_t pid)
{
	(void)bed_output(t, BED_ARGV("sh", "-c", "kill -$0 $1", signal,
				     bed_text(t, "%d", pid)));
}

static void
S_cp(struct trial *t, const char *from, const char *to)
{
	(void)bed_output(t, BED_ARGV("cp", from, to));
}

/* Copies with the writer stopped; what is between the two may be nothing. */
static struct bed_shown
S_stopped_copy(struct trial *t, pid_t stopped,
	       void (*between)(struct trial *t, pid_t stopped,
			       struct bed_writer *w, unsigned c),
	       struct bed_writer *w, unsigned c)
{
	S_kill(t, "STOP", stopped);
	S_cp(t, "app.db", "copy.db");
	if (between)
		between(t, stopped, w, c);
	S_cp(t, "app.db-wal", "copy.db-wal");
	S_kill(t, "CONT", stopped);
	return bed_show_sqlite3(t, "copy.db", BED_MONEY_SOUND);
}

/* Money moves into main, and the WAL holds something else. */
static void
S_moves(struct trial *t, struct bed_writer *w, unsigned c)
{
	bed_move(t, w, c, 100);
	(void)bed_sql(t, w, c, "pragma wal_checkpoint(truncate);"
		      " update acct set who = 'y' where id = 1");
}

#define WRITERS_TORN "900 in all\nok"
#define WRITERS_SOUND BED_MONEY_ROWS "\nok"

static void
S_somebody_continues(struct trial *t, pid_t stopped, struct bed_writer *w,
		     unsigned c)
{
	if (kill(stopped, SIGCONT))
		trial_die(t, "kill: %s", strerror(errno));
	S_moves(t, w, c);
}

/* A process that sends SIGCONT without end, and lets others run too. */
static pid_t
S_continuer(struct trial *t, pid_t pid)
{
	const struct timespec moment = { .tv_nsec = 50000 };
	pid_t control = getpid(), child = fork();

	if (child < 0)
		trial_die(t, "fork: %s", strerror(errno));
	if (child > 0)
		return child;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == control && kill(pid, SIGCONT) == 0)
		(void)ppoll(NULL, 0, &moment, NULL);
	_exit(1);
}

static void
S_sigcont(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	unsigned c = bed_money(t, w, "app.db");
	struct bed_load load;
	pid_t continuer;

	(void)bed_sql(t, w, c, "pragma wal_checkpoint(truncate)");
	bed_naive(t, S_stopped_copy(t, w->pid, S_somebody_continues, w, c),
		  SYMPTOM_TORN, WRITERS_TORN, WRITERS_SOUND);

	load = bed_load_start(t, "app.db");
	continuer = S_continuer(t, load.pid);
	bed_ours_loaded(t, &load, "app.db");
	(void)kill(continuer, SIGKILL);
	(void)waitpid(continuer, NULL, 0);

	for (int i = 0; i < WRITERS_COPIES; i++) {
		bed_load_wait(t, &load);
		bed_naive_inverse(t, S_stopped_copy(t, load.pid, NULL, w, c),
				  WRITERS_SOUND);
	}
	bed_ours_inverse(t, bed_show_captured(t, "app.db", NULL,
					      BED_MONEY_SQL), BED_MONEY_ROWS);
	bed_load_end(t, &load);
	bed_end(t, w);
}

static void
S_other_moves(struct trial *t, pid_t stopped, struct bed_writer *w,
	      unsigned c)
{
	(void)stopped;
	S_moves(t, w, c);
}

static void
S_second(struct trial *t)
{
	struct bed_writer *first = bed_writer_start(t),
		*second = bed_writer_start(t);
	unsigned c = bed_money(t, first, "app.db"),
		d = bed_open(t, second, "app.db", "wal");
	const char *pid = bed_text(t, "--pid=%d", first->pid);
	struct bed_load load;

	(void)bed_sql(t, first, c, "pragma wal_checkpoint(truncate)");
	bed_naive(t, S_stopped_copy(t, first->pid, S_other_moves, second, d),
		  SYMPTOM_TORN, WRITERS_TORN, WRITERS_SOUND);

	bed_ours_refuses(t, bed_capture(t, "app.db", "none", pid), 3,
			 bed_text(t, "process %d has the database open for"
				  " writing as well", second->pid), "none");
	bed_end(t, second);
	load = bed_load_start(t, "app.db");
	bed_ours_loaded(t, &load, "app.db");
	bed_ours_refuses(t, bed_capture(t, "app.db", "none", pid), 3,
			 bed_text(t, "process %d has the database open for"
				  " writing as well", load.pid), "none");
	bed_load_end(t, &load);

	(void)bed_sql(t, first, c, "pragma wal_checkpoint(truncate)");
	bed_move(t, first, c, 100);
	bed_naive_inverse(t, S_stopped_copy(t, first->pid, NULL, first, c),
			  WRITERS_SOUND);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", pid,
					      BED_MONEY_SQL), BED_MONEY_ROWS);
	bed_end(t, first);
}

/* /proc/PID/fd/N of the file, as one reads it from ls -l /proc/PID/fd. */
static const char *
S_descriptor(struct trial *t, pid_t pid, const char *file)
{
	const char *folder = bed_text(t, "/proc/%d/fd", pid),
		*want = bed_text(t, "%s/%s", bed_folder(t), file);
	DIR *d = opendir(folder);
	char target[PATH_MAX];
	struct dirent *e;

	while (d && (e = readdir(d))) {
		const char *path = bed_text(t, "%s/%s", folder, e->d_name);
		ssize_t n = readlink(path, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		if (strcmp(target, want))
			continue;
		(void)closedir(d);
		return path;
	}
	trial_die(t, "process %d does not have %s", pid, file);
}

static struct bed_shown
S_copied(struct trial *t, const char *descriptor)
{
	S_cp(t, descriptor, "copy.db");
	return bed_show_sqlite3(t, "copy.db", BED_BANK_SQL);
}

struct swap {
	struct bed_writer *w;
	const char *file;	/* of the process that gets its number */
};

/* The writer ends, and another process gets its number. */
static void
S_swap(struct trial *t, void *arg)
{
	struct swap *s = arg;
	pid_t pid = s->w->pid;

	bed_kill(t, s->w);
	s->w = bed_writer_start_as(t, pid);
	(void)bed_bank(t, s->w, s->file, "delete", WRITERS_OTHER);
}

/*
 * The number changes its owner when the capture has found the writer and is
 * about to stop it. Either it sees that and refuses, or it takes the files
 * that nobody has open any more.
 */
static void
S_swap_within(struct trial *t, const char *all)
{
	struct swap s = { bed_writer_start(t), "third.db" };
	struct bed_watch w = { .call = SYS_ptrace, .nth = 1,
			       .before = S_swap, .arg = &s };
	const struct bed_run *r;
	const char *rows = NULL, *how;

	(void)bed_open(t, s.w, "app.db", "delete");
	(void)bed_sql(t, s.w, 0, BED_BANK_SQL);
	r = bed_watch(t, BED_ARGV(t->product, "capture", "-o", "within",
				  "app.db"), &w);
	if (!w.met)
		trial_die(t, "the capture stopped nobody: %s",
			  bed_told(t, r));
	if (bed_yes(r))
		rows = bed_product_rows(t, "within", BED_BANK_SQL, NULL);
	trial_examined(t, 1);
	trial_product(t, rows ? strcmp(rows, all) == 0 : r->status == 3,
		      "within a capture: %s", rows ? rows : bed_told(t, r));
	trial_examined(t, 1);
	trial_product(t, !bed_stands(t, s.w->pid, &how), "the new process"
		      " has %s", how);
	(void)bed_progress(t, s.w, 0);
	bed_end(t, s.w);
}

static void
S_reused(struct trial *t)
{
	struct swap s = { bed_writer_start(t), "other.db" };
	const char *all = bed_bank_rows(t, "app.db", WRITERS_ROWS),
		*pid = bed_text(t, "--pid=%d", s.w->pid), *descriptor;

	(void)bed_bank(t, s.w, "app.db", "delete", WRITERS_ROWS);
	descriptor = S_descriptor(t, s.w->pid, "app.db");
	bed_naive_inverse(t, S_copied(t, descriptor), all);
	bed_ours_inverse(t, bed_show_captured(t, "app.db", pid,
					      BED_BANK_SQL), all);

	S_swap(t, &s);
	if (strcmp(descriptor, S_descriptor(t, s.w->pid, "other.db")))
		trial_die(t, "the descriptor has another number");
	bed_naive(t, S_copied(t, descriptor), SYMPTOM_FOREIGN,
		  bed_bank_rows(t, "other.db", WRITERS_OTHER), all);
	bed_ours_refuses(t, bed_capture(t, "app.db", "none", pid), 3,
			 bed_text(t, "process %d does not have", s.w->pid),
			 "none");
	(void)bed_progress(t, s.w, 0);
	bed_end(t, s.w);
	S_swap_within(t, all);
}

const struct control group_writers[] = {
	{
		.id = "somebodys-sigcont",
		.title = "A stopped writer is continued by somebody",
		.attack = "SIGCONT between the two copies, and the writer"
			" commits; for Holdfast SIGCONT and commits without"
			" end",
		.predecessor = "kill -STOP, cp, cp, kill -CONT, as backup"
			" scripts do, then sqlite3",
		.symptom = SYMPTOM_TORN,
		.expected = "every capture has the sum that every commit has",
		.inverse = "nobody sends SIGCONT; the writer commits without"
			" end",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_sigcont,
	},
	{
		.id = "second-writer",
		.title = "A second writer, which nobody stopped",
		.attack = "another process commits between the two copies;"
			" for Holdfast without end",
		.predecessor = "kill -STOP of the one pid that is known, cp,"
			" cp, kill -CONT, as scripts with a pidfile do",
		.symptom = SYMPTOM_TORN,
		.expected = "all writers are stopped and the sum is right;"
			" with --pid of one, refused with the pid of the"
			" other",
		.inverse = "the second writer has ended",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_second,
	},
	{
		.id = "reused-pid",
		.title = "A pid that is another process by now",
		.attack = "the writer ends and another process, with another"
			" database, gets its number; before a capture and"
			" within one",
		.predecessor = "cp /proc/PID/fd/N of a PID and N looked up"
			" before, as one rescues files, then sqlite3",
		.symptom = SYMPTOM_FOREIGN,
		.expected = "refused by --pid; within a capture refused, or"
			" the rows of the database; the new process runs",
		.inverse = "the writer still has its number",
		.needs = CONTROL_ROOT | CONTROL_PAUSE | CONTROL_NOTIFY |
			CONTROL_SQLITE3,
		.run = S_reused,
	},
	{ .id = NULL },
};
