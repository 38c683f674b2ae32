/*
 * store.c - the lease database, opened, and its transactions
 */
#include "lease/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/io.h"
#include "base/own.h"
#include "lease/schema.h"

#define STORE_WAIT_NS (5ull * CLOCK_NS_PER_SEC)
/*
 * The last one to close does not checkpoint and unlink the WAL as SQLite
 * would: that is more than half of what a short program costs. In return the
 * next one to open reads a WAL of at most so many pages.
 */
#define STORE_CLOSE_PAGES 96

struct place {
	char folder[PATH_MAX];
	char name[NAME_MAX + 1];
};

static int
S_split(const char *path, struct place *p, struct fault *f)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (!*name || strlen(name) + strlen("-journal") > NAME_MAX ||
	    n >= sizeof(p->folder))
		return fault_set(f, FAULT_USAGE,
				 "%s is no name for a database", path);
	(void)strcpy(p->name, name);
	(void)snprintf(p->folder, sizeof(p->folder), "%.*s", (int)n, path);
	if (n == 0)
		(void)strcpy(p->folder, slash ? "/" : ".");
	return 0;
}

/* As mkdir -p, for us alone. */
static int
S_make_folders(char *folder, struct fault *f)
{
	for (char *at = folder + 1; ; at++) {
		char was = *at;

		if (was && was != '/')
			continue;
		*at = '\0';
		if (mkdir(folder, 0700) && errno != EEXIST)
			return fault_sys(f, FAULT_TROUBLE, errno,
					 "make the folder %s", folder);
		*at = was;
		if (!was)
			return 0;
	}
}

static int
S_ours_alone(const struct stat *st, const char *what, struct fault *f)
{
	if (st->st_uid != geteuid())
		return fault_set(f, FAULT_REFUSED,
				 "%s belongs to uid %u, not to us", what,
				 st->st_uid);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return fault_set(f, FAULT_REFUSED, "others may write %s",
				 what);
	return 0;
}

static int
S_open_folder(struct store *s, struct place *p, struct fault *f)
{
	char real[PATH_MAX];
	struct stat st;
	int rc;

	s->dir = open(p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
				 O_CLOEXEC);
	if (s->dir < 0 && errno == ENOENT) {
		rc = S_make_folders(p->folder, f);
		if (rc)
			return rc;
		s->dir = open(p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					 O_CLOEXEC);
	}
	if (s->dir < 0 && (errno == ELOOP || errno == ENOTDIR))
		return fault_set(f, FAULT_REFUSED, "%s is no folder itself",
				 p->folder);
	if (s->dir < 0 || fstat(s->dir, &st) || !realpath(p->folder, real))
		return fault_sys(f, FAULT_TROUBLE, errno, "open the folder %s",
				 p->folder);
	(void)strcpy(p->folder, real);
	return S_ours_alone(&st, p->folder, f);
}

static bool
S_exists(const struct store *s, const char *name, const char *suffix)
{
	char full[NAME_MAX + 1];
	struct stat st;

	(void)snprintf(full, sizeof(full), "%s%s", name, suffix);
	return fstatat(s->dir, full, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What the header alone shows to be another program's is not even opened
   with SQLite. */
static int
S_look(struct store *s, const struct place *p, struct fault *f)
{
	unsigned char head[100];
	struct stat st;
	uint32_t id;
	size_t got;
	int rc;

	s->looked = openat(s->dir, p->name, O_RDONLY | O_CREAT | O_CLOEXEC |
					    O_NOFOLLOW | O_NONBLOCK, 0600);
	if (s->looked < 0 && errno == ELOOP)
		return fault_set(f, FAULT_REFUSED, "%s is a link", p->name);
	if (s->looked < 0 || fstat(s->looked, &st))
		return fault_sys(f, FAULT_TROUBLE, errno, "open %s", p->name);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return fault_set(f, FAULT_REFUSED,
				 "%s is no regular file with one name",
				 p->name);
	rc = S_ours_alone(&st, p->name, f);
	if (!rc)
		rc = io_pread(s->looked, head, sizeof(head), 0, &got, f);
	if (rc || got == 0)
		return rc;
	id = bytes_be32(head + 68);
	if (got < sizeof(head) || memcmp(head, "SQLite format 3", 16))
		return fault_set(f, FAULT_REFUSED,
				 "%s is no SQLite database", p->name);
	if (id != 0 && id != STORE_APPLICATION_ID)
		return schema_foreign(p->name, f);
	s->wal_mode = head[18] == 2;
	s->had_wal = S_exists(s, p->name, "-wal");
	return 0;
}

static int
S_after_commit(void *arg, sqlite3 *db, const char *name, int pages)
{
	struct store *s = arg;

	(void)db;
	(void)name;
	s->wal_pages = pages;
	/* As the automatic checkpoint, which this hook replaces. */
	if (pages >= 1000)
		(void)sqlite3_wal_checkpoint_v2(db, name,
			SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return SQLITE_OK;
}

static int
S_connect(struct store *s, const struct place *p, struct fault *f)
{
	char path[PATH_MAX];
	sqlite3 *db;
	int n = snprintf(path, sizeof(path), "%s/%s",
			 p->folder[1] ? p->folder : "", p->name);

	if (n < 0 || (size_t)n >= sizeof(path))
		return fault_set(f, FAULT_USAGE,
				 "the path of the database is too long");
	if (sqlite3_open_v2(path, &s->sql.db, SQLITE_OPEN_READWRITE |
			    SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return stmt_fault(s->sql.db, f, "open the database");
	db = s->sql.db;
	(void)sqlite3_extended_result_codes(db, 0);
	(void)sqlite3_busy_timeout(db, (int)(s->wait_ns / 1000000));
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	(void)sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	(void)sqlite3_wal_hook(db, S_after_commit, s);
	/* With NORMAL a power loss could hand a fence out twice. */
	if (sqlite3_exec(db, "PRAGMA synchronous=FULL", NULL, NULL, NULL))
		return stmt_fault(db, f, "set the database up");
	return 0;
}

static int
S_open(struct store *s, const char *path, struct fault *f)
{
	char queue[NAME_MAX + 1];
	struct place p;
	int rc = S_split(path, &p, f);

	if (!rc)
		rc = S_open_folder(s, &p, f);
	if (!rc)
		rc = S_look(s, &p, f);
	if (!rc)
		rc = S_connect(s, &p, f);
	if (!rc)
		rc = schema_ready(s, f);
	if (rc == 1) {
		/* Ours is still to be made: one at a time. */
		(void)snprintf(queue, sizeof(queue), "%s-queue", p.name);
		rc = queue_open(&s->queue, s->dir, queue, f);
		if (!rc)
			rc = schema_make(s, f);
	} else if (!rc) {
		(void)snprintf(queue, sizeof(queue), "%s-queue", p.name);
		rc = queue_open(&s->queue, s->dir, queue, f);
	}
	s->refused = rc == -FAULT_REFUSED;
	return rc;
}

int
store_open(struct store **s, const struct store_options *o, struct fault *f)
{
	struct store *new = calloc(1, sizeof(*new));
	int rc;

	if (!new)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	new->queue = (struct queue)QUEUE_INIT;
	new->dir = new->looked = -1;
	new->clock = o->clock;
	new->wait_ns = o->wait_ns ? o->wait_ns : STORE_WAIT_NS;
	rc = S_open(new, o->path, f);
	if (rc) {
		store_close(&new);
		return fault_wrap(f, "lease database %s", o->path);
	}
	*s = new;
	return 0;
}

/*
 * Emptied, not only copied back: the next one to open would find all its
 * frames valid again and append. Whoever reads right now keeps it from that,
 * and is not waited for.
 */
static void
S_empty_wal(struct store *s)
{
	(void)sqlite3_busy_timeout(s->sql.db, 0);
	(void)sqlite3_wal_checkpoint_v2(s->sql.db, NULL,
		SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

void
store_close(struct store **slot)
{
	struct store *s = *slot;

	if (!s)
		return;
	*slot = NULL;
	stmt_free(&s->sql);
	/* The sidecars that SQLite made for what we refused go with it. */
	if (s->sql.db && s->refused && !s->had_wal)
		(void)sqlite3_db_config(s->sql.db,
			SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	else if (s->wal_pages >= STORE_CLOSE_PAGES)
		S_empty_wal(s);
	(void)sqlite3_close(s->sql.db);
	queue_close(&s->queue);
	own_fd_close(&s->looked);
	own_fd_close(&s->dir);
	free(s);
}

static int
S_first_event(struct txn *t, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_LAST_EVENT, f, "");

	if (!rc)
		rc = stmt_row(sql, STMT_LAST_EVENT, f);
	if (rc < 0)
		return rc;
	t->op = 1 + (rc ? 0 : stmt_int(sql, STMT_LAST_EVENT, 0));
	stmt_done(sql, STMT_LAST_EVENT);
	return 0;
}

static int
S_begin(struct store *s, struct txn *t, struct fault *f)
{
	enum stmt_id begin = t->writes ? STMT_BEGIN_WRITE : STMT_BEGIN_READ;
	uint64_t deadline = clock_mono_ns() + s->wait_ns;
	int rc = 0;

	if (t->writes)
		rc = queue_enter(&s->queue, deadline, f);
	(void)sqlite3_busy_timeout(s->sql.db, (int)(clock_left_ns(deadline) /
						    1000000));
	if (!rc)
		rc = stmt_bind(&s->sql, begin, f, "");
	if (!rc)
		rc = stmt_run(&s->sql, begin, f);
	/* The first read takes the snapshot of one that does not write. */
	if (!rc)
		rc = S_first_event(t, f);
	if (!rc)
		rc = s->clock.read(s->clock.arg, &t->now, f);
	return rc;
}

int
txn_begin(struct store *s, const char *verb, struct txn *t, struct fault *f)
{
	int rc;

	*t = (struct txn){ .store = s, .verb = verb, .writes = verb != NULL };
	rc = S_begin(s, t, f);
	if (rc)
		txn_end(t);
	return rc;
}

int
txn_commit(struct txn *t, struct fault *f)
{
	struct stmt_set *sql = &t->store->sql;
	int rc = stmt_bind(sql, STMT_COMMIT, f, "");

	return rc ? rc : stmt_run(sql, STMT_COMMIT, f);
}

void
txn_end(struct txn *t)
{
	struct fault ignored = FAULT_INIT;
	struct store *s = t->store;

	if (!s)
		return;
	t->store = NULL;
	if (!sqlite3_get_autocommit(s->sql.db) &&
	    !stmt_bind(&s->sql, STMT_ROLLBACK, &ignored, ""))
		(void)stmt_run(&s->sql, STMT_ROLLBACK, &ignored);
	queue_leave(&s->queue);
}
