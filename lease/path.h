/*
 * path.h - one key for each path, whether it exists or not
 *
 * Rules, in order:
 *  1. a relative word is taken from cwd;
 *  2. what exists is resolved as the kernel does: links followed, ".." goes
 *     to the parent of what was resolved;
 *  3. from the first component that does not exist on, "." and ".." are
 *     taken as text, so making it later does not change the key;
 *  4. the key begins with "/", has no empty component and no "/" at its end;
 *  5. bytes are kept as they are, also where they are not UTF-8.
 */
#ifndef LEASE_PATH_H
#define LEASE_PATH_H

#include <limits.h>
#include <stdbool.h>

#include "base/fault.h"

#define PATH_KEY_MAX (PATH_MAX - 1)	/* bytes */

/*
 * FAULT_USAGE: word is empty or too long, a component is, or the links go
 * round. FAULT_TROUBLE: a folder on the way may not be searched.
 */
int
path_key(const char *cwd, const char *word, char key[PATH_MAX],
	 struct fault *f);

/*
 * FAULT_USAGE where a lease on key would shut out everybody: "/", one of the
 * homes, the root of a mount. homes: NULL-terminated keys.
 */
int
path_not_wide(const char *key, const char *const *homes, struct fault *f);

/* key is one of rule 4, and not "/": what may stand in the database. */
bool
path_is_key(const char *key);

#endif
