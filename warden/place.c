/*
 * place.c - where our other programs are, and that they are ours
 */
#include "warden/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

/* The length of path without its last component; 0 where there is none. */
static size_t
S_parent(const char *path, size_t n)
{
	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 0 && path[n - 1] == '/')
		n--;
	return n;
}

static int
S_beside(const char *exe, const char *below, char *path, size_t room,
	 struct fault *f)
{
	size_t prefix;
	int n;

	if (exe[0] != '/' || S_parent(exe, strlen(exe)) == 0)
		return fault_set(f, FAULT_TROUBLE,
				 "our own binary (%s) is in no directory", exe);
	prefix = S_parent(exe, S_parent(exe, strlen(exe)));
	n = snprintf(path, room, "%.*s/%s", (int)prefix, exe, below);
	if (n < 0 || (size_t)n >= room)
		return fault_set(f, FAULT_TROUBLE,
				 "the helper's path is too long");
	return 0;
}

int
place_beside(const char *exe, char *path, size_t room, struct fault *f)
{
	return S_beside(exe, PLACE_HELPER, path, room, f);
}

static int
S_own_exe(char exe[PATH_MAX], struct fault *f)
{
	ssize_t n = readlink("/proc/self/exe", exe, PATH_MAX - 1);

	if (n < 0) {
		fault_sys(f, FAULT_TROUBLE, errno, "read /proc/self/exe");
		return fault_hint(f, "/proc must be mounted");
	}
	exe[n] = '\0';
	return 0;
}

/* Whoever could write these files could as well replace our binary. */
static int
S_check(int fd, const char *path, struct fault *f)
{
	struct stat helper, own;

	if (fstat(fd, &helper) || stat("/proc/self/exe", &own))
		return fault_sys(f, FAULT_TROUBLE, errno, "look at %s", path);
	if (!S_ISREG(helper.st_mode))
		return fault_set(f, FAULT_TROUBLE, "%s is no regular file",
				 path);
	if (helper.st_mode & S_IWOTH)
		return fault_set(f, FAULT_SANDBOX,
				 "everybody may write %s: it is not run", path);
	if (helper.st_uid != 0 && helper.st_uid != geteuid() &&
	    helper.st_uid != own.st_uid)
		return fault_set(f, FAULT_SANDBOX,
				 "%s belongs to uid %u: it is not run", path,
				 helper.st_uid);
	return 0;
}

static int
S_open(const char *below, int *fd, struct fault *f)
{
	char exe[PATH_MAX], path[PATH_MAX];
	int rc;
	OWN_FD(helper);

	rc = S_own_exe(exe, f);
	if (!rc)
		rc = S_beside(exe, below, path, sizeof(path), f);
	if (rc)
		return rc;
	helper = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (helper < 0) {
		fault_sys(f, FAULT_TROUBLE, errno, "find the helper %s", path);
		return fault_hint(f, "holdfast and %s are installed together,"
				  " below one prefix", below);
	}
	rc = S_check(helper, path, f);
	if (!rc)
		*fd = TAKE_FD(helper);
	return rc;
}

int
place_open(int *fd, struct fault *f)
{
	return S_open(PLACE_HELPER, fd, f);
}

int
place_open_lease(int *fd, struct fault *f)
{
	return S_open(PLACE_LEASE, fd, f);
}

int
place_open_controls(int *fd, struct fault *f)
{
	return S_open(PLACE_CONTROLS, fd, f);
}
