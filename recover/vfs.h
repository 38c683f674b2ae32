/*
 * vfs.h - the files that SQLite sees: held images, and nothing else
 *
 * Lifecycle: vfs_setup once, before the sandbox; vfs_new for each database,
 * sqlite3_open_v2(VFS_MAIN, …, vfs_images_name), vfs_free when all of its
 * connections are closed.
 *
 * Trust: no path of any kind is opened. Three names exist: VFS_MAIN, its
 * -wal and its -journal; all else is absent, and deleting only makes the
 * journal look gone. Main and WAL are read-only, except that the connection
 * which rolls back a hot journal writes to a copy-on-write main in memory.
 * Each connection has a wal-index of its own on the heap, so that SQLite
 * recovers the WAL itself, every time, and no two connections share locks.
 */
#ifndef RECOVER_VFS_H
#define RECOVER_VFS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "recover/images.h"

#define VFS_MAIN "/main"

struct vfs;

struct vfs_options {
	struct images *images;	/* borrowed */
	bool journal;		/* show the journal: it may be hot */
	bool wal;		/* show a WAL, an empty one if none is there */
	uint64_t wal_bytes;	/* of it that show */
	uint64_t now_ns;	/* CLOCK_REALTIME: SQL's now */
	uint64_t memory;	/* bytes that a rollback may take */
};

/*
 * Takes every VFS that can open files off SQLite's list and puts one there
 * that can't, as the default. SQLite is initialised already. What was taken
 * off can be registered again (the unit tests do).
 */
int
vfs_setup(struct fault *f);

int
vfs_new(struct vfs **v, const struct vfs_options *o, struct fault *f);
void
vfs_free(struct vfs *v);

/* Of the VFS over the images, and of one for shared memory databases whose
   now is the same; borrowed until vfs_free. */
const char *
vfs_images_name(const struct vfs *v);
const char *
vfs_memory_name(const struct vfs *v);

/* Recovery is over: main is what it is now, and read-only. */
void
vfs_freeze(struct vfs *v);

/* SQLite has dealt with the journal and deleted it. */
bool
vfs_journal_gone(const struct vfs *v);

/* Main as it is now; what lies behind its end reads as zeros. */
uint64_t
vfs_main_size(const struct vfs *v);
int
vfs_main_read(const struct vfs *v, struct images_reader *r, uint64_t offset,
	      void *bytes, size_t n, struct fault *f);

/* The wal-index of a connection over the images; 0 regions: it has none. */
void
vfs_wal_index(sqlite3 *db, unsigned char *const **region, size_t *n);

/* The images that a connection reads, or NULL: it is none of ours. */
struct images *
vfs_images_of(sqlite3 *db);

#endif
