/*
 * vfs_file.h - one open file of the held VFS; for vfs.c alone
 */
#ifndef RECOVER_VFS_FILE_H
#define RECOVER_VFS_FILE_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "recover/images.h"
#include "recover/overlay.h"
#include "recover/vfs.h"

#define VFS_NAME_BYTES 32

struct vfs {
	sqlite3_vfs images_vfs, memory_vfs;
	char images_name[VFS_NAME_BYTES], memory_name[VFS_NAME_BYTES];
	struct vfs_options o;
	struct overlay *overlay;	/* owned; NULL: main is its image */
	bool frozen;
	bool journal_gone;
	atomic_ullong random;
};

enum vfs_kind {
	VFS_KIND_MAIN,
	VFS_KIND_WAL,
	VFS_KIND_JOURNAL,
};

struct vfs_file {
	sqlite3_file base;
	struct vfs *v;
	struct images_reader *r;	/* owned */
	enum vfs_kind kind;
	bool writable;
	unsigned char **region;		/* owned, and what it points to */
	size_t nregion;
};

extern const sqlite3_io_methods vfs_file_methods;

#endif
