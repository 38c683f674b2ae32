/*
 * t_publish.c - a file appears whole under its name, or not at all
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/io.h"
#include "base/own.h"
#include "base/publish.h"
#include "tests/unit/folder.h"

static struct folder S_folder;
static char S_target[128];

static int
S_setup(void **state)
{
	(void)state;
	if (folder_make(&S_folder))
		return -1;
	(void)folder_path(&S_folder, "out", S_target, sizeof(S_target));
	return 0;
}

static int
S_teardown(void **state)
{
	(void)state;
	folder_remove(&S_folder);
	return 0;
}

static size_t
S_entries(void)
{
	DIR *d = opendir(S_folder.path);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n - 2;
}

static void
S_holds(const char *want)
{
	char got[64] = "";
	struct stat st;
	OWN_FD(fd);

	fd = openat(S_folder.fd, "out", O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got) - 1), strlen(want));
	assert_string_equal(got, want);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_nlink, 1);
}

static void
S_start(struct publish *p, bool force)
{
	struct fault f = FAULT_INIT;

	assert_int_equal(publish_open(S_target, force, p, &f), 0);
	assert_int_equal(io_write_all(p->fd, "new", 3, &f), 0);
}

static void
nothing_appears_before_the_commit(void **state)
{
	struct fault f = FAULT_INIT;
	OWN_PUBLISH(p);

	(void)state;
	S_start(&p, false);
	assert_int_equal(faccessat(S_folder.fd, "out", F_OK, 0), -1);
	assert_int_equal(publish_commit(&p, &f), 0);
	S_holds("new");
	publish_drop(&p);
	S_holds("new");
	assert_int_equal(S_entries(), 1);
}

static int
S_signalled(void)
{
	return 2;
}

static void
an_interruption_before_it_appears_leaves_nothing(void **state)
{
	struct fault f = FAULT_INIT;
	OWN_PUBLISH(p);

	(void)state;
	S_start(&p, false);
	p.interrupted = S_signalled;
	assert_int_equal(publish_commit(&p, &f), -FAULT_INTERRUPTED);
	publish_drop(&p);
	assert_int_equal(S_entries(), 0);
}

static void
what_is_dropped_leaves_nothing(void **state)
{
	struct publish p = PUBLISH_INIT;

	(void)state;
	S_start(&p, false);
	publish_drop(&p);
	publish_drop(&p);
	assert_int_equal(S_entries(), 0);
}

static void
a_name_that_is_taken_is_a_fault_at_once(void **state)
{
	struct fault f = FAULT_INIT;
	OWN_PUBLISH(p);

	(void)state;
	assert_int_equal(folder_write(&S_folder, "out", "old", 3), 0);
	assert_int_equal(publish_open(S_target, false, &p, &f),
			 -FAULT_TROUBLE);
	assert_non_null(strstr(f.hint, "--force"));
	S_holds("old");
}

static void
a_name_that_is_taken_meanwhile_is_not_replaced(void **state)
{
	struct fault f = FAULT_INIT;
	struct publish p = PUBLISH_INIT;

	(void)state;
	S_start(&p, false);
	assert_int_equal(folder_write(&S_folder, "out", "old", 3), 0);
	assert_int_equal(publish_commit(&p, &f), -FAULT_TROUBLE);
	publish_drop(&p);
	S_holds("old");
	assert_int_equal(S_entries(), 1);
}

static void
force_replaces_the_file_and_leaves_no_other(void **state)
{
	struct fault f = FAULT_INIT;
	struct publish p = PUBLISH_INIT;

	(void)state;
	assert_int_equal(folder_write(&S_folder, "out", "older", 5), 0);
	S_start(&p, true);
	S_holds("older");
	assert_int_equal(publish_commit(&p, &f), 0);
	publish_drop(&p);
	S_holds("new");
	assert_int_equal(S_entries(), 1);
}

/* The name moves under us; the folder that was opened counts. */
static void
the_folder_is_held_not_named(void **state)
{
	struct fault f = FAULT_INIT;
	char moved[80];
	OWN_PUBLISH(p);

	(void)state;
	S_start(&p, false);
	(void)snprintf(moved, sizeof(moved), "%s.moved", S_folder.path);
	assert_int_equal(rename(S_folder.path, moved), 0);
	assert_int_equal(publish_commit(&p, &f), 0);
	assert_int_equal(rename(moved, S_folder.path), 0);
	S_holds("new");
}

static void
what_is_no_file_is_refused_with_force_as_well(void **state)
{
	struct fault f = FAULT_INIT;
	char path[128];
	OWN_PUBLISH(p);

	(void)state;
	assert_int_equal(mkdirat(S_folder.fd, "out", 0700), 0);
	assert_int_equal(publish_open(S_target, true, &p, &f),
			 -FAULT_TROUBLE);
	publish_drop(&p);
	(void)snprintf(path, sizeof(path), "%s/", S_folder.path);
	assert_int_equal(publish_open(path, true, &p, &f), -FAULT_USAGE);
	publish_drop(&p);
	(void)snprintf(path, sizeof(path), "%s/none/out", S_folder.path);
	assert_int_equal(publish_open(path, true, &p, &f), -FAULT_TROUBLE);
}

int
main(void)
{
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, S_setup, S_teardown)
	const struct CMUnitTest tests[] = {
		CASE(nothing_appears_before_the_commit),
		CASE(an_interruption_before_it_appears_leaves_nothing),
		CASE(what_is_dropped_leaves_nothing),
		CASE(a_name_that_is_taken_is_a_fault_at_once),
		CASE(a_name_that_is_taken_meanwhile_is_not_replaced),
		CASE(force_replaces_the_file_and_leaves_no_other),
		CASE(the_folder_is_held_not_named),
		CASE(what_is_no_file_is_refused_with_force_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
