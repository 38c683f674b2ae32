/*
 * state.c - one database as recovered from its images, ready for SQL
 */
#include "recover/state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/plural.h"
#include "recover/account.h"
#include "recover/harden.h"
#include "recover/vfs.h"
#include "recover/walindex.h"

/* The copy in memory may take this share of the limit: there are two sides,
   and what SQL needs on top. */
#define MEMORY_SHARE 4u
/* Accounts of WAL and journal, and a rollback, may each take this share. */
#define ACCOUNT_SHARE 8u
#define NAME_BYTES 40
#define PAGE_SIZE_EMPTY 4096u	/* what SQLite would make of an empty file */

struct state {
	struct account acct;
	struct state_facts facts;
	struct vfs *vfs;		/* owned */
	uint64_t memory;		/* the limit */
	bool in_place;			/* never copied into memory */
	uint64_t now_ns;
	sqlite3 *db;			/* owned: holds the copy in memory, or
					   the first one over the images */
	char name[NAME_BYTES];		/* of the copy in memory */
	pthread_mutex_t lock;		/* of db and acct.reader */
};

/* A connection over the images, its SQL still to come. */
static int
S_open_images(const struct state *s, bool roll_back, sqlite3 **db,
	      struct fault *f)
{
	int flags = SQLITE_OPEN_NOMUTEX | (roll_back ? SQLITE_OPEN_READWRITE
					   : SQLITE_OPEN_READONLY);
	int rc = sqlite3_open_v2(VFS_MAIN, db, flags,
				 vfs_images_name(s->vfs));

	if (rc == SQLITE_OK)
		return harden(*db, f);
	rc = state_sql_fault(*db, rc, "open the images", f);
	(void)sqlite3_close(*db);
	*db = NULL;
	return rc;
}

static int
S_int(sqlite3 *db, const char *sql, int64_t *value, struct fault *f)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		*value = sqlite3_column_int64(st, 0);
		rc = SQLITE_OK;
	}
	if (rc != SQLITE_OK)
		rc = state_sql_fault(db, rc, "recover", f);
	(void)sqlite3_finalize(st);
	return rc;
}

/* The last good record of each page is what its page must hold now. */
static int
S_check_record(struct state *s, uint64_t i, unsigned char *pages,
	       struct fault *f)
{
	const struct journal_account *j = journal_account(s->acct.journal);
	struct journal_record rec = journal_record(s->acct.journal, i);
	size_t n = j->page_size;
	int rc = images_read(s->acct.reader, ROLE_JOURNAL, rec.offset, pages,
			     n, f);

	if (!rc)
		rc = vfs_main_read(s->vfs, s->acct.reader,
				   (uint64_t)(rec.pgno - 1) * n, pages + n, n,
				   f);
	if (!rc && memcmp(pages, pages + n, n) != 0)
		rc = fault_set(f, FAULT_DAMAGED, "the rollback disagrees on "
			       "page %u: it is not what the journal recorded",
			       rec.pgno);
	return rc;
}

static int
S_check_rollback(struct state *s, struct fault *f)
{
	const struct journal_account *j = journal_account(s->acct.journal);
	OWN_MEM(unsigned char, pages);
	OWN_MEM(unsigned char, seen);
	int rc = 0;

	if (!vfs_journal_gone(s->vfs) ||
	    vfs_main_size(s->vfs) != (uint64_t)j->pages * j->page_size)
		return fault_set(f, FAULT_DAMAGED, "the rollback disagrees: "
				 "main has %llu bytes, the journal says %u "
				 "page%s of %u",
				 (unsigned long long)vfs_main_size(s->vfs),
				 j->pages, plural_s(j->pages), j->page_size);
	pages = malloc(2 * (size_t)j->page_size);
	seen = calloc((size_t)j->pages / 8 + 1, 1);
	if (!pages || !seen)
		return fault_set(f, FAULT_CAP, "out of memory for the "
				 "journal: see --memory-limit");
	for (uint64_t i = j->records; !rc && i > 0; i--) {
		uint32_t p = journal_record(s->acct.journal, i - 1).pgno - 1;

		if (seen[p / 8] & 1u << p % 8)
			continue;
		seen[p / 8] |= (unsigned char)(1u << p % 8);
		rc = S_check_record(s, i - 1, pages, f);
	}
	return rc;
}

static int
S_check_wal_index(struct state *s, struct fault *f)
{
	unsigned char *const *region;
	size_t n;

	vfs_wal_index(s->db, &region, &n);
	return walindex_check(s->acct.wal, s->acct.frames, region, n, f);
}

/* Lets SQLite recover, and holds what it made against our own account. */
static int
S_recover(struct state *s, struct fault *f)
{
	bool hot = journal_hot(s->acct.journal);
	int64_t version;
	int rc = S_open_images(s, hot, &s->db, f);

	if (!rc)
		rc = S_int(s->db, "PRAGMA schema_version", &version, f);
	if (!rc && hot)
		rc = S_check_rollback(s, f);
	if (!rc)
		rc = S_check_wal_index(s, f);
	vfs_freeze(s->vfs);
	return rc;
}

/* n bytes of one page; only page 1 differs from what lies in the images. */
static int
S_page(struct state *s, uint32_t pgno, unsigned char *bytes, struct fault *f)
{
	uint64_t frame = wal_find(s->acct.wal, pgno);
	uint32_t size = s->facts.page_size;
	int rc;

	if (frame)
		rc = wal_page(s->acct.wal, s->acct.reader, frame, bytes, f);
	else
		rc = vfs_main_read(s->vfs, s->acct.reader,
				   (uint64_t)(pgno - 1) * size, bytes, size,
				   f);
	if (!rc && pgno == 1)
		memset(bytes + HEADER_AT_VERSIONS, 1, 2);
	return rc;
}

static int
S_take_facts(struct state *s, struct fault *f)
{
	OWN_MEM(unsigned char, page);
	struct header h;
	int64_t size, pages;
	int rc = S_int(s->db, "PRAGMA page_size", &size, f);

	if (!rc)
		rc = S_int(s->db, "PRAGMA page_count", &pages, f);
	if (rc)
		return rc;
	s->facts.page_count = (uint32_t)pages;
	s->facts.page_size = pages ? (uint32_t)size : PAGE_SIZE_EMPTY;
	if (pages == 0)
		return 0;
	page = malloc(s->facts.page_size);
	if (!page)
		return fault_set(f, FAULT_TROUBLE, "out of memory: page 1");
	rc = S_page(s, 1, page, f);
	if (rc)
		return rc;
	header_decode(page, HEADER_BYTES, &h);
	rc = account_header(&h, vfs_main_size(s->vfs), f);
	if (!rc && h.page_size != s->facts.page_size)
		rc = fault_set(f, FAULT_DAMAGED, "SQLite reads pages of %u "
			       "bytes, and the header says %u",
			       s->facts.page_size, h.page_size);
	s->facts.encoding = h.encoding;
	return rc;
}

static bool
S_fits(const struct state *s)
{
	return !s->in_place &&
		(uint64_t)s->facts.page_count * s->facts.page_size <=
		s->memory / MEMORY_SHARE;
}

static int
S_backup(struct state *s, sqlite3 *to, struct fault *f)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", s->db, "main");
	struct fault kept = FAULT_INIT;
	int rc;

	if (!b)
		return state_sql_fault(to, sqlite3_errcode(to),
				       "copy into memory", f);
	(void)sqlite3_backup_step(b, -1);
	rc = sqlite3_backup_finish(b);
	if (rc == SQLITE_OK)
		return 0;
	/* The images' own fault says more than either connection. */
	if (images_fault(s->acct.images, &kept)) {
		*f = kept;
		return fault_wrap(f, "copy into memory");
	}
	return state_sql_fault(to, rc, "copy into memory", f);
}

/*
 * The backup counts its own transaction in the header; the recovered state
 * has the header of the images, without the WAL, which is part of it now.
 */
static int
S_put_header(struct state *s, sqlite3_file *to, struct fault *f)
{
	OWN_MEM(unsigned char, page);
	int rc;

	page = malloc(s->facts.page_size);
	if (!page)
		return fault_set(f, FAULT_TROUBLE, "out of memory: page 1");
	rc = S_page(s, 1, page, f);
	if (!rc && to->pMethods->xWrite(to, page, HEADER_BYTES, 0))
		rc = fault_set(f, FAULT_TROUBLE,
			       "the copy in memory takes no header");
	return rc;
}

static sqlite3_file *
S_memory_file(sqlite3 *db)
{
	sqlite3_file *file = NULL;

	MUST(sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER,
				  &file) == SQLITE_OK && file);
	return file;
}

static int
S_open_memory(const struct state *s, sqlite3 **db, struct fault *f)
{
	int rc = sqlite3_open_v2(s->name, db, SQLITE_OPEN_READWRITE |
				 SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				 vfs_memory_name(s->vfs));

	if (rc == SQLITE_OK)
		return 0;
	rc = state_sql_fault(*db, rc, "open the copy in memory", f);
	(void)sqlite3_close(*db);
	*db = NULL;
	return rc;
}

/* The images' connection is closed when the copy stands. */
static int
S_into_memory(struct state *s, struct fault *f)
{
	static atomic_uint count;
	sqlite3_int64 limit = (sqlite3_int64)s->facts.page_count *
		s->facts.page_size;
	sqlite3 *copy = NULL;
	int rc;

	/* Only a name with a slash is shared among connections. */
	(void)snprintf(s->name, sizeof(s->name), "/holdfast-side-%u",
		       atomic_fetch_add(&count, 1));
	rc = S_open_memory(s, &copy, f);
	if (rc)
		return rc;
	/* memdb doubles its memory as it grows, but not past this. */
	(void)sqlite3_file_control(copy, "main", SQLITE_FCNTL_SIZE_LIMIT,
				   &limit);
	if (s->facts.page_count > 0)
		rc = S_backup(s, copy, f);
	if (!rc && s->facts.page_count > 0)
		rc = S_put_header(s, S_memory_file(copy), f);
	if (rc) {
		(void)sqlite3_close(copy);
		return rc;
	}
	(void)sqlite3_close(s->db);
	s->db = copy;
	s->facts.in_memory = true;
	return 0;
}

static int
S_judge(struct state *s, const struct ask_side *side, enum state_view view,
	struct fault *f)
{
	struct account *a = &s->acct;
	int rc = account_open(a, side, s->memory / ACCOUNT_SHARE, f);

	if (!rc && !images_has(a->images, ROLE_MAIN))
		rc = fault_set(f, FAULT_USAGE, "there is no main file");
	if (!rc)
		rc = account_judge(a, view, f);
	if (rc)
		return rc;
	s->in_place = side->in_place != 0;
	s->facts.wal = *wal_account(a->wal);
	s->facts.journal = *journal_account(a->journal);
	s->facts.wal_mode = a->header.wal;
	s->facts.live_known = a->live_known;
	s->facts.live_frames = a->live_frames;
	s->facts.views_agree = a->views_agree;
	s->facts.view = view == STATE_VIEW_LIVE ? "live" : "recovery";
	return 0;
}

static int
S_make_vfs(struct state *s, struct fault *f)
{
	const struct account *a = &s->acct;
	struct vfs_options o = {
		.images = a->images,
		.journal = journal_hot(a->journal),
		.wal = a->frames > 0 || a->header.wal,
		.wal_bytes = images_size(a->images, ROLE_WAL),
		.now_ns = s->now_ns,
		.memory = s->memory / ACCOUNT_SHARE,
	};
	uint64_t each = WAL_FRAME_HEAD_BYTES +
		(uint64_t)wal_account(a->wal)->page_size;

	/* An earlier commit is a shorter WAL: SQLite's own recovery then
	   gives exactly that one. */
	if (a->frames == 0)
		o.wal_bytes = 0;
	else if (a->frames < wal_account(a->wal)->committed)
		o.wal_bytes = WAL_HEADER_BYTES + a->frames * each;
	return vfs_new(&s->vfs, &o, f);
}

static int
S_open(struct state *s, const struct ask_side *side, enum state_view view,
       struct fault *f)
{
	int rc = S_judge(s, side, view, f);

	if (!rc)
		rc = S_make_vfs(s, f);
	if (!rc)
		rc = S_recover(s, f);
	if (!rc)
		rc = S_take_facts(s, f);
	if (!rc && S_fits(s))
		rc = S_into_memory(s, f);
	return rc;
}

int
state_open(struct state **s, const struct ask_side *side,
	   enum state_view view, uint64_t memory_limit, struct fault *f)
{
	struct state *n = calloc(1, sizeof(*n));
	int rc;

	if (!n)
		return fault_set(f, FAULT_TROUBLE, "out of memory: state");
	MUST(pthread_mutex_init(&n->lock, NULL) == 0);
	n->memory = memory_limit ? memory_limit : ASK_MEMORY_DEFAULT;
	n->now_ns = side->now_ns;
	(void)sqlite3_hard_heap_limit64((sqlite3_int64)n->memory);
	rc = S_open(n, side, view, f);
	if (rc) {
		state_free(n);
		return rc;
	}
	*s = n;
	return 0;
}

const struct state_facts *
state_facts(const struct state *s)
{
	return &s->facts;
}

int
state_connect(struct state *s, sqlite3 **db, struct fault *f)
{
	sqlite3 *n = NULL;
	int rc;

	if (!s->facts.in_memory) {
		rc = S_open_images(s, false, &n, f);
	} else {
		rc = S_open_memory(s, &n, f);
		if (!rc)
			rc = harden(n, f);
	}
	if (rc) {
		(void)sqlite3_close(n);
		return rc;
	}
	*db = n;
	return 0;
}

static int
S_copy(struct state *s, uint64_t offset, unsigned char *bytes, size_t n,
       struct fault *f)
{
	uint32_t size = s->facts.page_size;
	int rc = 0;

	if (s->facts.in_memory) {
		sqlite3_file *file = S_memory_file(s->db);

		for (size_t at = 0; !rc && at < n; at += size)
			if (file->pMethods->xRead(file, bytes + at, (int)size,
						  (sqlite3_int64)(offset + at)))
				rc = fault_set(f, FAULT_TROUBLE, "the copy in "
					       "memory can't be read");
		return rc;
	}
	for (size_t at = 0; !rc && at < n; at += size)
		rc = S_page(s, (uint32_t)((offset + at) / size) + 1,
			    bytes + at, f);
	return rc;
}

int
state_pages(struct state *s, uint64_t offset, void *bytes, size_t n,
	    struct fault *f)
{
	uint64_t size = s->facts.page_size;
	uint64_t all = size * s->facts.page_count;
	int rc;

	MUST(offset % size == 0 && n % size == 0);
	MUST(offset <= all && n <= all - offset);
	(void)pthread_mutex_lock(&s->lock);
	rc = S_copy(s, offset, bytes, n, f);
	(void)pthread_mutex_unlock(&s->lock);
	return rc;
}

int
state_finish(struct state *s, struct fault *f)
{
	return images_finish(s->acct.images, f);
}

void
state_free(struct state *s)
{
	if (!s)
		return;
	(void)sqlite3_close(s->db);
	vfs_free(s->vfs);
	account_free(&s->acct);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}
