/*
 * vfs.c - the files that SQLite sees: held images, and nothing else
 */
#include "recover/vfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recover/vfs_file.h"

#define VFS_PATH_MAX 512	/* as the unix VFS: it bounds super-journals */
/* Milliseconds from the start of the Julian calendar to 1970. */
#define JULIAN_1970_MS 210866760000000ll

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
		*kind = VFS_KIND_MAIN;
	else if (strcmp(name, VFS_MAIN "-wal") == 0 && v->o.wal)
		*kind = VFS_KIND_WAL;
	else if (strcmp(name, VFS_MAIN "-journal") == 0 && S_rolls_back(v))
		*kind = VFS_KIND_JOURNAL;
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
	p->base.pMethods = &vfs_file_methods;
	p->v = v;
	p->kind = kind;
	p->writable = kind != VFS_KIND_WAL && !v->frozen && v->overlay &&
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
	if (S_kind(v, name, &kind) || kind != VFS_KIND_JOURNAL)
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
	    !file || file->pMethods != &vfs_file_methods)
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
