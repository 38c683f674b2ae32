/*
 * publish.c - one new file that appears whole under its name, or not at all
 */
#include "base/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/own.h"

#define PUBLISH_TRIES 16

static int
S_taken(struct fault *f, const char *name)
{
	(void)fault_set(f, FAULT_TROUBLE, "%s exists", name);
	return fault_hint(f, "--force replaces it");
}

/* The folder is opened once; from here on only names below it are used. */
static int
S_open_folder(const char *path, struct publish *p, struct fault *f)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return fault_set(f, FAULT_USAGE, "%s names no file", path);
	if (strlen(name) > NAME_MAX || n >= sizeof(folder))
		return fault_sys(f, FAULT_USAGE, ENAMETOOLONG, "%s", path);
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)n, path);
	if (n == 0)
		(void)strcpy(folder, slash ? "/" : ".");
	(void)strcpy(p->name, name);
	p->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "open folder %s",
				 folder);
	return 0;
}

static int
S_temp_name(struct publish *p, struct fault *f)
{
	uint64_t word;

	if (getrandom(&word, sizeof(word), 0) != (ssize_t)sizeof(word))
		return fault_sys(f, FAULT_TROUBLE, errno, "random bytes");
	(void)snprintf(p->temp, sizeof(p->temp), ".holdfast-%016llx",
		       (unsigned long long)word);
	return 0;
}

/* For file systems without O_TMPFILE. */
static int
S_open_named(struct publish *p, struct fault *f)
{
	int rc;

	for (int i = 0; i < PUBLISH_TRIES; i++) {
		rc = S_temp_name(p, f);
		if (rc)
			return rc;
		p->fd = openat(p->dir, p->temp,
			       O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (p->fd >= 0)
			return 0;
		p->temp[0] = '\0';
		if (errno != EEXIST)
			break;
	}
	return fault_sys(f, FAULT_TROUBLE, errno, "create a file beside %s",
			 p->name);
}

int
publish_open(const char *path, bool force, struct publish *p, struct fault *f)
{
	struct stat st;
	int rc = S_open_folder(path, p, f);

	if (rc)
		return rc;
	p->force = force;
	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (!S_ISREG(st.st_mode))
			return fault_set(f, FAULT_TROUBLE, "%s is there and is"
					 " no regular file", p->name);
		if (!force)
			return S_taken(f, p->name);
	}
	p->fd = openat(p->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (p->fd >= 0)
		return 0;
	if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)
		return S_open_named(p, f);
	return fault_sys(f, FAULT_TROUBLE, errno, "create a file beside %s",
			 p->name);
}

static int
S_link(struct publish *p, const char *name)
{
	char self[32];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", p->fd);
	return linkat(AT_FDCWD, self, p->dir, name, AT_SYMLINK_FOLLOW);
}

/* The nameless file gets a name that can then be moved over the old one. */
static int
S_link_temp(struct publish *p, struct fault *f)
{
	int rc;

	for (int i = 0; i < PUBLISH_TRIES; i++) {
		rc = S_temp_name(p, f);
		if (rc)
			return rc;
		if (S_link(p, p->temp) == 0)
			return 0;
		p->temp[0] = '\0';
		if (errno != EEXIST)
			break;
	}
	return fault_sys(f, FAULT_TROUBLE, errno, "link %s", p->name);
}

static int
S_appear(struct publish *p, struct fault *f)
{
	int rc;

	if (!p->force && p->temp[0] == '\0') {
		if (S_link(p, p->name) == 0)
			return 0;
		return errno == EEXIST ? S_taken(f, p->name) :
		       fault_sys(f, FAULT_TROUBLE, errno, "link %s", p->name);
	}
	if (p->temp[0] == '\0') {
		rc = S_link_temp(p, f);
		if (rc)
			return rc;
	}
	if (renameat2(p->dir, p->temp, p->dir, p->name,
		      p->force ? 0 : RENAME_NOREPLACE))
		return errno == EEXIST ? S_taken(f, p->name) :
		       fault_sys(f, FAULT_TROUBLE, errno, "rename to %s",
				 p->name);
	p->temp[0] = '\0';
	return 0;
}

void
publish_begin_sync(const struct publish *p)
{
	(void)sync_file_range(p->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int
publish_commit(struct publish *p, struct fault *f)
{
	sigset_t all, before;
	int rc;

	if (fsync(p->fd))
		return fault_sys(f, FAULT_TROUBLE, errno, "sync %s", p->name);
	if (p->interrupted && p->interrupted())
		return fault_set(f, FAULT_INTERRUPTED, "interrupted");
	/* A signal between link and rename would leave the passing name. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = S_appear(p, f);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return rc;
	/* Some network file systems can't sync a folder, and say EINVAL. */
	if (fsync(p->dir) == 0 || errno == EINVAL)
		return 0;
	fault_sys(f, FAULT_TROUBLE, errno, "sync the folder of %s", p->name);
	/* A failure leaves nothing; what --force replaced is gone already. */
	if (!p->force)
		(void)unlinkat(p->dir, p->name, 0);
	return -(int)f->code;
}

void
publish_drop(struct publish *p)
{
	if (p->temp[0] != '\0')
		(void)unlinkat(p->dir, p->temp, 0);
	p->temp[0] = '\0';
	own_fd_close(&p->fd);
	own_fd_close(&p->dir);
}
