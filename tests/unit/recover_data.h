/*
 * recover_data.h - databases made by stock SQLite, for the recover tests
 *
 * Stock SQLite makes every file here, and answers on copies of its own; the
 * parts under test see the files through an ask_side only.
 */
#ifndef TESTS_UNIT_RECOVER_DATA_H
#define TESTS_UNIT_RECOVER_DATA_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/io.h"
#include "base/role.h"
#include "recover/state.h"
#include "reply/ask.h"

#define UNUSED __attribute__((unused))
#define STOCK "unix"

static char data_dir[64];

/* Paths live until data_end. */
static struct data_name {
	struct data_name *next;
	char path[96];
} *data_names;

/* Stock SQLite stays reachable by name; the default opens nothing. */
UNUSED static int
data_begin(void **unused)
{
	struct fault f = FAULT_INIT;
	sqlite3_vfs *stock;

	(void)unused;
	(void)sqlite3_initialize();
	stock = sqlite3_vfs_find(STOCK);
	(void)sqlite3_shutdown();
	if (!stock || state_setup(&f) ||
	    sqlite3_vfs_register(stock, 0) != SQLITE_OK)
		return -1;
	(void)snprintf(data_dir, sizeof(data_dir), "%s/holdfast-t-XXXXXX",
		       access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	return mkdtemp(data_dir) ? 0 : -1;
}

UNUSED static int
data_unlink(const char *path, const struct stat *st, int kind,
	    struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

UNUSED static int
data_end(void **unused)
{
	(void)unused;
	while (data_names) {
		struct data_name *next = data_names->next;

		free(data_names);
		data_names = next;
	}
	return nftw(data_dir, data_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

UNUSED static const char *
data_path(void)
{
	static unsigned n;
	struct data_name *name = malloc(sizeof(*name));

	assert_non_null(name);
	name->next = data_names;
	data_names = name;
	(void)snprintf(name->path, sizeof(name->path), "%s/%u.db", data_dir,
		       n++);
	return name->path;
}

UNUSED static sqlite3 *
data_open(const char *path)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE |
					 SQLITE_OPEN_CREATE, STOCK),
			 SQLITE_OK);
	return db;
}

UNUSED static void
data_exec(sqlite3 *db, const char *fmt, ...)
{
	va_list ap;
	char *sql, *error = NULL;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
	sqlite3_free(sql);
}

UNUSED static int64_t
data_int(sqlite3 *db, const char *sql, int column)
{
	sqlite3_stmt *st = NULL;
	int64_t v;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	v = sqlite3_column_int64(st, column);
	(void)sqlite3_finalize(st);
	return v;
}

/* The file's bytes (caller frees) and their number. */
UNUSED static unsigned char *
data_slurp(const char *path, const char *suffix, size_t *n)
{
	char name[256];
	struct stat st;
	unsigned char *bytes;
	int fd;

	(void)snprintf(name, sizeof(name), "%s%s", path, suffix);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	*n = 0;
	if (fd < 0)
		return NULL;
	assert_int_equal(fstat(fd, &st), 0);
	*n = (size_t)st.st_size;
	bytes = malloc(*n + 1);
	assert_non_null(bytes);
	assert_int_equal(pread(fd, bytes, *n, 0), (ssize_t)*n);
	(void)close(fd);
	return bytes;
}

UNUSED static void
data_spit(const char *path, const char *suffix, const void *bytes, size_t n)
{
	struct fault f = FAULT_INIT;
	char name[256];
	int fd;

	(void)snprintf(name, sizeof(name), "%s%s", path, suffix);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, n, &f), 0);
	(void)close(fd);
}

/* Main and the sidecars whose roles are in roles (bits). */
UNUSED static void
data_copy_roles(const char *from, const char *to, unsigned roles)
{
	for (int r = 0; r < ROLE_COUNT; r++) {
		size_t n;
		unsigned char *bytes;

		if (!(roles & 1u << r))
			continue;
		bytes = data_slurp(from, role_suffix((enum role)r), &n);
		if (bytes)
			data_spit(to, role_suffix((enum role)r), bytes, n);
		free(bytes);
	}
}

#define DATA_ALL (1u << ROLE_MAIN | 1u << ROLE_WAL | 1u << ROLE_SHM | \
		  1u << ROLE_JOURNAL)
#define DATA_NO_SHM (DATA_ALL & ~(1u << ROLE_SHM))

/* A copy of the set as it lies there: what a crash would leave. */
UNUSED static const char *
data_copy(const char *from, unsigned roles)
{
	const char *to = data_path();

	data_copy_roles(from, to, roles);
	return to;
}

UNUSED static void
data_xor(const char *path, const char *suffix, size_t at, unsigned char mask)
{
	char name[256];
	unsigned char byte;
	int fd;

	(void)snprintf(name, sizeof(name), "%s%s", path, suffix);
	fd = open(name, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
	byte ^= mask;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	(void)close(fd);
}

/* The descriptors stay open until data_close. */
UNUSED static void
data_side(const char *path, struct ask_side *side)
{
	memset(side, 0, sizeof(*side));
	side->now_ns = 1700000000000000000ull;
	for (int r = 0; r < ROLE_COUNT; r++) {
		struct ask_member *m = &side->member[r];
		char name[256];
		struct stat st;

		(void)snprintf(name, sizeof(name), "%s%s", path,
			       role_suffix((enum role)r));
		m->role = (uint32_t)r;
		m->fd = open(name, O_RDONLY | O_CLOEXEC);
		if (m->fd < 0)
			continue;
		assert_int_equal(fstat(m->fd, &st), 0);
		m->present = 1;
		m->size = (uint64_t)st.st_size;
	}
	side->blocks_fd = -1;
}

/* The block list of what the files hold now. */
UNUSED static void
data_blocks(struct ask_side *side)
{
	unsigned char block[BLOCK_BYTES], sum[DIGEST_BYTES];
	struct fault f = FAULT_INIT;
	struct digest *d = NULL;
	uint64_t n = 0;

	assert_int_equal(digest_new(&d, &f), 0);
	side->blocks_fd = memfd_create("blocks", MFD_CLOEXEC);
	assert_true(side->blocks_fd >= 0);
	for (int r = 0; r < ROLE_COUNT; r++) {
		struct ask_member *m = &side->member[r];

		m->first_block = n;
		for (uint64_t at = 0; m->present && at < m->size;
		     at += BLOCK_BYTES) {
			size_t got = sizeof(block);

			if (m->size - at < got)
				got = (size_t)(m->size - at);
			assert_int_equal(io_pread_all(m->fd, block, got,
						      m->offset + at, &f), 0);
			digest_of(block, got, sum);
			digest_bytes(d, sum, sizeof(sum));
			assert_int_equal(io_pwrite_all(side->blocks_fd, sum,
						       sizeof(sum),
						       n++ * sizeof(sum), &f),
					 0);
		}
	}
	side->blocks_count = n;
	digest_final(d, side->blocks_sha256);
	digest_free(d);
}

UNUSED static void
data_close(struct ask_side *side)
{
	for (int r = 0; r < ROLE_COUNT; r++)
		if (side->member[r].present)
			(void)close(side->member[r].fd);
	if (side->blocks_fd >= 0)
		(void)close(side->blocks_fd);
}

/* Every schema row and every row of every table, as text (caller frees). */
UNUSED static char *
data_content(sqlite3 *db)
{
	static const char tables[] = "SELECT name FROM sqlite_schema WHERE "
		"type = 'table' AND rootpage > 0 ORDER BY name";
	sqlite3_str *out = sqlite3_str_new(NULL);
	sqlite3_stmt *names = NULL, *rows = NULL;
	char *sql;
	int rc;

	assert_int_equal(sqlite3_prepare_v2(db, "SELECT * FROM sqlite_schema",
					    -1, &rows, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, tables, -1, &names, NULL),
			 SQLITE_OK);
	for (;;) {
		while ((rc = sqlite3_step(rows)) == SQLITE_ROW)
			for (int c = 0; c < sqlite3_column_count(rows); c++)
				sqlite3_str_appendf(out, "%d:%s\n",
					sqlite3_column_type(rows, c),
					sqlite3_column_text(rows, c));
		assert_int_equal(rc, SQLITE_DONE);
		(void)sqlite3_finalize(rows);
		if (sqlite3_step(names) != SQLITE_ROW)
			break;
		sql = sqlite3_mprintf("SELECT * FROM \"%w\"",
				      sqlite3_column_text(names, 0));
		sqlite3_str_appendf(out, "== %s\n", sql);
		assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &rows, NULL),
				 SQLITE_OK);
		sqlite3_free(sql);
	}
	(void)sqlite3_finalize(names);
	sqlite3_str_appendf(out, "version %lld\n",
			    data_int(db, "PRAGMA user_version", 0));
	return sqlite3_str_finish(out);
}

/* What stock SQLite reads from a copy of the set, without its SHM. */
UNUSED static char *
data_stock(const char *path)
{
	sqlite3 *db = data_open(data_copy(path, DATA_NO_SHM));
	char *text = data_content(db);

	(void)sqlite3_close(db);
	return text;
}

/* The frames that stock SQLite's recovery finds committed. */
UNUSED static int64_t
data_stock_frames(const char *path)
{
	sqlite3 *db = data_open(data_copy(path, DATA_NO_SHM));
	int64_t n = data_int(db, "PRAGMA wal_checkpoint", 1);

	(void)sqlite3_close(db);
	return n;
}

/*
 * Runs SQL in a child that is killed before it can end its transaction: the
 * files stay as they lie there.
 */
UNUSED static void
data_crash(const char *path, const char *sql)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		sqlite3 *db = NULL;

		if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, STOCK) ||
		    sqlite3_exec(db, sql, NULL, NULL, NULL))
			_exit(1);
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

#endif
