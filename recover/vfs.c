/*
 * vfs.c - the files that SQLite sees: held images, and nothing else
 */
#include "recover/vfs.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recover/overlay.h"

#define VFS_PATH_MAX 512	/* as the unix VFS: it bounds super-journals */
#define VFS_NAME_BYTES 32
#define REGION_BYTES 32768
#define REGIONS_MAX (1u << 20)
/* Milliseconds from the start of the Julian calendar to 1970. */
#define JULIAN_1970_MS 210866760000000ll

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
	KIND_MAIN,
	KIND_WAL,
	KIND_JOURNAL,
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

static uint64_t
S_size(const struct vfs_file *p)
{
	switch (p->kind) {
	case KIND_MAIN:
		return vfs_main_size(p->v);
	case KIND_WAL:
		return p->v->o.wal_bytes;
	case KIND_JOURNAL:
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
	if (p->kind == KIND_MAIN)
		rc = vfs_main_read(p->v, p->r, at, bytes, have, &f);
	else
		rc = images_read(p->r, p->kind == KIND_WAL ? ROLE_WAL
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

	if (!p->writable || p->kind != KIND_MAIN)
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

	if (!p->writable || p->kind != KIND_MAIN)
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

static const sqlite3_io_methods methods = {
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

static bool
S_rolls_back(const struct vfs *v)
{
	return v->o.journal && !v->journal_gone;
}

/* 0 and *kind, or 1: there is no such file. */
static int
S_kind(const struct vfs *v, const char *name, enum vfs_kind *kind)
{
	if (!name || !v->o.images)
		return 1;
	if (strcmp(name, VFS_MAIN) == 0)
		*kind = KIND_MAIN;
	else if (strcmp(name, VFS_MAIN "-wal") == 0 && v->o.wal)
		*kind = KIND_WAL;
	else if (strcmp(name, VFS_MAIN "-journal") == 0 && S_rolls_back(v))
		*kind = KIND_JOURNAL;
	else
		return 1;
	return 0;
}

static int
S_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
       int *out)
{
	struct vfs *v = vfs->pAppData;
	struct vfs_file *p = (struct vfs_file *)file;
	struct fault f = FAULT_INIT;
	enum vfs_kind kind;

	memset(p, 0, sizeof(*p));
	if (S_kind(v, name, &kind) || (flags & SQLITE_OPEN_DELETEONCLOSE))
		return SQLITE_CANTOPEN;
	if (images_reader_new(&p->r, v->o.images, &f)) {
		images_keep(v->o.images, &f);
		return SQLITE_NOMEM;
	}
	p->base.pMethods = &methods;
	p->v = v;
	p->kind = kind;
	p->writable = kind != KIND_WAL && !v->frozen && v->overlay &&
		(flags & SQLITE_OPEN_READWRITE);
	if (!p->writable)
		flags = (flags & ~(SQLITE_OPEN_READWRITE |
				   SQLITE_OPEN_CREATE)) |
			SQLITE_OPEN_READONLY;
	if (out)
		*out = flags;
	return SQLITE_OK;
}

static int
S_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	struct vfs *v = vfs->pAppData;
	enum vfs_kind kind;

	(void)sync;
	if (S_kind(v, name, &kind) || kind != KIND_JOURNAL)
		return SQLITE_IOERR_DELETE_NOENT;
	v->journal_gone = true;
	return SQLITE_OK;
}

static int
S_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	enum vfs_kind kind;

	(void)flags;
	*out = S_kind(vfs->pAppData, name, &kind) == 0;
	return SQLITE_OK;
}

static int
S_full(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	(void)vfs;
	return snprintf(out, (size_t)n, "%s", name) < n ? SQLITE_OK
							: SQLITE_CANTOPEN;
}

/* SplitMix64: names and salts that nobody will see. */
static int
S_randomness(sqlite3_vfs *vfs, int n, char *out)
{
	struct vfs *v = vfs->pAppData;

	for (int i = 0; i < n; i++) {
		uint64_t z = atomic_fetch_add(&v->random,
					      0x9e3779b97f4a7c15ull);

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ z >> 27) * 0x94d049bb133111ebull;
		out[i] = (char)(z >> 56);
	}
	return n;
}

static int
S_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return us;
}

static int
S_now(sqlite3_vfs *vfs, sqlite3_int64 *ms)
{
	const struct vfs *v = vfs->pAppData;

	*ms = JULIAN_1970_MS + (sqlite3_int64)(v->o.now_ns / 1000000u);
	return SQLITE_OK;
}

static int
S_now_days(sqlite3_vfs *vfs, double *days)
{
	sqlite3_int64 ms;

	(void)S_now(vfs, &ms);
	*days = (double)ms / 86400000.0;
	return SQLITE_OK;
}

static int
S_last_error(sqlite3_vfs *vfs, int n, char *text)
{
	(void)vfs;
	if (n > 0)
		text[0] = '\0';
	return 0;
}

static void
S_fill(struct vfs *v)
{
	v->images_vfs = (sqlite3_vfs) {
		.iVersion = 2,
		.szOsFile = (int)sizeof(struct vfs_file),
		.mxPathname = VFS_PATH_MAX,
		.zName = v->images_name,
		.pAppData = v,
		.xOpen = S_open,
		.xDelete = S_delete,
		.xAccess = S_access,
		.xFullPathname = S_full,
		.xRandomness = S_randomness,
		.xSleep = S_sleep,
		.xCurrentTime = S_now_days,
		.xGetLastError = S_last_error,
		.xCurrentTimeInt64 = S_now,
	};
	sqlite3_randomness((int)sizeof(v->random), &v->random);
}

/* The default: one without any image, which opens nothing. */
static struct vfs nothing = { .images_name = "holdfast" };

int
vfs_setup(struct fault *f)
{
	sqlite3_vfs *v = sqlite3_vfs_find(NULL);

	S_fill(&nothing);
	if (sqlite3_vfs_register(&nothing.images_vfs, 1) != SQLITE_OK)
		return fault_set(f, FAULT_TROUBLE, "SQLite takes no VFS");
	while (v) {
		sqlite3_vfs *next = v->pNext;

		if (v != &nothing.images_vfs && strcmp(v->zName, "memdb") != 0)
			(void)sqlite3_vfs_unregister(v);
		v = next;
	}
	return 0;
}

static int
S_register(struct vfs *n, struct fault *f)
{
	static atomic_uint count;
	unsigned nth = atomic_fetch_add(&count, 1);
	sqlite3_vfs *memdb = sqlite3_vfs_find("memdb");

	if (!memdb)
		return fault_set(f, FAULT_TROUBLE,
				 "this SQLite has no memdb VFS");
	(void)snprintf(n->images_name, sizeof(n->images_name),
		       "holdfast-images-%u", nth);
	(void)snprintf(n->memory_name, sizeof(n->memory_name),
		       "holdfast-memory-%u", nth);
	S_fill(n);
	/* memdb asks the VFS in its pAppData for the time: ours. */
	n->memory_vfs = *memdb;
	n->memory_vfs.pNext = NULL;
	n->memory_vfs.zName = n->memory_name;
	n->memory_vfs.pAppData = &n->images_vfs;
	if (sqlite3_vfs_register(&n->images_vfs, 0) != SQLITE_OK ||
	    sqlite3_vfs_register(&n->memory_vfs, 0) != SQLITE_OK)
		return fault_set(f, FAULT_TROUBLE, "SQLite takes no VFS");
	return 0;
}

int
vfs_new(struct vfs **v, const struct vfs_options *o, struct fault *f)
{
	struct vfs *n = calloc(1, sizeof(*n));
	int rc = 0;

	if (!n)
		return fault_set(f, FAULT_TROUBLE, "out of memory: VFS");
	n->o = *o;
	if (o->journal)
		rc = overlay_new(&n->overlay, o->images, o->memory, f);
	if (!rc)
		rc = S_register(n, f);
	if (rc) {
		vfs_free(n);
		return rc;
	}
	*v = n;
	return 0;
}

void
vfs_free(struct vfs *v)
{
	if (!v)
		return;
	(void)sqlite3_vfs_unregister(&v->images_vfs);
	(void)sqlite3_vfs_unregister(&v->memory_vfs);
	overlay_free(v->overlay);
	free(v);
}

const char *
vfs_images_name(const struct vfs *v)
{
	return v->images_name;
}

const char *
vfs_memory_name(const struct vfs *v)
{
	return v->memory_name;
}

void
vfs_freeze(struct vfs *v)
{
	v->frozen = true;
}

bool
vfs_journal_gone(const struct vfs *v)
{
	return v->journal_gone;
}

uint64_t
vfs_main_size(const struct vfs *v)
{
	return v->overlay ? overlay_size(v->overlay)
			  : images_size(v->o.images, ROLE_MAIN);
}

int
vfs_main_read(const struct vfs *v, struct images_reader *r, uint64_t offset,
	      void *bytes, size_t n, struct fault *f)
{
	uint64_t size = vfs_main_size(v);
	size_t have = 0;

	if (offset < size)
		have = size - offset < n ? (size_t)(size - offset) : n;
	memset((char *)bytes + have, 0, n - have);
	if (have == 0)
		return 0;
	if (v->overlay)
		return overlay_read(v->overlay, r, offset, bytes, have, f);
	return images_read(r, ROLE_MAIN, offset, bytes, have, f);
}

static struct vfs_file *
S_file_of(sqlite3 *db)
{
	sqlite3_file *file = NULL;

	if (!db || sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER,
					&file) != SQLITE_OK ||
	    !file || file->pMethods != &methods)
		return NULL;
	return (struct vfs_file *)file;
}

void
vfs_wal_index(sqlite3 *db, unsigned char *const **region, size_t *n)
{
	const struct vfs_file *p = S_file_of(db);

	*region = p ? p->region : NULL;
	*n = p ? p->nregion : 0;
}

struct images *
vfs_images_of(sqlite3 *db)
{
	const struct vfs_file *p = S_file_of(db);

	return p ? p->v->o.images : NULL;
}
