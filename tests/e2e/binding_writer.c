/*
 * binding_writer.c - a writer in C, for the binding by its memory
 *
 * One request a line on standard input, one answer a line:
 *   open NAME PATH	a connection
 *   sql NAME TEXT	runs it; the last value that came out, or nothing
 *   close NAME
 *   library PATH	connections are opened by a copy of SQLite from now on
 *   fork		a child that does nothing holds all that is open
 *   heap MIB		so much memory is in use from now on
 * The answer is "ok VALUE" or "error TEXT".
 */
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#define CONNECTIONS 16
#define LINE_BYTES 65536

struct library {
	int (*open)(const char *path, sqlite3 **db);
	int (*exec)(sqlite3 *db, const char *sql,
		    int (*row)(void *, int, char **, char **), void *arg,
		    char **error);
	int (*close)(sqlite3 *db);
};

static struct library library = { sqlite3_open, sqlite3_exec, sqlite3_close };

static struct connection {
	char name[32];
	sqlite3 *db;
	struct library by;
} connections[CONNECTIONS];

static char value[LINE_BYTES];

static struct connection *
S_find(const char *name)
{
	for (size_t i = 0; i < CONNECTIONS; i++)
		if (strcmp(connections[i].name, name) == 0)
			return &connections[i];
	return NULL;
}

static const char *
S_open(const char *name, const char *path)
{
	struct connection *c = S_find("");

	if (!c || library.open(path, &c->db) != SQLITE_OK)
		return "can't open";
	(void)snprintf(c->name, sizeof(c->name), "%s", name);
	c->by = library;
	return NULL;
}

static int
S_row(void *arg, int n, char **text, char **names)
{
	(void)arg;
	(void)names;
	(void)snprintf(value, sizeof(value), "%s",
		       n > 0 && text[0] ? text[0] : "");
	return 0;
}

static const char *
S_sql(const char *name, const char *sql)
{
	struct connection *c = S_find(name);
	char *error = NULL;

	if (!c)
		return "no such connection";
	if (c->by.exec(c->db, sql, S_row, NULL, &error) == SQLITE_OK)
		return NULL;
	return error ? error : "no memory";
}

static const char *
S_close(const char *name)
{
	struct connection *c = S_find(name);

	if (!c || c->by.close(c->db) != SQLITE_OK)
		return "can't close";
	c->name[0] = '\0';
	return NULL;
}

static const char *
S_library(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);

	if (!lib)
		return dlerror();
	*(void **)&library.open = dlsym(lib, "sqlite3_open");
	*(void **)&library.exec = dlsym(lib, "sqlite3_exec");
	*(void **)&library.close = dlsym(lib, "sqlite3_close");
	return library.open && library.exec && library.close ? NULL
							     : "no SQLite";
}

static const char *
S_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	(void)snprintf(value, sizeof(value), "%d", (int)pid);
	return pid < 0 ? "can't fork" : NULL;
}

static const char *
S_heap(const char *mib)
{
	size_t n = strtoul(mib, NULL, 10) << 20;
	char *p = malloc(n);

	if (!p)
		return "no memory";
	memset(p, 1, n);
	return NULL;
}

static const char *
S_do(const char *verb, const char *name, const char *text)
{
	if (strcmp(verb, "open") == 0)
		return S_open(name, text);
	if (strcmp(verb, "sql") == 0)
		return S_sql(name, text);
	if (strcmp(verb, "close") == 0)
		return S_close(name);
	if (strcmp(verb, "library") == 0)
		return S_library(name);
	if (strcmp(verb, "fork") == 0)
		return S_fork();
	if (strcmp(verb, "heap") == 0)
		return S_heap(name);
	return "no such request";
}

int
main(void)
{
	static char line[LINE_BYTES];

	while (fgets(line, sizeof(line), stdin)) {
		char *rest = line;
		const char *verb, *name, *error;

		line[strcspn(line, "\n")] = '\0';
		verb = strsep(&rest, " ");
		name = strsep(&rest, " ");
		value[0] = '\0';
		error = S_do(verb, name ? name : "", rest ? rest : "");
		(void)printf("%s %s\n", error ? "error" : "ok",
			     error ? error : value);
		(void)fflush(stdout);
	}
	return 0;
}
