/*
 * folder.h - a folder of its own for each unit test
 */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
	char path[64];
	int fd;
};

static inline int
folder_make(struct folder *d)
{
	(void)strcpy(d->path, "/tmp/holdfast-unit.XXXXXX");
	if (!mkdtemp(d->path))
		return -1;
	d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return d->fd < 0 ? -1 : 0;
}

static inline int
folder_remove_one(const char *path, const struct stat *st, int flag,
		  struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void
folder_remove(struct folder *d)
{
	(void)close(d->fd);
	(void)nftw(d->path, folder_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* path is room for the folder's path and the name. */
static inline const char *
folder_path(const struct folder *d, const char *name, char *path, size_t n)
{
	(void)snprintf(path, n, "%s/%s", d->path, name);
	return path;
}

static inline int
folder_write(const struct folder *d, const char *name, const void *bytes,
	     size_t n)
{
	int fd = openat(d->fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int rc = fd >= 0 && write(fd, bytes, n) == (ssize_t)n ? 0 : -1;

	if (fd >= 0)
		(void)close(fd);
	return rc;
}

#endif
