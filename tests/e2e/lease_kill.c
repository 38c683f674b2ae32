/*
 * lease_kill.c - preloaded: SIGKILL before the nth call into SQLite
 *
 * LEASE_KILL_NTH says which; 0 counts only, and the number goes to the file
 * that LEASE_KILL_COUNT names when the program ends. LEASE_KILL_SIGNAL is
 * another signal's number.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long S_calls;

static void
S_count(void)
{
	const char *nth = getenv("LEASE_KILL_NTH");
	const char *signo = getenv("LEASE_KILL_SIGNAL");

	if (++S_calls == (nth ? strtoul(nth, NULL, 10) : 0))
		raise(signo ? atoi(signo) : SIGKILL);
}

int
sqlite3_step(sqlite3_stmt *st)
{
	static int (*real)(sqlite3_stmt *);

	if (!real)
		real = (int (*)(sqlite3_stmt *))dlsym(RTLD_NEXT,
						      "sqlite3_step");
	S_count();
	return real(st);
}

int
sqlite3_reset(sqlite3_stmt *st)
{
	static int (*real)(sqlite3_stmt *);

	if (!real)
		real = (int (*)(sqlite3_stmt *))dlsym(RTLD_NEXT,
						      "sqlite3_reset");
	S_count();
	return real(st);
}

int
sqlite3_exec(sqlite3 *db, const char *sql,
	     int (*row)(void *, int, char **, char **), void *arg, char **err)
{
	static int (*real)(sqlite3 *, const char *,
			   int (*)(void *, int, char **, char **), void *,
			   char **);

	if (!real)
		real = (int (*)(sqlite3 *, const char *,
				int (*)(void *, int, char **, char **),
				void *, char **))dlsym(RTLD_NEXT,
						       "sqlite3_exec");
	S_count();
	return real(db, sql, row, arg, err);
}

__attribute__((destructor))
static void
S_tell(void)
{
	const char *to = getenv("LEASE_KILL_COUNT");
	FILE *file = to && S_calls ? fopen(to, "w") : NULL;

	if (file) {
		(void)fprintf(file, "%lu", S_calls);
		(void)fclose(file);
	}
}
