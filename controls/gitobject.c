/*
 * gitobject.c - bytes of a Git commit, checked from its id down
 *
 * Format (gitformat-tree, "Git Internals"): an object's id is the digest of
 * "TYPE SIZE\0" and its bytes, SHA-1 or SHA-256 by the length of the id. A
 * commit begins with "tree ID\n". A tree is a sequence of entries: mode in
 * octal, a blank, name, NUL, and the id as raw bytes.
 */
#include "controls/gitobject.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controls/verbs.h"

#define GIT_SILENCE_MS 60000
#define GIT_STEP (64u << 10)
#define GIT_ID_MAX 64

static pid_t
S_start(const char *repo, const char *type, const char *id, int out)
{
	const char *path = getenv("PATH");
	char *found = NULL;
	/* PATH finds git; nothing else of the caller's says a word. */
	const char *env[] = { NULL, "HOME=/nonexistent", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0", NULL };
	const char *argv[] = { "git", "--no-pager", "--no-replace-objects",
		"-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null",
		"-c", "core.fsmonitor=false", "-C", repo, "cat-file", type,
		id, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	int rc;

	if (posix_spawn_file_actions_init(&actions))
		return -1;
	if (asprintf(&found, "PATH=%s", path ? path : "/usr/bin:/bin") < 0)
		found = NULL;
	env[0] = found;
	rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null",
					      O_RDONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&actions, out, 1);
	if (!rc)
		rc = posix_spawnp(&pid, "git", &actions, NULL,
				  (char *const *)(void *)argv,
				  (char *const *)(void *)env);
	(void)posix_spawn_file_actions_destroy(&actions);
	free(found);
	errno = rc;
	return rc ? -1 : pid;
}

/* All that it writes; false: too much, silence, or an error. */
static bool
S_read_all(int fd, struct gitobject *o)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (;;) {
		unsigned char *more = realloc(o->p, o->n + GIT_STEP);
		ssize_t n;

		if (!more)
			return false;
		o->p = more;
		if (poll(&p, 1, GIT_SILENCE_MS) <= 0)
			return false;
		n = read(fd, o->p + o->n, GIT_STEP);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		o->n += (size_t)n;
		if (o->n > GITOBJECT_MAX)
			return false;
	}
}

static bool
S_cat(const char *repo, const char *type, const char *id,
      struct gitobject *o)
{
	int ends[2], status = -1;
	bool whole;
	pid_t pid;

	*o = (struct gitobject){ .n = 0 };
	if (pipe2(ends, O_CLOEXEC))
		return false;
	pid = S_start(repo, type, id, ends[1]);
	(void)close(ends[1]);
	whole = pid > 0 && S_read_all(ends[0], o);
	(void)close(ends[0]);
	if (pid > 0 && !whole)
		(void)kill(pid, SIGKILL);
	if (pid > 0)
		(void)waitpid(pid, &status, 0);
	return whole && status == 0;
}

static void
S_hex(const unsigned char *raw, size_t n, char *hex)
{
	for (size_t i = 0; i < n; i++)
		(void)sprintf(hex + 2 * i, "%02x", raw[i]);
}

static bool
S_has_id(const char *type, const struct gitobject *o, const char *id)
{
	const EVP_MD *md = strlen(id) == 40 ? EVP_sha1() : EVP_sha256();
	unsigned char sum[EVP_MAX_MD_SIZE];
	char head[32], hex[2 * EVP_MAX_MD_SIZE + 1] = "";
	int n = snprintf(head, sizeof(head), "%s %zu", type, o->n);
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	unsigned len = 0;

	if (c && EVP_DigestInit_ex(c, md, NULL) == 1 &&
	    EVP_DigestUpdate(c, head, (size_t)n + 1) == 1 &&
	    EVP_DigestUpdate(c, o->p, o->n) == 1 &&
	    EVP_DigestFinal_ex(c, sum, &len) == 1)
		S_hex(sum, len, hex);
	EVP_MD_CTX_free(c);
	return strcmp(hex, id) == 0;
}

static int
S_object(const char *repo, const char *type, const char *id,
	 struct gitobject *o)
{
	int status = 0;

	if (!S_cat(repo, type, id, o))
		status = verbs_fail(VERBS_TROUBLE, "git gives no %s %s of %s",
				    type, id, repo);
	else if (!S_has_id(type, o, id))
		status = verbs_fail(VERBS_REFUSED, "what git gives as %s %s"
				    " of %s has another digest", type, id,
				    repo);
	if (status) {
		free(o->p);
		o->p = NULL;
	}
	return status;
}

/* The tree's id out of a commit; false: it has none. */
static bool
S_tree_of(const struct gitobject *commit, size_t digits, char *id)
{
	if (commit->n < 5 + digits + 1 || memcmp(commit->p, "tree ", 5) ||
	    commit->p[5 + digits] != '\n')
		return false;
	memcpy(id, commit->p + 5, digits);
	id[digits] = '\0';
	return strspn(id, "0123456789abcdef") == digits;
}

/* The entry of a name: its mode as text, and its id; false: none. */
static bool
S_entry(const struct gitobject *tree, const char *name, size_t n,
	size_t digits, char mode[8], char *id)
{
	const unsigned char *p = tree->p, *end = tree->p + tree->n;

	while (p < end) {
		const unsigned char *blank = memchr(p, ' ', (size_t)(end - p));
		const unsigned char *nul = blank ?
			memchr(blank, 0, (size_t)(end - blank)) : NULL;

		if (!nul || blank - p > 6 ||
		    (size_t)(end - nul - 1) < digits / 2)
			return false;
		if ((size_t)(nul - blank - 1) == n &&
		    memcmp(blank + 1, name, n) == 0) {
			memcpy(mode, p, (size_t)(blank - p));
			mode[blank - p] = '\0';
			S_hex(nul + 1, digits / 2, id);
			return true;
		}
		p = nul + 1 + digits / 2;
	}
	return false;
}

static bool
S_is_file(const char *mode)
{
	return strcmp(mode, "100644") == 0 || strcmp(mode, "100755") == 0;
}

/* From the id of the root tree to that of the file, in id. */
static int
S_walk(const char *repo, const char *path, size_t digits, char *id)
{
	const char *rest = path;

	for (;;) {
		size_t n = strcspn(rest, "/");
		bool last = rest[n] == '\0', found;
		struct gitobject tree;
		char mode[8];
		int status = S_object(repo, "tree", id, &tree);

		if (status)
			return status;
		found = S_entry(&tree, rest, n, digits, mode, id);
		free(tree.p);
		if (!found)
			return verbs_fail(VERBS_REFUSED, "the commit has no "
					  "%s", path);
		if (last ? !S_is_file(mode) : strcmp(mode, "40000") != 0)
			return verbs_fail(VERBS_REFUSED, "%s is no regular "
					  "file in the commit (mode %s)",
					  path, mode);
		if (last)
			return 0;
		rest += n + 1;
	}
}

int
gitobject_file(const char *repo, const char *commit, const char *path,
	       struct gitobject *blob)
{
	size_t digits = strlen(commit);
	char id[GIT_ID_MAX + 1];
	struct gitobject o;
	bool tree;
	int status = S_object(repo, "commit", commit, &o);

	if (status)
		return status;
	tree = S_tree_of(&o, digits, id);
	free(o.p);
	if (!tree)
		return verbs_fail(VERBS_REFUSED, "commit %s names no tree",
				  commit);
	status = S_walk(repo, path, digits, id);
	if (!status)
		status = S_object(repo, "blob", id, blob);
	return status;
}
