/*
 * request.c - the words of an acquire as a request, and the database's place
 */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/own.h"
#include "lease/cmds.h"
#include "lease/limits.h"
#include "lease/path.h"

#define REQUEST_DB_VARIABLE "HOLDFAST_LEASE_DB"

static int
S_memory(struct fault *f)
{
	return fault_set(f, FAULT_TROUBLE, "out of memory");
}

/* The homes as keys: that of the environment, that of the user. */
struct homes {
	char key[2][PATH_MAX];
	const char *list[3];
	size_t n;
	bool asked;		/* the user database */
};

static void
S_add_home(struct homes *h, const char *word)
{
	struct fault ignored = FAULT_INIT;

	if (!word || word[0] != '/' ||
	    path_key("/", word, h->key[h->n], &ignored))
		return;
	h->list[h->n] = h->key[h->n];
	h->list[++h->n] = NULL;
}

/* Looking the user up takes longer than all else that a short program does
   before its transaction: only a folder that is there can be that home. */
static int
S_not_wide(struct homes *h, const char *key, struct fault *f)
{
	const struct passwd *pw;
	struct stat st;

	if (!h->asked && lstat(key, &st) == 0 && S_ISDIR(st.st_mode)) {
		pw = getpwuid(geteuid());
		S_add_home(h, pw ? pw->pw_dir : NULL);
		h->asked = true;
	}
	return path_not_wide(key, h->list, f);
}

static int
S_cwd(const struct options *o, char **cwd, struct fault *f)
{
	char here[PATH_MAX], key[PATH_MAX];
	int rc = 0;

	if (!getcwd(here, sizeof(here))) {
		/* Only a relative word needs to know. */
		if (o->cwd && o->cwd[0] != '/')
			return fault_sys(f, FAULT_TROUBLE, errno,
					 "find the current folder");
		(void)strcpy(here, ".");
	}
	if (o->cwd)
		rc = path_key(here, o->cwd, key, f);
	if (rc)
		return fault_wrap(f, "--cwd");
	*cwd = strdup(o->cwd ? key : here);
	return *cwd ? 0 : S_memory(f);
}

static bool
S_has(char *const *paths, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(paths[i], key) == 0)
			return true;
	return false;
}

/* Each key once, in the order of the words. */
static int
S_paths(const struct options *o, struct cmds_request *r, struct fault *f)
{
	char key[PATH_MAX];
	struct homes homes = { .n = 0 };
	int rc = 0;

	if ((unsigned)o->npaths > LIMITS_PATHS)
		return fault_set(f, FAULT_USAGE, "more than %u paths",
				 LIMITS_PATHS);
	r->paths = calloc((size_t)o->npaths + 1, sizeof(*r->paths));
	if (!r->paths)
		return S_memory(f);
	S_add_home(&homes, getenv("HOME"));
	for (int i = 0; !rc && i < o->npaths; i++) {
		rc = path_key(r->cwd, o->paths[i], key, f);
		if (!rc)
			rc = S_not_wide(&homes, key, f);
		if (rc || S_has(r->paths, r->q.npaths, key))
			continue;
		r->paths[r->q.npaths] = strdup(key);
		if (!r->paths[r->q.npaths++])
			return S_memory(f);
	}
	r->q.paths = r->paths;
	return rc;
}

int
cmds_request(const struct options *o, int64_t pid, struct cmds_request *r,
	     struct fault *f)
{
	struct utsname name;
	int rc = owner_session(o->session, &r->session, f);

	if (!rc)
		rc = S_cwd(o, &r->cwd, f);
	if (!rc)
		rc = S_paths(o, r, f);
	if (rc)
		return rc;
	owner_process(pid, &r->process);
	if (uname(&name) == 0)
		(void)snprintf(r->host, sizeof(r->host), "%s", name.nodename);
	r->q.session = r->session;
	r->q.epoch = o->epoch;
	r->q.agent = o->agent;
	r->q.host = r->host;
	r->q.cwd = r->cwd;
	r->q.note = o->note;
	r->q.ttl = o->ttl ? o->ttl : LIMITS_TTL_S * INSTANT_SECOND;
	r->q.process = &r->process;
	return 0;
}

void
cmds_request_free(struct cmds_request *r)
{
	for (size_t i = 0; r->paths && r->paths[i]; i++)
		free(r->paths[i]);
	free(r->paths);
	free(r->session);
	free(r->cwd);
	*r = (struct cmds_request){ .paths = NULL };
}

static int
S_database(const struct options *o, char path[PATH_MAX], struct fault *f)
{
	const char *db = o->db ? o->db : getenv(REQUEST_DB_VARIABLE);
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	const struct passwd *pw;
	int n;

	if (db && *db) {
		n = snprintf(path, PATH_MAX, "%s", db);
	} else if (state && state[0] == '/') {
		n = snprintf(path, PATH_MAX, "%s/holdfast/leases.db", state);
	} else {
		pw = home && home[0] == '/' ? NULL : getpwuid(geteuid());
		if (pw)
			home = pw->pw_dir;
		if (!home || home[0] != '/')
			return fault_set(f, FAULT_TROUBLE, "there is no home"
					 " for the lease database: use --db");
		n = snprintf(path, PATH_MAX,
			     "%s/.local/state/holdfast/leases.db", home);
	}
	if (n < 0 || n >= PATH_MAX)
		return fault_set(f, FAULT_USAGE,
				 "the path of the database is too long");
	return 0;
}

int
cmds_open(const struct options *o, struct instant_system *clock,
	  struct store **s, struct fault *f)
{
	struct store_options how = { .path = NULL };
	char path[PATH_MAX];
	int rc = S_database(o, path, f);

	how.path = path;
	if (!rc)
		rc = instant_system(clock, &how.clock, f);
	return rc ? rc : store_open(s, &how, f);
}
