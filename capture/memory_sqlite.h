/*
 * memory_sqlite.h - SQLite's own structures in the memory of a process
 *
 * Format: as in SQLite's sources for 64-bit machines. A connection
 * keeps for each database (offsets in bytes)
 *
 *   unixFile, os_unix.c	0 pMethod, 8 pVfs, 16 pInode, 24 h, ... pShm
 *   unixInodeInfo		0 st_dev, 8 st_ino
 *   unixShm			0 pShmNode
 *   unixShmNode		0 pInode, 24 hShm
 *   Pager, pager.c		0 pVfs, ... fd, jfd, sjfd, ... pWal, ...
 *   Wal, wal.c			0 pVfs, 8 pDbFd, 16 pWalFd
 *
 * and allocates the unixFile of main and of the journal behind the Pager, that
 * of the WAL behind the Wal. "..." differs among versions and builds: what
 * stands there is found by what it must point to. A main's unixFile counts if
 *
 *   1. pMethod is a method table in a private mapping of a file: a version
 *	from 1 to 3, then pointers into executable mappings of that file;
 *   2. pVfs shows a version from 1 to 3 and a plausible szOsFile;
 *   3. h is a descriptor that the process has, of a main;
 *   4. pInode shows the device and inode that the kernel gives for h.
 *
 * And what it uses, is read on from there:
 *
 *   5. a Pager right before it names it as fd, with the same pVfs;
 *   6. its jfd, where it is a unixFile by 1-3, is the journal;
 *   7. its pWal, where that Wal names the same pVfs, this unixFile as pDbFd
 *	and a unixFile by 1-3 right behind itself as pWalFd, gives the WAL;
 *   8. a pShm whose node has the same pInode gives the SHM.
 *
 * So a closed connection gives nothing: SQLite zeroes a unixFile when it
 * closes it, and no Pager points to a Wal that was freed.
 *
 * Trust: nobody. Rows that somebody chose lie in the same memory: no length
 * is taken from it, every pointer is read through the view, and what comes
 * out are numbers of descriptors that the kernel has shown.
 */
#ifndef CAPTURE_MEMORY_SQLITE_H
#define CAPTURE_MEMORY_SQLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/role.h"
#include "capture/memory_map.h"

/* A regular file that the process has open. */
struct memory_fd {
	int fd;
	uint64_t dev, ino;
	bool main;		/* of a database that could be the one */
};

struct memory_fds {
	const struct memory_fd *list;
	size_t count;
};

#define MEMORY_NOTHING (-1)	/* it uses no such file */
#define MEMORY_TWO (-2)		/* two answers */

/* One open database of one connection. */
struct memory_file {
	uint64_t at;			/* its unixFile */
	int of[ROLE_COUNT];		/* descriptors; of[ROLE_MAIN] is h */
};

/* 0, or 1: what is at that address is no main's unixFile. */
int
memory_sqlite_file(const struct memory_view *v, const struct memory_fds *fds,
		   uint64_t at, struct memory_file *file);

/* How much may be searched. */
struct memory_budget {
	uint64_t bytes;		/* less what was read so far */
	uint64_t deadline_ns;	/* clock_mono_ns */
};

struct memory_found {
	uint64_t *at;		/* owned: addresses of mains' unixFiles */
	size_t count;
};

#define MEMORY_FOUND_INIT { .at = NULL, .count = 0 }

enum memory_end {
	MEMORY_ALL,		/* everything was searched */
	MEMORY_TOO_MUCH,	/* more than the budget */
	MEMORY_DENIED,		/* it may not be read: *err */
};

/*
 * Searches all private memory. *found (empty before) holds what was found by
 * then, however it ended.
 */
enum memory_end
memory_sqlite_find(const struct memory_view *v, const struct memory_fds *fds,
		   struct memory_budget *b, struct memory_found *found,
		   int *err);

void
memory_found_free(struct memory_found *found);

#define OWN_MEMORY_FOUND(name) \
	struct memory_found name \
		__attribute__((cleanup(memory_found_free))) = \
		MEMORY_FOUND_INIT

#endif
