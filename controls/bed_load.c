/*
 * bed_load.c - money that moves without end while the product looks
 */
#include "controls/bed_load.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "controls/bed_sides.h"

#define LOAD_CAPTURES 8
#define LOAD_SECONDS 20

unsigned
bed_money(struct trial *t, struct bed_writer *w, const char *path)
{
	unsigned c = bed_bank(t, w, path, "wal", 200);

	(void)bed_sql(t, w, c, "update acct set bal = 1000 * (id = 1), who ="
		      " printf('%%.100c', 'x')");
	return c;
}

#define LOAD_MOVE(amount) \
	"begin immediate; update acct set bal = bal - " amount \
	" where id = 1; update acct set bal = bal + " amount \
	" where id = 200; commit"

void
bed_move(struct trial *t, struct bed_writer *w, unsigned connection,
	 int amount)
{
	(void)bed_sql(t, w, connection, LOAD_MOVE("%d"), amount, amount);
}

static int
S_busy(void *arg, int n)
{
	(void)arg;
	(void)n;
	(void)sched_yield();
	return 1;
}

/* In the loader's process, until it is killed. */
_Noreturn static void
S_load(const char *path, _Atomic unsigned long *commits)
{
	sqlite3 *db;

	if (sqlite3_open(path, &db))
		_exit(1);
	(void)sqlite3_busy_handler(db, S_busy, NULL);
	(void)sqlite3_wal_autocheckpoint(db, 0);
	for (unsigned i = 0; ; i++) {
		if (sqlite3_exec(db, LOAD_MOVE("1"), NULL, NULL, NULL))
			_exit(1);
		if (i % 3 == 0 && sqlite3_exec(
			db, "pragma wal_checkpoint(restart)", NULL, NULL,
			NULL))
			_exit(1);
		(*commits)++;
	}
}

struct bed_load
bed_load_start(struct trial *t, const char *path)
{
	struct bed_load l;
	pid_t control = getpid();

	l.commits = mmap(NULL, sizeof(*l.commits), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l.commits == MAP_FAILED)
		trial_die(t, "mmap: %s", strerror(errno));
	l.pid = fork();
	if (l.pid < 0)
		trial_die(t, "fork: %s", strerror(errno));
	if (l.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		if (getppid() != control)
			_exit(1);
		S_load(path, l.commits);
	}
	return l;
}

void
bed_load_wait(struct trial *t, const struct bed_load *l)
{
	time_t until = time(NULL) + LOAD_SECONDS;
	unsigned long n = *l->commits;

	while (*l->commits <= n) {
		if (time(NULL) > until)
			trial_die(t, "the loader does not get on");
		(void)sched_yield();
	}
}

void
bed_load_end(struct trial *t, struct bed_load *l)
{
	(void)kill(l->pid, SIGKILL);
	if (waitpid(l->pid, NULL, 0) != l->pid)
		trial_die(t, "wait: %s", strerror(errno));
	(void)munmap((void *)(uintptr_t)l->commits, sizeof(*l->commits));
}

void
bed_ours_loaded(struct trial *t, const struct bed_load *l, const char *path)
{
	for (int i = 0; i < LOAD_CAPTURES; i++) {
		bed_load_wait(t, l);
		bed_ours(t, bed_show_captured(t, path, NULL, BED_MONEY_SQL),
			 BED_MONEY_ROWS);
	}
	bed_load_wait(t, l);
}

void
bed_ours_under_load(struct trial *t, const char *path)
{
	struct bed_load l = bed_load_start(t, path);

	bed_ours_loaded(t, &l, path);
	bed_load_end(t, &l);
}
