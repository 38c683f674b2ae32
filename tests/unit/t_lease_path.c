/*
 * t_lease_path.c - one key for each path, one spelling for each session
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lease/owner.h"
#include "lease/path.h"
#include "tests/unit/folder.h"

static struct folder S_folder;
static char S_key[PATH_MAX];
static struct fault S_fault;

static int
S_setup(void **state)
{
	(void)state;
	return folder_make(&S_folder);
}

static int
S_teardown(void **state)
{
	(void)state;
	folder_remove(&S_folder);
	return 0;
}

static void
S_is(const char *word, const char *below)
{
	char want[PATH_MAX];

	assert_int_equal(path_key(S_folder.path, word, S_key, &S_fault), 0);
	(void)snprintf(want, sizeof(want), "%s%s", S_folder.path, below);
	assert_string_equal(S_key, want);
}

static void
existence_does_not_change_the_key(void **state)
{
	(void)state;
	S_is("a/b/c", "/a/b/c");
	S_is("./a//b/./c/", "/a/b/c");
	S_is("a/b/../c", "/a/c");
	assert_int_equal(mkdirat(S_folder.fd, "a", 0700), 0);
	S_is("a/b/c", "/a/b/c");
	assert_int_equal(mkdirat(S_folder.fd, "a/b", 0700), 0);
	assert_int_equal(folder_write(&S_folder, "a/b/c", "", 0), 0);
	S_is("a/b/c", "/a/b/c");
	S_is("a/b/../c", "/a/c");
}

static void
links_are_followed_as_far_as_they_exist(void **state)
{
	(void)state;
	assert_int_equal(mkdirat(S_folder.fd, "real", 0700), 0);
	assert_int_equal(mkdirat(S_folder.fd, "real/sub", 0700), 0);
	assert_int_equal(symlinkat("real/sub", S_folder.fd, "link"), 0);
	assert_int_equal(symlinkat("nowhere/at/all", S_folder.fd, "loose"),
			 0);
	S_is("link/x", "/real/sub/x");
	S_is("link/../x", "/real/x");
	S_is("loose/x", "/nowhere/at/all/x");
	S_is("missing/../link/x", "/real/sub/x");
	assert_int_equal(symlinkat("round", S_folder.fd, "round"), 0);
	assert_int_equal(path_key(S_folder.path, "round", S_key, &S_fault),
			 -FAULT_USAGE);
}

static void
empty_and_over_long_paths_are_refused(void **state)
{
	char word[PATH_MAX + 8];

	(void)state;
	assert_int_equal(path_key("/", "", S_key, &S_fault), -FAULT_USAGE);
	memset(word, 'x', sizeof(word));
	word[NAME_MAX + 2] = '\0';
	word[0] = '/';
	assert_int_equal(path_key("/", word, S_key, &S_fault), -FAULT_USAGE);
	for (size_t i = 0; i < sizeof(word); i++)
		word[i] = i % 200 ? 'x' : '/';
	word[PATH_MAX] = '\0';		/* 4096 bytes */
	assert_int_equal(path_key("/", word, S_key, &S_fault), -FAULT_USAGE);
	word[PATH_MAX - 1] = '\0';	/* 4095 */
	assert_int_equal(path_key("/", word, S_key, &S_fault), 0);
	assert_string_equal(S_key, word);
	assert_int_equal(path_key("/longer", word + 1, S_key, &S_fault),
			 -FAULT_USAGE);
}

static void
wide_roots_are_refused(void **state)
{
	const char *homes[] = { "/home/ada", NULL };

	(void)state;
	assert_int_equal(path_not_wide("/", homes, &S_fault), -FAULT_USAGE);
	assert_int_equal(path_not_wide("/home/ada", homes, &S_fault),
			 -FAULT_USAGE);
	assert_int_equal(path_not_wide("/proc", homes, &S_fault),
			 -FAULT_USAGE);
	assert_int_equal(path_not_wide("/home/ada/src", homes, &S_fault), 0);
	assert_int_equal(path_not_wide(S_folder.path, homes, &S_fault), 0);
}

static void
bytes_are_kept(void **state)
{
	(void)state;
	S_is("caf\xe9/\xff", "/caf\xe9/\xff");
}

static void
a_key_is_told_from_other_text(void **state)
{
	(void)state;
	assert_true(path_is_key("/a"));
	assert_true(path_is_key("/a/..b"));
	assert_false(path_is_key("/"));
	assert_false(path_is_key(""));
	assert_false(path_is_key("a"));
	assert_false(path_is_key("/a/"));
	assert_false(path_is_key("//a"));
	assert_false(path_is_key("/a/../b"));
	assert_false(path_is_key("/a/."));
}

static void
S_session(const char *word, const char *want)
{
	char *got = NULL;
	int rc = owner_session(word, &got, &S_fault);

	assert_int_equal(rc, want ? 0 : -FAULT_USAGE);
	if (want)
		assert_string_equal(got, want);
	free(got);
}

static void
a_session_is_spelt_in_one_way(void **state)
{
	(void)state;
	S_session("s", "s");
	S_session(" agent/s\t", "s");
	S_session("Agent/ AGENT/s x ", "s x");
	S_session("agents/s", "agents/s");
	S_session("agent", "agent");
	S_session("", NULL);
	S_session(" agent/ ", NULL);
	S_session("\xff", NULL);
}

static void
a_process_is_known_as_a_whole_or_not_at_all(void **state)
{
	struct owner_process p;

	(void)state;
	owner_process(getpid(), &p);
	assert_int_equal(p.pid, getpid());
	assert_true(p.start > 0 && p.ns > 0 && p.boot[0]);
	owner_process(INT32_MAX, &p);
	assert_int_equal(p.pid, 0);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, S_setup, S_teardown)
	const struct CMUnitTest tests[] = {
		CASE(existence_does_not_change_the_key),
		CASE(links_are_followed_as_far_as_they_exist),
		CASE(empty_and_over_long_paths_are_refused),
		CASE(wide_roots_are_refused),
		CASE(bytes_are_kept),
		CASE(a_key_is_told_from_other_text),
		CASE(a_session_is_spelt_in_one_way),
		CASE(a_process_is_known_as_a_whole_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
