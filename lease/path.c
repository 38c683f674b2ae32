/*
 * path.c - one key for each path, whether it exists or not
 */
#include "lease/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

#define PATH_LINKS_MAX 40

struct walk {
	char key[PATH_MAX];	/* what was resolved; "" is the root */
	size_t len;
	size_t missing;		/* components at its end that do not exist */
	char *rest;		/* owned: what is still to be walked */
	unsigned links;
};

static int
S_too_long(struct fault *f)
{
	return fault_set(f, FAULT_USAGE, "a path is longer than %d bytes",
			 PATH_KEY_MAX);
}

static void
S_up(struct walk *w)
{
	while (w->len > 0 && w->key[--w->len] != '/')
		;
	w->key[w->len] = '\0';
	if (w->missing > 0)
		w->missing--;
}

/* The link's target goes in front of what is still to be walked. */
static int
S_follow(struct walk *w, struct fault *f)
{
	char target[PATH_MAX];
	ssize_t n = readlink(w->key, target, sizeof(target) - 1);
	char *rest;

	if (n < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "read the link %s",
				 w->key);
	if (++w->links > PATH_LINKS_MAX)
		return fault_set(f, FAULT_USAGE, "%s: the links go round",
				 w->key);
	target[n] = '\0';
	if (asprintf(&rest, "%s/%s", target, w->rest) < 0)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	free(w->rest);
	w->rest = rest;
	S_up(w);
	if (target[0] == '/')
		w->len = 0;
	w->key[w->len] = '\0';
	return 0;
}

static int
S_down(struct walk *w, const char *name, size_t n, struct fault *f)
{
	struct stat st;

	if (n > NAME_MAX)
		return fault_set(f, FAULT_USAGE,
				 "a component of the path is longer than %d"
				 " bytes", NAME_MAX);
	if (w->len + 1 + n > PATH_KEY_MAX)
		return S_too_long(f);
	w->key[w->len] = '/';
	memcpy(w->key + w->len + 1, name, n);
	w->len += 1 + n;
	w->key[w->len] = '\0';
	if (w->missing > 0 || lstat(w->key, &st)) {
		if (w->missing == 0 && errno != ENOENT && errno != ENOTDIR)
			return fault_sys(f, FAULT_TROUBLE, errno, "look at %s",
					 w->key);
		w->missing++;
		return 0;
	}
	return S_ISLNK(st.st_mode) ? 1 : 0;
}

static int
S_walk(struct walk *w, struct fault *f)
{
	int rc = 0;

	while (!rc && *w->rest) {
		size_t n = strcspn(w->rest, "/");
		char *name = w->rest;

		if (n == 0 || (n == 1 && name[0] == '.'))
			rc = 0;
		else if (n == 2 && name[0] == '.' && name[1] == '.')
			S_up(w);
		else
			rc = S_down(w, name, n, f);
		n += name[n] == '/';
		memmove(name, name + n, strlen(name + n) + 1);
		if (rc == 1)
			rc = S_follow(w, f);
	}
	return rc;
}

int
path_key(const char *cwd, const char *word, char key[PATH_MAX],
	 struct fault *f)
{
	struct walk w = { .len = 0 };
	int rc;

	if (!*word)
		return fault_set(f, FAULT_USAGE, "a path is empty");
	if (strlen(word) > PATH_KEY_MAX || strlen(cwd) > PATH_KEY_MAX)
		return S_too_long(f);
	if (word[0] != '/' && cwd[0] != '/')
		return fault_set(f, FAULT_USAGE,
				 "the folder of relative paths (%s) is not"
				 " absolute", cwd);
	if (asprintf(&w.rest, "%s/%s", word[0] == '/' ? "" : cwd, word) < 0)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	rc = S_walk(&w, f);
	free(w.rest);
	if (!rc)
		(void)strcpy(key, w.len ? w.key : "/");
	return rc;
}

int
path_not_wide(const char *key, const char *const *homes, struct fault *f)
{
	struct statx st;

	if (strcmp(key, "/") == 0)
		return fault_set(f, FAULT_USAGE,
				 "a lease on / would shut out everybody");
	for (; *homes; homes++)
		if (strcmp(key, *homes) == 0)
			return fault_set(f, FAULT_USAGE,
					 "%s is a home: a lease on it would"
					 " shut out everything of its user",
					 key);
	if (statx(AT_FDCWD, key, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		  STATX_TYPE, &st) == 0 &&
	    (st.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return fault_set(f, FAULT_USAGE, "%s is the root of a mount:"
				 " a lease on it would be too wide", key);
	return 0;
}

bool
path_is_key(const char *key)
{
	size_t n = strlen(key);

	if (key[0] != '/' || n < 2 || n > PATH_KEY_MAX || key[n - 1] == '/')
		return false;
	while (key) {
		const char *name = key + 1;

		key = strchr(name, '/');
		n = key ? (size_t)(key - name) : strlen(name);
		if (n == 0 || (n == 1 && name[0] == '.') ||
		    (n == 2 && name[0] == '.' && name[1] == '.'))
			return false;
	}
	return true;
}
