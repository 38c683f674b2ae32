/*
 * t_worker.c - threads that wait for work
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/worker.h"

struct sum {
	unsigned long upto, total;
	long thread;
};

static void
S_add_up(void *arg)
{
	struct sum *s = arg;

	s->total = 0;
	for (unsigned long i = 1; i <= s->upto; i++)
		s->total += i;
	s->thread = syscall(SYS_gettid);
}

static void
what_was_handed_over_is_done_when_the_wait_ends(void **state)
{
	struct fault f = FAULT_INIT;
	struct worker *w;
	struct sum s = { .upto = 0 };
	long first = 0;

	(void)state;
	assert_int_equal(worker_start(&w, &f), 0);
	for (unsigned long n = 1; n <= 2000; n++) {
		s.upto = n;
		worker_run(w, S_add_up, &s);
		worker_wait(w);
		assert_int_equal(s.total, n * (n + 1) / 2);
		if (n == 1)
			first = s.thread;
		assert_int_equal(s.thread, first);
	}
	assert_int_not_equal(first, syscall(SYS_gettid));
	worker_free(w);
}

static void
freeing_a_worker_waits_for_its_work(void **state)
{
	struct fault f = FAULT_INIT;
	struct worker *w;
	struct sum s = { .upto = 1000000 };

	(void)state;
	assert_int_equal(worker_start(&w, &f), 0);
	worker_run(w, S_add_up, &s);
	worker_free(w);
	assert_int_equal(s.total, 500000500000ul);
	worker_free(NULL);
}

static void
an_idle_worker_can_be_waited_for_and_freed(void **state)
{
	struct fault f = FAULT_INIT;
	struct worker *w;

	(void)state;
	assert_int_equal(worker_start(&w, &f), 0);
	worker_wait(w);
	worker_free(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_was_handed_over_is_done_when_the_wait_ends),
		cmocka_unit_test(freeing_a_worker_waits_for_its_work),
		cmocka_unit_test(an_idle_worker_can_be_waited_for_and_freed),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
