/*
 * vfs_file.c - one open file of the held VFS
 */
#include "recover/vfs_file.h"

#include <stdlib.h>
#include <string.h>

#define REGION_BYTES 32768
#define REGIONS_MAX (1u << 20)

static uint64_t
S_size(const struct vfs_file *p)
{
	switch (p->kind) {
	case VFS_KIND_MAIN:
		return vfs_main_size(p->v);
	case VFS_KIND_WAL:
		return p->v->o.wal_bytes;
	case VFS_KIND_JOURNAL:
		return images_size(p->v->o.images, ROLE_JOURNAL);
	}
	return 0;
}

static int
S_close(sqlite3_file *file)
{
	struct vfs_file *p = (struct vfs_file *)file;

	for (size_t i = 0; i < p->nregion; i++)
		free(p->region[i]);
	free(p->region);
	images_reader_free(p->r);
	return SQLITE_OK;
}

static int
S_read(sqlite3_file *file, void *bytes, int n, sqlite3_int64 offset)
{
	struct vfs_file *p = (struct vfs_file *)file;
	uint64_t size = S_size(p), at = (uint64_t)offset;
	struct fault f = FAULT_INIT;
	size_t have = 0;
	int rc;

	if (at < size)
		have = size - at < (size_t)n ? (size_t)(size - at) : (size_t)n;
	memset((char *)bytes + have, 0, (size_t)n - have);
	if (have == 0)
		return SQLITE_IOERR_SHORT_READ;
	if (p->kind == VFS_KIND_MAIN)
		rc = vfs_main_read(p->v, p->r, at, bytes, have, &f);
	else
		rc = images_read(p->r, p->kind == VFS_KIND_WAL ? ROLE_WAL
				 : ROLE_JOURNAL, at, bytes, have, &f);
	if (rc)
		return SQLITE_IOERR_READ;
	return have < (size_t)n ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int
S_changed(struct vfs_file *p, int rc, const struct fault *f, int sqlite_rc)
{
	if (!rc)
		return SQLITE_OK;
	images_keep(p->v->o.images, f);
	return sqlite_rc;
}

static int
S_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 offset)
{
	struct vfs_file *p = (struct vfs_file *)file;
	struct fault f = FAULT_INIT;

	if (!p->writable || p->kind != VFS_KIND_MAIN)
		return SQLITE_READONLY;
	return S_changed(p, overlay_write(p->v->overlay, p->r,
					  (uint64_t)offset, bytes, (size_t)n,
					  &f), &f, SQLITE_IOERR_WRITE);
}

static int
S_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct vfs_file *p = (struct vfs_file *)file;
	struct fault f = FAULT_INIT;

	if (!p->writable || p->kind != VFS_KIND_MAIN)
		return SQLITE_READONLY;
	return S_changed(p, overlay_truncate(p->v->overlay, p->r,
					     (uint64_t)size, &f),
			 &f, SQLITE_IOERR_TRUNCATE);
}

static int
S_sync(sqlite3_file *file, int flags)
{
	(void)file;
	(void)flags;
	return SQLITE_OK;
}

static int
S_file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)S_size((struct vfs_file *)file);
	return SQLITE_OK;
}

static int
S_lock(sqlite3_file *file, int level)
{
	(void)file;
	(void)level;
	return SQLITE_OK;
}

/* Nobody writes: a journal that could be hot is hot. */
static int
S_reserved(sqlite3_file *file, int *out)
{
	(void)file;
	*out = 0;
	return SQLITE_OK;
}

static int
S_control(sqlite3_file *file, int op, void *arg)
{
	(void)file;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int
S_sector(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

/*
 * As the unix VFS says it. Without it the pager would take journals for
 * written in sectors of S_sector, and pass over a short hot one in silence.
 */
static int
S_characteristics(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int
S_shm_map(sqlite3_file *file, int i, int size, int extend, void volatile **at)
{
	struct vfs_file *p = (struct vfs_file *)file;
	size_t want = (size_t)i + 1;

	*at = NULL;
	if (size != REGION_BYTES || want > REGIONS_MAX)
		return SQLITE_IOERR_SHMMAP;
	if (want > p->nregion) {
		unsigned char **grown;

		if (!extend)
			return SQLITE_OK;
		grown = realloc(p->region, want * sizeof(*grown));
		if (!grown)
			return SQLITE_IOERR_NOMEM;
		while (p->nregion < want)
			(p->region = grown)[p->nregion++] = NULL;
	}
	if (!p->region[i])
		p->region[i] = calloc(1, REGION_BYTES);
	*at = p->region[i];
	return *at ? SQLITE_OK : SQLITE_IOERR_NOMEM;
}

static int
S_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
	(void)file;
	(void)offset;
	(void)n;
	(void)flags;
	return SQLITE_OK;
}

static void
S_shm_barrier(sqlite3_file *file)
{
	(void)file;
	atomic_thread_fence(memory_order_seq_cst);
}

/* The regions go with the file: state_open looks at them until then. */
static int
S_shm_unmap(sqlite3_file *file, int delete)
{
	(void)file;
	(void)delete;
	return SQLITE_OK;
}

const sqlite3_io_methods vfs_file_methods = {
	.iVersion = 2,
	.xClose = S_close,
	.xRead = S_read,
	.xWrite = S_write,
	.xTruncate = S_truncate,
	.xSync = S_sync,
	.xFileSize = S_file_size,
	.xLock = S_lock,
	.xUnlock = S_lock,
	.xCheckReservedLock = S_reserved,
	.xFileControl = S_control,
	.xSectorSize = S_sector,
	.xDeviceCharacteristics = S_characteristics,
	.xShmMap = S_shm_map,
	.xShmLock = S_shm_lock,
	.xShmBarrier = S_shm_barrier,
	.xShmUnmap = S_shm_unmap,
};
