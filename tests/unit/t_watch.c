/*
 * t_watch.c - an open of a watched file is reported, by whatever name
 */
#include "capture/watch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"

static struct names names;
static struct watch watch;

static struct inode_id
S_id(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return (struct inode_id){ .dev = st.st_dev, .ino = st.st_ino };
}

static void
S_begin(const struct inode_id *ids, size_t n)
{
	struct fault f = FAULT_INIT;

	names = (struct names)NAMES_INIT;
	watch = (struct watch)WATCH_INIT;
	assert_int_equal(names_open(&names, "app.db", &f), 0);
	watch_begin(&watch, &names, ids, n);
}

static void
S_finish(void)
{
	watch_end(&watch);
	names_free(&names);
}

static void
S_open_and_close(const char *name, int flags)
{
	int fd = open(name, flags | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
}

static void
an_open_is_reported(void **state)
{
	const struct inode_id id = S_id("app.db");

	(void)state;
	S_begin(&id, 1);
	assert_true(watch_covers(&watch, &id, 1));
	assert_true(watch_quiet(&watch));
	S_open_and_close("app.db", O_RDONLY);
	assert_false(watch_quiet(&watch));
	S_finish();
}

static void
an_open_by_another_name_is_reported(void **state)
{
	const struct inode_id id = S_id("app.db-wal");

	(void)state;
	assert_int_equal(link("app.db-wal", "alias"), 0);
	S_begin(&id, 1);
	assert_true(watch_covers(&watch, &id, 1));
	S_open_and_close("alias", O_RDWR);
	assert_false(watch_quiet(&watch));
	S_finish();
	assert_int_equal(unlink("alias"), 0);
}

static void
a_look_without_an_open_is_quiet(void **state)
{
	const struct inode_id id = S_id("app.db");

	(void)state;
	S_begin(&id, 1);
	S_open_and_close("app.db", O_PATH);
	(void)S_id("app.db");
	assert_true(watch_quiet(&watch));
	S_finish();
}

/* The name showed one file when it was looked up, and another since. */
static void
a_file_that_lost_its_name_is_not_covered(void **state)
{
	const struct inode_id ids[] = { S_id("app.db"), S_id("app.db-wal") };

	(void)state;
	assert_int_equal(rename("app.db", "kept"), 0);
	S_open_and_close("app.db", O_RDWR | O_CREAT);
	S_begin(ids, 2);
	assert_false(watch_covers(&watch, ids, 1));
	assert_true(watch_covers(&watch, ids + 1, 1));
	assert_false(watch_covers(&watch, ids, 2));
	S_finish();
	assert_int_equal(rename("kept", "app.db"), 0);
}

static void
what_was_not_asked_for_is_not_covered(void **state)
{
	const struct inode_id main = S_id("app.db"), wal = S_id("app.db-wal");

	(void)state;
	S_begin(&main, 1);
	assert_false(watch_covers(&watch, &wal, 1));
	S_finish();
}

static void
what_was_never_begun_is_not_quiet(void **state)
{
	const struct watch none = WATCH_INIT;

	(void)state;
	assert_false(watch_quiet(&none));
}

static struct folder folder;

static int
S_set_up(void **state)
{
	(void)state;
	return folder_make(&folder) || chdir(folder.path) ||
	       folder_write(&folder, "app.db", "m", 1) ||
	       folder_write(&folder, "app.db-wal", "w", 1) ? -1 : 0;
}

static int
S_tear_down(void **state)
{
	(void)state;
	folder_remove(&folder);
	return chdir("/");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_open_is_reported),
		cmocka_unit_test(an_open_by_another_name_is_reported),
		cmocka_unit_test(a_look_without_an_open_is_quiet),
		cmocka_unit_test(a_file_that_lost_its_name_is_not_covered),
		cmocka_unit_test(what_was_not_asked_for_is_not_covered),
		cmocka_unit_test(what_was_never_begun_is_not_quiet),
	};

	return cmocka_run_group_tests(tests, S_set_up, S_tear_down);
}
