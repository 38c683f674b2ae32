/*
 * t_memory_sqlite.c - a connection is told from what only looks like one
 *
 * The memory is made up: a library's code and data, and a heap with two
 * databases of one connection each, laid out as SQLite does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "capture/memory_sqlite.h"

#define CODE 0x7f0000000000ull
#define DATA 0x7f0000100000ull
#define HEAP 0x560000000000ull
#define OTHER 0x7f1000000000ull	/* code of another file */
#define HEAP_BYTES (1u << 20)
#define DATA_BYTES 4096u
#define WORD 8u

#define TABLE (DATA + 64)
#define VFS (DATA + 512)

/* Within the heap; the second database lies behind the first. */
#define PAGER (HEAP + 0x1000)
#define FILE_AT (PAGER + 400)
#define SUBJOURNAL (FILE_AT + 120)
#define JOURNAL (SUBJOURNAL + 120)
#define WAL_AT (HEAP + 0x3000)
#define WAL_FILE (WAL_AT + 144)
#define INODE (HEAP + 0x4000)
#define SHM (HEAP + 0x4100)
#define NODE (HEAP + 0x4200)
#define SECOND 0x20000ull

#define MAIN_FD 3
#define WAL_FD 5
#define SHM_FD 7
#define JOURNAL_FD 9
#define DEV 65024u
#define INO 100u

struct world {
	unsigned char heap[HEAP_BYTES];
	unsigned char data[DATA_BYTES];
	struct memory_region region[4];
	struct memory_fd fd[8];
	struct memory_view view;
	struct memory_fds fds;
	struct memory_budget budget;
	struct memory_found found;
	int refuse;			/* errno of every read, or 0 */
	uint64_t bytes;			/* that were read */
};

static int
S_read(void *arg, uint64_t at, void *to, size_t n)
{
	struct world *w = arg;

	if (w->refuse)
		return w->refuse;
	w->bytes += n;
	if (at >= HEAP && at + n <= HEAP + HEAP_BYTES)
		memcpy(to, w->heap + (at - HEAP), n);
	else if (at >= DATA && at + n <= DATA + DATA_BYTES)
		memcpy(to, w->data + (at - DATA), n);
	else
		return EFAULT;
	return 0;
}

static int
S_touched(void *arg, uint64_t at, uint64_t end, uint64_t *from, uint64_t *to)
{
	(void)arg;
	*from = at;
	*to = end;
	return at >= end;
}

static uint64_t *
S_word(struct world *w, uint64_t at)
{
	if (at >= DATA)
		return (uint64_t *)(void *)(w->data + (at - DATA));
	return (uint64_t *)(void *)(w->heap + (at - HEAP));
}

static void
S_put(struct world *w, uint64_t at, uint64_t value)
{
	*S_word(w, at) = value;
}

static void
S_put_file(struct world *w, uint64_t at, uint64_t inode, int fd)
{
	S_put(w, at, TABLE);
	S_put(w, at + 8, VFS);
	S_put(w, at + 16, inode);
	S_put(w, at + 24, (uint64_t)(uint32_t)fd | 1ull << 32);
}

/* The nth database: all its addresses are n * SECOND farther on. */
static void
S_put_database(struct world *w, unsigned n)
{
	uint64_t by = n * SECOND;
	int odd = (int)n;

	S_put(w, PAGER + by, VFS);
	S_put(w, PAGER + by + 96, FILE_AT + by);
	S_put(w, PAGER + by + 104, JOURNAL + by);
	S_put(w, PAGER + by + 112, SUBJOURNAL + by);
	S_put(w, PAGER + by + 288, WAL_AT + by);
	S_put_file(w, FILE_AT + by, INODE + by, MAIN_FD + odd);
	S_put(w, FILE_AT + by + 64, SHM + by);
	S_put(w, INODE + by, DEV);
	S_put(w, INODE + by + 8, INO + n);
	S_put(w, SHM + by, NODE + by);
	S_put(w, NODE + by, INODE + by);
	S_put(w, NODE + by + 24, (uint64_t)(SHM_FD + odd));
	S_put(w, WAL_AT + by, VFS);
	S_put(w, WAL_AT + by + 8, FILE_AT + by);
	S_put(w, WAL_AT + by + 16, WAL_FILE + by);
	S_put_file(w, WAL_FILE + by, 0, WAL_FD + odd);
	S_put_file(w, JOURNAL + by, 0, JOURNAL_FD + odd);
	for (int r = 0; r < 4; r++)
		w->fd[n * 4 + (unsigned)r] = (struct memory_fd){
			.fd = MAIN_FD + 2 * r + odd, .dev = DEV,
			.ino = INO + 10u * (unsigned)r + n, .main = r == 0,
		};
}

static int
S_setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	w->region[0] = (struct memory_region){
		.from = HEAP, .to = HEAP + HEAP_BYTES, .read = true,
		.write = true,
	};
	w->region[1] = (struct memory_region){
		.from = CODE, .to = CODE + 0x10000, .read = true,
		.exec = true, .dev = 1, .ino = 2,
	};
	w->region[2] = (struct memory_region){
		.from = DATA, .to = DATA + DATA_BYTES, .read = true,
		.dev = 1, .ino = 2,
	};
	w->region[3] = (struct memory_region){
		.from = OTHER, .to = OTHER + 0x10000, .read = true,
		.exec = true, .dev = 1, .ino = 3,
	};
	S_put(w, TABLE, 3);
	for (uint64_t i = 1; i < 19; i++)
		S_put(w, TABLE + i * WORD, CODE + i * 64);
	S_put(w, VFS, 3 | 120ull << 32);
	S_put_database(w, 0);
	S_put_database(w, 1);
	w->view = (struct memory_view){
		.map = { .region = w->region, .count = 4 },
		.read = S_read, .touched = S_touched, .arg = w,
	};
	w->fds = (struct memory_fds){ .list = w->fd, .count = 8 };
	w->budget.bytes = UINT64_MAX;
	w->budget.deadline_ns = UINT64_MAX;
	*state = w;
	return 0;
}

static int
S_teardown(void **state)
{
	struct world *w = *state;

	memory_found_free(&w->found);
	free(w);
	return 0;
}

static bool
S_is_file(struct world *w, struct memory_file *file)
{
	return memory_sqlite_file(&w->view, &w->fds, FILE_AT, file) == 0;
}

static void
S_assert_no_file(struct world *w)
{
	struct memory_file file;

	assert_false(S_is_file(w, &file));
}

static void
S_assert_uses(struct world *w, int wal, int shm, int journal)
{
	struct memory_file file;

	assert_true(S_is_file(w, &file));
	assert_int_equal(file.of[ROLE_MAIN], MAIN_FD);
	assert_int_equal(file.of[ROLE_WAL], wal);
	assert_int_equal(file.of[ROLE_SHM], shm);
	assert_int_equal(file.of[ROLE_JOURNAL], journal);
}

static void
a_connection_shows_what_it_uses(void **state)
{
	S_assert_uses(*state, WAL_FD, SHM_FD, JOURNAL_FD);
}

static void
another_device_or_inode_is_another_file(void **state)
{
	struct world *w = *state;

	S_put(w, INODE, DEV + 1);
	S_assert_no_file(w);
	S_put(w, INODE, DEV);
	S_put(w, INODE + 8, INO + 1);
	S_assert_no_file(w);
	S_put(w, INODE + 8, INO | 1ull << 32);
	S_assert_no_file(w);
	S_put(w, FILE_AT + 16, 0);
	S_assert_no_file(w);
	S_put(w, FILE_AT + 16, HEAP + HEAP_BYTES);
	S_assert_no_file(w);
}

static void
a_table_outside_of_a_file_is_none(void **state)
{
	struct world *w = *state;

	memcpy(w->heap + 0x8000, w->data + 64, 19 * WORD);
	S_put(w, FILE_AT, HEAP + 0x8000);
	S_assert_no_file(w);
	S_put(w, FILE_AT, TABLE);
	w->region[2].shared = true;	/* a database that is mapped */
	S_assert_no_file(w);
	w->region[2].shared = false;
	w->region[2].ino = 0;
	S_assert_no_file(w);
}

static void
a_table_leads_into_the_code_of_its_own_file(void **state)
{
	struct world *w = *state;
	static const uint64_t wrong[] = { 0, OTHER, DATA, HEAP, 1 };

	for (uint64_t i = 1; i < 13; i++)
		for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++) {
			S_put(w, TABLE + i * WORD, wrong[k]);
			S_assert_no_file(w);
			S_put(w, TABLE + i * WORD, CODE + i * 64);
		}
	S_put(w, TABLE, 4);
	S_assert_no_file(w);
	S_put(w, TABLE, 0);
	S_assert_no_file(w);
}

static void
a_descriptor_that_is_not_open_is_no_answer(void **state)
{
	struct world *w = *state;

	S_put(w, WAL_FILE + 24, 99);
	S_put(w, NODE + 24, 99);
	S_put(w, JOURNAL + 24, 99);
	S_assert_uses(w, MEMORY_NOTHING, MEMORY_NOTHING, MEMORY_NOTHING);
	S_put(w, FILE_AT + 24, 99);
	S_assert_no_file(w);
}

static void
a_main_is_never_a_sidecar(void **state)
{
	struct world *w = *state;

	S_put(w, WAL_FILE + 24, MAIN_FD + 1);
	S_put(w, NODE + 24, MAIN_FD + 1);
	S_put(w, JOURNAL + 24, MAIN_FD + 1);
	S_assert_uses(w, MEMORY_NOTHING, MEMORY_NOTHING, MEMORY_NOTHING);
}

static void
what_was_closed_is_zeros(void **state)
{
	struct world *w = *state;

	memset(w->heap + (WAL_FILE - HEAP), 0, 64);
	memset(w->heap + (JOURNAL - HEAP), 0, 64);
	S_assert_uses(w, MEMORY_NOTHING, SHM_FD, MEMORY_NOTHING);
	memset(w->heap + (FILE_AT - HEAP), 0, 64);
	S_assert_no_file(w);
}

static void
a_wal_that_no_pager_names_was_freed(void **state)
{
	struct world *w = *state;

	S_put(w, PAGER + 288, 0);
	S_assert_uses(w, MEMORY_NOTHING, SHM_FD, JOURNAL_FD);
	/* That of the other connection names another unixFile. */
	S_put(w, PAGER + 288, WAL_AT + SECOND);
	S_assert_uses(w, MEMORY_NOTHING, SHM_FD, JOURNAL_FD);
}

static void
a_wal_has_its_file_right_behind_it(void **state)
{
	struct world *w = *state;

	S_put(w, WAL_AT + 16, WAL_FILE + SECOND);
	S_assert_uses(w, MEMORY_NOTHING, SHM_FD, JOURNAL_FD);
	S_put(w, WAL_AT + 16, WAL_AT);
	S_assert_uses(w, MEMORY_NOTHING, SHM_FD, JOURNAL_FD);
}

static void
without_a_pager_before_it_a_file_tells_nothing(void **state)
{
	struct world *w = *state;

	S_put(w, PAGER, 0);
	S_assert_uses(w, MEMORY_NOTHING, SHM_FD, MEMORY_NOTHING);
	S_put(w, PAGER, VFS);
	S_put(w, PAGER + 104, JOURNAL + SECOND);
	S_assert_uses(w, MEMORY_NOTHING, SHM_FD, MEMORY_NOTHING);
}

static void
two_different_answers_are_told_as_two(void **state)
{
	struct world *w = *state;

	/* A second Wal of the same connection, as a row could hold it. */
	memcpy(w->heap + 0x9000, w->heap + (WAL_AT - HEAP), 512);
	S_put(w, HEAP + 0x9000 + 16, HEAP + 0x9000 + 144);
	S_put(w, PAGER + 296, HEAP + 0x9000);
	S_assert_uses(w, WAL_FD, SHM_FD, JOURNAL_FD);
	S_put(w, HEAP + 0x9000 + 144 + 24, WAL_FD + 1);
	S_assert_uses(w, MEMORY_TWO, SHM_FD, JOURNAL_FD);
}

/* Every word of the one with every word of the other in its place. */
static void
a_word_from_elsewhere_never_gives_a_file_of_the_other(void **state)
{
	struct world *w = *state;
	struct memory_file file;

	for (uint64_t at = PAGER; at < NODE + 64; at += WORD) {
		uint64_t kept = *S_word(w, at);
		bool number = at == WAL_FILE + 24 || at == JOURNAL + 24 ||
			      at == NODE + 24;

		S_put(w, at, *S_word(w, at + SECOND));
		/* h itself is checked against other claims: t_memory_bind */
		if (!number && S_is_file(w, &file))
			for (enum role r = ROLE_WAL; r < ROLE_COUNT; r++)
				assert_true(file.of[r] < 0 ||
					    file.of[r] % 2 == 1);
		S_put(w, at, kept);
	}
}

static enum memory_end
S_find(struct world *w, int *err)
{
	memory_found_free(&w->found);
	return memory_sqlite_find(&w->view, &w->fds, &w->budget, &w->found,
				  err);
}

static void
the_search_finds_both_and_nothing_else(void **state)
{
	struct world *w = *state;
	int err;

	assert_int_equal(S_find(w, &err), MEMORY_ALL);
	assert_int_equal(w->found.count, 2);
	assert_true(w->found.at[0] == FILE_AT);
	assert_true(w->found.at[1] == FILE_AT + SECOND);
	assert_int_equal(err, 0);
}

static void
the_search_sees_across_pieces_and_mappings(void **state)
{
	struct world *w = *state;
	static const uint64_t ends[] = { 8, 16, 24, 32 };
	int err;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		uint64_t at = HEAP + (256u << 10) - ends[i];

		memcpy(w->heap + (at - HEAP), w->heap + (FILE_AT - HEAP), 128);
		assert_int_equal(S_find(w, &err), MEMORY_ALL);
		assert_int_equal(w->found.count, 3);
		assert_true(w->found.at[2] == at);
		memset(w->heap + (at - HEAP), 0, 128);
	}
	w->region[0].to = FILE_AT + 16;
	w->region[3] = w->region[2];
	w->region[2] = w->region[1];
	w->region[1] = (struct memory_region){
		.from = FILE_AT + 16, .to = HEAP + HEAP_BYTES, .read = true,
		.write = true,
	};
	assert_int_equal(S_find(w, &err), MEMORY_ALL);
	assert_int_equal(w->found.count, 2);
}

static void
the_search_ends_at_its_budget(void **state)
{
	struct world *w = *state;
	int err;

	w->budget.bytes = HEAP_BYTES / 2;
	assert_int_equal(S_find(w, &err), MEMORY_TOO_MUCH);
	assert_true(w->bytes <= HEAP_BYTES / 2 + 65536);
	w->budget.bytes = UINT64_MAX;
	w->budget.deadline_ns = clock_mono_ns();
	assert_int_equal(S_find(w, &err), MEMORY_TOO_MUCH);
}

static void
a_refusal_is_told_with_its_reason(void **state)
{
	struct world *w = *state;
	int err;

	w->refuse = EPERM;
	assert_int_equal(S_find(w, &err), MEMORY_DENIED);
	assert_int_equal(err, EPERM);
	w->refuse = ENOSYS;
	assert_int_equal(S_find(w, &err), MEMORY_DENIED);
	assert_int_equal(err, ENOSYS);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, S_setup, S_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_connection_shows_what_it_uses),
		CASE(another_device_or_inode_is_another_file),
		CASE(a_table_outside_of_a_file_is_none),
		CASE(a_table_leads_into_the_code_of_its_own_file),
		CASE(a_descriptor_that_is_not_open_is_no_answer),
		CASE(a_main_is_never_a_sidecar),
		CASE(what_was_closed_is_zeros),
		CASE(a_wal_that_no_pager_names_was_freed),
		CASE(a_wal_has_its_file_right_behind_it),
		CASE(without_a_pager_before_it_a_file_tells_nothing),
		CASE(two_different_answers_are_told_as_two),
		CASE(a_word_from_elsewhere_never_gives_a_file_of_the_other),
		CASE(the_search_finds_both_and_nothing_else),
		CASE(the_search_sees_across_pieces_and_mappings),
		CASE(the_search_ends_at_its_budget),
		CASE(a_refusal_is_told_with_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
