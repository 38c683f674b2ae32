/*
 * bed_file.c - files of a control
 */
#include "controls/bed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
S_must(struct trial *t, bool done, const char *what, const char *path)
{
	if (!done)
		trial_die(t, "%s %s: %s", what, path, strerror(errno));
}

struct bed_bytes
bed_read(struct trial *t, const char *path)
{
	struct bed_bytes b = { .n = (size_t)bed_size(t, path) };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	b.p = malloc(b.n + 1);
	S_must(t, fd >= 0 && b.p &&
	       pread(fd, b.p, b.n, 0) == (ssize_t)b.n, "read", path);
	(void)close(fd);
	b.p[b.n] = 0;
	return b;
}

void
bed_write(struct trial *t, const char *path, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	S_must(t, fd >= 0 && write(fd, p, n) == (ssize_t)n && !close(fd),
	       "write", path);
}

void
bed_patch(struct trial *t, const char *path, off_t at, const void *p,
	  size_t n)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	S_must(t, fd >= 0 && pwrite(fd, p, n, at) == (ssize_t)n &&
	       !close(fd), "patch", path);
}

void
bed_copy(struct trial *t, const char *from, const char *to)
{
	struct bed_bytes b = bed_read(t, from);

	bed_write(t, to, b.p, b.n);
	free(b.p);
}

void
bed_rename(struct trial *t, const char *from, const char *to)
{
	S_must(t, rename(from, to) == 0, "rename", from);
}

void
bed_exchange(struct trial *t, const char *a, const char *b)
{
	S_must(t, renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0,
	       "exchange", a);
}

void
bed_link(struct trial *t, const char *from, const char *to)
{
	S_must(t, link(from, to) == 0, "link", to);
}

void
bed_symlink(struct trial *t, const char *target, const char *path)
{
	S_must(t, symlink(target, path) == 0, "symlink", path);
}

void
bed_fifo(struct trial *t, const char *path)
{
	S_must(t, mkfifo(path, 0600) == 0, "mkfifo", path);
}

void
bed_mkdir(struct trial *t, const char *path)
{
	S_must(t, mkdir(path, 0700) == 0, "mkdir", path);
}

void
bed_unlink(struct trial *t, const char *path)
{
	S_must(t, unlink(path) == 0, "unlink", path);
}

bool
bed_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

off_t
bed_size(struct trial *t, const char *path)
{
	struct stat st;

	S_must(t, stat(path, &st) == 0, "stat", path);
	return st.st_size;
}

bool
bed_equal(struct trial *t, const char *a, const char *b)
{
	struct bed_bytes x = bed_read(t, a), y = bed_read(t, b);
	bool equal = x.n == y.n && memcmp(x.p, y.p, x.n) == 0;

	free(x.p);
	free(y.p);
	return equal;
}

ino_t
bed_inode(struct trial *t, const char *path)
{
	struct stat st;

	S_must(t, lstat(path, &st) == 0, "stat", path);
	return st.st_ino;
}
