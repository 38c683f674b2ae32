/*
 * gitobject.h - bytes of a Git commit, checked from its id down
 */
#ifndef CONTROLS_GITOBJECT_H
#define CONTROLS_GITOBJECT_H

#include <stddef.h>

/* No program that somebody reviewed is larger. */
#define GITOBJECT_MAX (64u << 20)

struct gitobject {
	unsigned char *p;
	size_t n;
};

/*
 * The bytes of a regular file in a commit (full id, lower case); free
 * blob->p. Objects come from `git cat-file`, and each is hashed again, so
 * neither git nor a replacement, an alternate or the repository's own
 * configuration decides what they are; git is started without hooks,
 * replacements, lazy fetching and any GIT_* of the caller all the same.
 * 0, or an exit status whose sentence is printed: VERBS_REFUSED where an
 * object is not what its id says or the path is no regular file,
 * VERBS_TROUBLE where git failed.
 */
int
gitobject_file(const char *repo, const char *commit, const char *path,
	       struct gitobject *blob);

#endif
