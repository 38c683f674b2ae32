/*
 * lease.c - leases in process, as fast as they go: for the bench and for load
 *
 * lease pair DB N         N times acquire and release; prints the ns of it
 * lease bare DB N         N times two bare transactions of one row, same
 *                         settings; prints the ns of it
 * lease fill DB N         N live leases of an hour, below /fill
 * lease contend DB MS P   P processes for MS ms, each on its own path;
 *                         prints the operations of each, and the longest
 *                         that one of them took in ns
 * lease churn DB P        P processes acquire, renew and release, until
 *                         standard input ends
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "lease/limits.h"
#include "lease/ops.h"

#define LOAD_PROCESSES_MAX 64

struct load {
	struct store *store;
	struct instant_system clock;
	struct fault fault;
};

_Noreturn static void
S_die(const char *what)
{
	(void)fprintf(stderr, "lease load: %s\n", what);
	exit(1);
}

static void
S_open(struct load *l, const char *db)
{
	struct store_options o = { .path = db };

	if (instant_system(&l->clock, &o.clock, &l->fault) ||
	    store_open(&l->store, &o, &l->fault))
		S_die(l->fault.text);
}

static enum outcome
S_acquire(struct load *l, const char *session, char *const *paths, size_t n,
	  int64_t seconds, int64_t *fence)
{
	struct ops_acquire q = {
		.paths = paths, .npaths = n, .session = session,
		.epoch = "1", .ttl = seconds * INSTANT_SECOND,
	};
	OWN_ANSWER(a);

	if (ops_acquire(l->store, &q, &a, &l->fault))
		S_die(l->fault.text);
	*fence = a.fence;
	return a.outcome;
}

static void
S_release(struct load *l, const char *session)
{
	OWN_ANSWER(a);

	if (ops_release(l->store, session, "1", 0, &a, &l->fault))
		S_die(l->fault.text);
}

static void
S_pair(const char *db, unsigned long n)
{
	struct load l = { .store = NULL };
	char *path = (char[]){ "/load/path" };
	uint64_t start;
	int64_t fence;

	S_open(&l, db);
	start = clock_mono_ns();
	for (unsigned long i = 0; i < n; i++) {
		if (S_acquire(&l, "load", &path, 1, 60, &fence) !=
		    OUTCOME_ACQUIRED)
			S_die("not acquired");
		S_release(&l, "load");
	}
	(void)printf("%llu\n", (unsigned long long)(clock_mono_ns() - start));
	store_close(&l.store);
}

static void
S_step(sqlite3_stmt *st)
{
	if (sqlite3_step(st) != SQLITE_DONE)
		S_die(sqlite3_errmsg(sqlite3_db_handle(st)));
	(void)sqlite3_reset(st);
}

static void
S_bare(const char *db, unsigned long n)
{
	static const char *const text[] = {
		"BEGIN IMMEDIATE", "INSERT INTO t VALUES('/load/path', 1)",
		"COMMIT", "BEGIN IMMEDIATE",
		"DELETE FROM t WHERE k = '/load/path'", "COMMIT",
	};
	sqlite3_stmt *st[6];
	sqlite3 *c;
	uint64_t start;

	if (sqlite3_open(db, &c) != SQLITE_OK ||
	    sqlite3_exec(c, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
			 "CREATE TABLE IF NOT EXISTS t(k TEXT PRIMARY KEY, v)"
			 " WITHOUT ROWID", NULL, NULL, NULL) != SQLITE_OK)
		S_die(sqlite3_errmsg(c));
	for (size_t i = 0; i < 6; i++)
		if (sqlite3_prepare_v2(c, text[i], -1, &st[i], NULL))
			S_die(sqlite3_errmsg(c));
	start = clock_mono_ns();
	for (unsigned long i = 0; i < n; i++)
		for (size_t k = 0; k < 6; k++)
			S_step(st[k]);
	(void)printf("%llu\n", (unsigned long long)(clock_mono_ns() - start));
	for (size_t i = 0; i < 6; i++)
		(void)sqlite3_finalize(st[i]);
	(void)sqlite3_close(c);
}

static void
S_fill(const char *db, unsigned long n)
{
	struct load l = { .store = NULL };
	static char name[LIMITS_PATHS][64];
	static char *path[LIMITS_PATHS];
	char session[32];
	int64_t fence;

	S_open(&l, db);
	for (unsigned long i = 0; i < n; ) {
		size_t k;

		for (k = 0; k < LIMITS_PATHS && i < n; k++, i++) {
			(void)snprintf(name[k], sizeof(name[k]),
				       "/fill/%lu/%lu", i % 997, i);
			path[k] = name[k];
		}
		(void)snprintf(session, sizeof(session), "fill %lu", i % 50);
		if (S_acquire(&l, session, path, k, 3600, &fence) !=
		    OUTCOME_ACQUIRED)
			S_die("not filled");
	}
	store_close(&l.store);
}

struct share {
	uint64_t ops, longest;
};

static void
S_contend_one(const char *db, uint64_t until, int me, struct share *mine)
{
	struct load l = { .store = NULL };
	char session[32], name[32], *path = name;
	int64_t fence;

	(void)snprintf(session, sizeof(session), "load %d", me);
	(void)snprintf(name, sizeof(name), "/load/%d", me);
	S_open(&l, db);
	while (clock_mono_ns() < until) {
		uint64_t start = clock_mono_ns(), took;

		if (S_acquire(&l, session, &path, 1, 60, &fence) ==
		    OUTCOME_ACQUIRED) {
			took = clock_mono_ns() - start;
			if (took > mine->longest)
				mine->longest = took;
			mine->ops++;
			start = clock_mono_ns();
			S_release(&l, session);
		}
		took = clock_mono_ns() - start;
		if (took > mine->longest)
			mine->longest = took;
		mine->ops++;
	}
	store_close(&l.store);
}

static void
S_contend(const char *db, unsigned long ms, int processes)
{
	uint64_t until = clock_mono_ns() + ms * 1000000;
	struct share *share = mmap(NULL, sizeof(*share) * LOAD_PROCESSES_MAX,
				   PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t longest = 0;

	if (share == MAP_FAILED)
		S_die("no memory");
	for (int i = 0; i < processes; i++)
		if (fork() == 0) {
			S_contend_one(db, until, i, &share[i]);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < processes; i++) {
		(void)printf("%llu ", (unsigned long long)share[i].ops);
		if (share[i].longest > longest)
			longest = share[i].longest;
	}
	(void)printf("%llu\n", (unsigned long long)longest);
}

static void
S_churn_one(const char *db, int me)
{
	struct load l = { .store = NULL };
	char name[2][64], *path[2] = { name[0], name[1] };
	char session[32];
	unsigned seed = (unsigned)me;
	int64_t fence;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)snprintf(session, sizeof(session), "churn %d", me);
	S_open(&l, db);
	for (;;) {
		OWN_ANSWER(a);

		for (size_t i = 0; i < 2; i++)
			(void)snprintf(name[i], sizeof(name[i]), "/churn/%d%s",
				       rand_r(&seed) % 12,
				       rand_r(&seed) % 3 ? "" : "/below");
		if (S_acquire(&l, session, path, strcmp(name[0], name[1]) ? 2
			      : 1, 1 + rand_r(&seed) % 3, &fence) ==
		    OUTCOME_ACQUIRED && rand_r(&seed) % 2 &&
		    ops_renew(l.store, fence, NULL, "", 0, &a, &l.fault))
			S_die(l.fault.text);
		if (rand_r(&seed) % 3)
			S_release(&l, session);
	}
}

static void
S_churn(const char *db, int processes)
{
	pid_t pid[LOAD_PROCESSES_MAX];
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	for (int i = 0; i < processes; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			S_churn_one(db, i);
	}
	(void)poll(&in, 1, -1);
	for (int i = 0; i < processes; i++)
		(void)kill(pid[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}

int
main(int argc, char **argv)
{
	unsigned long n = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;

	if (argc == 4 && strcmp(argv[1], "pair") == 0)
		S_pair(argv[2], n);
	else if (argc == 4 && strcmp(argv[1], "bare") == 0)
		S_bare(argv[2], n);
	else if (argc == 4 && strcmp(argv[1], "fill") == 0)
		S_fill(argv[2], n);
	else if (argc == 5 && strcmp(argv[1], "contend") == 0)
		S_contend(argv[2], n, atoi(argv[4]));
	else if (argc == 4 && strcmp(argv[1], "churn") == 0 &&
		 n <= LOAD_PROCESSES_MAX)
		S_churn(argv[2], (int)n);
	else
		S_die("which load?");
	return 0;
}
