/*
 * own.h - owners that let go at the end of their block
 *
 * Declare an owner empty, fill it, hand it on with TAKE_*. An early return
 * is then always safe. Owners are undone in the reverse order of their
 * declaration.
 */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

/* close is never retried: on Linux the descriptor is gone even on EINTR. */
static inline void
own_fd_close(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static inline int
own_fd_take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline void
own_mem_free(void *p)
{
	void **slot = p;

	free(*slot);
	*slot = NULL;
}

static inline void *
own_mem_take(void *p)
{
	void **slot = p, *taken = *slot;

	*slot = NULL;
	return taken;
}

static inline void
own_dir_close(DIR **d)
{
	if (*d)
		(void)closedir(*d);
	*d = NULL;
}

#define OWN_FD(name) \
	int name __attribute__((cleanup(own_fd_close))) = -1
#define OWN_MEM(type, name) \
	type *name __attribute__((cleanup(own_mem_free))) = NULL
#define OWN_DIR(name) \
	DIR *name __attribute__((cleanup(own_dir_close))) = NULL

#define TAKE_FD(name) own_fd_take(&(name))
#define TAKE_MEM(name) ((__typeof__(name))own_mem_take(&(name)))

#endif
