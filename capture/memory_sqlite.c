/*
 * memory_sqlite.c - SQLite's own structures in the memory of a process
 */
#include "capture/memory_sqlite.h"

#include <string.h>

#define WORD sizeof(uint64_t)

/* No program has its data below: vm.mmap_min_addr. */
#define LOWEST 65536u

/* sqlite3_io_methods: iVersion and what every version has behind it. */
#define TABLE_WORDS 13u
#define VERSION_MAX 3u

/* szOsFile: a unixFile needs that much, and no known one much more. */
#define OS_FILE_MIN 64u
#define OS_FILE_MAX 4096u

/* Farthest from a Pager's fd to the unixFile, whatever the build. */
#define PAGER_BYTES 2048u
#define PAGER_WORDS (PAGER_BYTES / WORD)
/* From main's unixFile to the journal's, in the same allocation. */
#define JOURNAL_BYTES 8192u
/* From the start of a Wal to the unixFile behind it. */
#define WAL_BYTES 1024u

/* Of a unixFile, as far as pShm can be. */
#define FILE_WORDS 16u
#define FILE_VFS 1u
#define FILE_INODE 2u
#define FILE_H 3u

#define NODE_H 3u

static bool
S_read(const struct memory_view *v, uint64_t at, uint64_t *to, size_t words)
{
	if (at < LOWEST || at % WORD != 0 || at > UINT64_MAX - words * WORD)
		return false;
	return v->read(v->arg, at, to, words * WORD) == 0;
}

static int
S_int_at(const uint64_t *word)
{
	int value;

	memcpy(&value, word, sizeof(value));
	return value;
}

static const struct memory_fd *
S_fd(const struct memory_fds *fds, int fd)
{
	for (size_t i = 0; i < fds->count; i++)
		if (fds->list[i].fd == fd)
			return &fds->list[i];
	return NULL;
}

static bool
S_is_data_of_file(const struct memory_region *r)
{
	return r && r->ino != 0 && !r->shared && !r->exec && r->read;
}

/* Rule 1. */
static bool
S_is_table(const struct memory_view *v, uint64_t at)
{
	const struct memory_region *data = memory_map_find(&v->map, at);
	uint64_t word[TABLE_WORDS];

	if (!S_is_data_of_file(data) || !S_read(v, at, word, TABLE_WORDS))
		return false;
	if (word[0] < 1 || word[0] > VERSION_MAX)
		return false;
	for (size_t i = 1; i < TABLE_WORDS; i++) {
		const struct memory_region *r =
			memory_map_find(&v->map, word[i]);

		if (!r || !r->exec || r->shared || r->dev != data->dev ||
		    r->ino != data->ino)
			return false;
	}
	return true;
}

/* Rule 2. */
static bool
S_is_vfs(const struct memory_view *v, uint64_t at)
{
	uint64_t word;
	int version, size;

	if (!S_read(v, at, &word, 1))
		return false;
	version = S_int_at(&word);
	size = (int)(word >> 32);
	return version >= 1 && version <= (int)VERSION_MAX &&
	       size >= (int)OS_FILE_MIN && size <= (int)OS_FILE_MAX;
}

/*
 * Rules 1 to 3, and 4 where it has a pInode: the descriptor, or NULL. Reads
 * so many words of it.
 */
static const struct memory_fd *
S_unix_file(const struct memory_view *v, const struct memory_fds *fds,
	    uint64_t at, uint64_t *word, size_t words)
{
	const struct memory_fd *fd;
	uint64_t id[2];

	MUST(words > FILE_H);
	if (!S_read(v, at, word, words))
		return NULL;
	fd = S_fd(fds, S_int_at(&word[FILE_H]));
	if (!fd || !S_is_table(v, word[0]) || !S_is_vfs(v, word[FILE_VFS]))
		return NULL;
	if (word[FILE_INODE] == 0)
		return fd;
	if (!S_read(v, word[FILE_INODE], id, 2))
		return NULL;
	return id[0] == fd->dev && id[1] == fd->ino ? fd : NULL;
}

/* A second, different answer makes it none. */
static void
S_answer(struct memory_file *file, enum role r, int fd)
{
	if (file->of[r] == MEMORY_NOTHING || file->of[r] == fd)
		file->of[r] = fd;
	else
		file->of[r] = MEMORY_TWO;
}

/* A unixFile of no main, of the same VFS. */
static void
S_sidecar(const struct memory_view *v, const struct memory_fds *fds,
	  uint64_t at, uint64_t vfs, enum role r, struct memory_file *file)
{
	uint64_t word[FILE_H + 1];
	const struct memory_fd *fd = S_unix_file(v, fds, at, word,
						 FILE_H + 1);

	if (fd && !fd->main && word[FILE_VFS] == vfs)
		S_answer(file, r, fd->fd);
}

/* Rule 7, for one word of a Pager. */
static void
S_wal(const struct memory_view *v, const struct memory_fds *fds, uint64_t at,
      uint64_t vfs, struct memory_file *file)
{
	uint64_t wal[3];

	if (!S_read(v, at, wal, 3) || wal[0] != vfs || wal[1] != file->at)
		return;
	if (wal[2] > at && wal[2] - at <= WAL_BYTES)
		S_sidecar(v, fds, wal[2], vfs, ROLE_WAL, file);
}

/* Rule 8: unlike the others, the SHM has no unixFile. */
static void
S_shm(const struct memory_view *v, const struct memory_fds *fds,
      const uint64_t word[FILE_WORDS], struct memory_file *file)
{
	for (size_t i = FILE_H + 1; i < FILE_WORDS; i++) {
		uint64_t at, node[NODE_H + 1];
		const struct memory_fd *fd;

		if (!S_read(v, word[i], &at, 1) ||
		    !S_read(v, at, node, NODE_H + 1) ||
		    node[0] != word[FILE_INODE])
			continue;
		fd = S_fd(fds, S_int_at(&node[NODE_H]));
		if (fd && !fd->main)
			S_answer(file, ROLE_SHM, fd->fd);
	}
}

static bool
S_is_right_behind(uint64_t at, uint64_t file)
{
	return at > file && at - file <= JOURNAL_BYTES;
}

/* Rule 5: fd of a Pager, with jfd and sjfd of its allocation behind it. */
static bool
S_is_pager(const uint64_t *pager, size_t fd, size_t n, uint64_t file,
	   uint64_t vfs)
{
	if (fd + 2 >= n || pager[fd] != file ||
	    !S_is_right_behind(pager[fd + 1], file) ||
	    !S_is_right_behind(pager[fd + 2], file))
		return false;
	for (size_t i = 0; i < fd; i++)
		if (pager[i] == vfs)
			return true;
	return false;
}

/* What lies before it, as far as memory reaches: how many words. */
static size_t
S_words_before(const struct memory_view *v, uint64_t at,
	       uint64_t word[PAGER_WORDS])
{
	const struct memory_region *r = memory_map_find(&v->map, at);
	size_t n;

	if (S_read(v, at - PAGER_BYTES, word, PAGER_WORDS))
		return PAGER_WORDS;
	if (!r || at - r->from >= PAGER_BYTES)
		return 0;
	n = (size_t)(at - r->from) / WORD;
	return S_read(v, r->from, word, n) ? n : 0;
}

/* Rules 6 and 7. */
static void
S_read_on(const struct memory_view *v, const struct memory_fds *fds,
	  uint64_t vfs, struct memory_file *file)
{
	uint64_t pager[PAGER_WORDS];
	size_t n = S_words_before(v, file->at, pager);

	for (size_t i = 0; i < n; i++) {
		if (!S_is_pager(pager, i, n, file->at, vfs))
			continue;
		S_sidecar(v, fds, pager[i + 1], vfs, ROLE_JOURNAL, file);
		for (size_t k = i + 3; k < n; k++)
			S_wal(v, fds, pager[k], vfs, file);
	}
}

int
memory_sqlite_file(const struct memory_view *v, const struct memory_fds *fds,
		   uint64_t at, struct memory_file *file)
{
	uint64_t word[FILE_WORDS];
	const struct memory_fd *fd = S_unix_file(v, fds, at, word, FILE_WORDS);

	if (!fd || !fd->main || word[FILE_INODE] == 0)
		return 1;
	file->at = at;
	for (enum role r = 0; r < ROLE_COUNT; r++)
		file->of[r] = MEMORY_NOTHING;
	file->of[ROLE_MAIN] = fd->fd;
	S_shm(v, fds, word, file);
	S_read_on(v, fds, word[FILE_VFS], file);
	return 0;
}
