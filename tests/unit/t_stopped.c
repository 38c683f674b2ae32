/*
 * t_stopped.c - what stands in for a writer's descriptor table
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "capture/stopped.h"
#include "tests/unit/folder.h"
#include "tests/unit/skipped.h"
#include "tests/unit/targets.h"

struct fixture {
	struct folder dir;
	struct held held;
	struct notes notes;
	struct fault fault;
	char who[768];
};

static int
S_setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));

	if (!x || folder_make(&x->dir))
		return -1;
	x->held = (struct held){ .fd = -1, .role = ROLE_WAL };
	*state = x;
	return folder_write(&x->dir, "a", "content", 7);
}

static int
S_teardown(void **state)
{
	struct fixture *x = *state;

	held_free(&x->held);
	notes_free(&x->notes);
	folder_remove(&x->dir);
	free(x);
	return 0;
}

static int
S_private(struct fixture *x)
{
	return stopped_private(x->dir.fd, geteuid(), x->who, sizeof(x->who),
			       &x->fault);
}

static void
a_folder_of_our_own_below_a_sticky_one_is_private(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(S_private(x), 0);
}

static void
a_folder_that_others_can_write_is_not(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(fchmod(x->dir.fd, 0777), 0);
	assert_int_equal(S_private(x), 1);
	assert_non_null(strstr(x->who, x->dir.path));
	assert_non_null(strstr(x->who, "0777"));
}

static void
a_folder_of_another_user_is_not(void **state)
{
	struct fixture *x = *state;

	if (geteuid() != 0)
		SKIP("needs root");
	assert_int_equal(fchown(x->dir.fd, 12345, 12345), 0);
	assert_int_equal(S_private(x), 1);
	assert_non_null(strstr(x->who, "uid 12345"));
}

static void
a_sticky_folder_protects_only_an_entry_of_ours(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(fchmod(x->dir.fd, 01777), 0);
	assert_int_equal(S_private(x), 0);
	assert_int_equal(stopped_private(x->dir.fd, 12345, x->who,
					 sizeof(x->who), &x->fault), 1);
}

static void
a_symbolic_link_is_not_followed(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(symlinkat("a", x->dir.fd, "link"), 0);
	assert_int_equal(stopped_take(&x->held, x->dir.fd, "link", &x->fault),
			 -FAULT_REFUSED);
	assert_non_null(strstr(x->fault.text, "symbolic link"));
	assert_int_equal(x->held.fd, -1);
}

static void
a_fifo_does_not_block(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(mkfifoat(x->dir.fd, "fifo", 0600), 0);
	assert_int_equal(stopped_take(&x->held, x->dir.fd, "fifo", &x->fault),
			 -FAULT_REFUSED);
	assert_non_null(strstr(x->fault.text, "FIFO"));
}

static int
S_lease(struct fixture *x, bool *leased)
{
	assert_int_equal(stopped_take(&x->held, x->dir.fd, "a", &x->fault), 0);
	return stopped_lease(&x->held, &x->notes, leased, &x->fault);
}

static void
a_lease_is_refused_while_somebody_writes(void **state)
{
	struct fixture *x = *state;
	int writer = openat(x->dir.fd, "a", O_RDWR | O_CLOEXEC);
	bool leased;

	assert_true(writer >= 0);
	assert_int_equal(S_lease(x, &leased), -FAULT_REFUSED);
	assert_false(leased);
	(void)close(writer);
}

/* The child's open returns: nobody is made to wait for us. */
static void
S_open_to_write(struct shared *s, void *arg)
{
	struct fixture *x = arg;

	if (openat(x->dir.fd, "a", O_RDWR | O_CLOEXEC) >= 0)
		atomic_store(&s->ready, 1);
}

static void
who_opens_to_write_is_let_in_at_once_and_noticed(void **state)
{
	struct fixture *x = *state;
	struct shared *s = target_shared();
	bool leased;
	int status;
	pid_t pid;

	assert_non_null(s);
	assert_int_equal(S_lease(x, &leased), 0);
	if (!leased)
		SKIP("no lease here");
	assert_int_equal(stopped_lease_still(&x->held, &x->fault), 0);
	pid = target_fork(S_open_to_write, s, x);
	assert_true(pid > 0);
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	assert_int_equal(atomic_load(&s->ready), 1);
	assert_int_equal(stopped_lease_still(&x->held, &x->fault),
			 -FAULT_UNSTABLE);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, S_setup, S_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_folder_of_our_own_below_a_sticky_one_is_private),
		CASE(a_folder_that_others_can_write_is_not),
		CASE(a_folder_of_another_user_is_not),
		CASE(a_sticky_folder_protects_only_an_entry_of_ours),
		CASE(a_symbolic_link_is_not_followed),
		CASE(a_fifo_does_not_block),
		CASE(a_lease_is_refused_while_somebody_writes),
		CASE(who_opens_to_write_is_let_in_at_once_and_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
