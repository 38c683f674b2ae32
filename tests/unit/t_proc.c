/*
 * t_proc.c - a process is told from another of the same number
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "capture/proc.h"
#include "tests/unit/skipped.h"
#include "tests/unit/targets.h"

static void
a_process_is_the_same_until_it_ends(void **state)
{
	struct fault f = FAULT_INIT;
	struct shared *s = target_shared();
	pid_t pid = target_fork(target_count, s, NULL);
	char named[64];
	OWN_PROC(p);

	(void)state;
	assert_int_equal(proc_open(pid, &p, &f), 0);
	assert_int_equal(p.pid, pid);
	assert_int_equal(proc_same(&p, &f), 0);
	/* A zombie holds no file: it is no writer any longer. */
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_true(BECOMES(proc_same(&p, &f) == -FAULT_UNSTABLE));
	(void)snprintf(named, sizeof(named), "process %d ended", (int)pid);
	assert_string_equal(f.text, named);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(proc_same(&p, &f), -FAULT_UNSTABLE);
	(void)munmap(s, sizeof(*s));
}

static void
another_start_time_is_another_process(void **state)
{
	struct fault f = FAULT_INIT;
	OWN_PROC(p);

	(void)state;
	assert_int_equal(proc_open(getpid(), &p, &f), 0);
	p.start_time++;
	assert_int_equal(proc_same(&p, &f), -FAULT_UNSTABLE);
	assert_non_null(strstr(f.text, "another one now"));
}

/* The number of a process that ended goes to the next one that is made. */
static void
a_held_directory_does_not_follow_the_number(void **state)
{
	struct fault f = FAULT_INIT;
	struct shared *s = target_shared();
	pid_t pid = target_fork(target_count, s, NULL), next = -1;
	char want[16];
	int fd;
	OWN_PROC(p);
	OWN_PROC(q);

	(void)state;
	assert_int_equal(proc_open(pid, &p, &f), 0);
	target_kill(pid);
	(void)snprintf(want, sizeof(want), "%d", (int)pid - 1);
	for (int i = 0; i < 50 && next != pid; i++) {
		fd = open("/proc/sys/kernel/ns_last_pid",
			  O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			SKIP("needs to write ns_last_pid");
		(void)!write(fd, want, strlen(want));
		(void)close(fd);
		if (next > 0)
			target_kill(next);
		next = target_fork(target_count, s, NULL);
	}
	if (next == pid) {
		assert_int_equal(proc_open(pid, &q, &f), 0);
		assert_int_equal(proc_same(&q, &f), 0);
		assert_int_equal(proc_same(&p, &f), -FAULT_UNSTABLE);
	}
	target_kill(next);
	(void)munmap(s, sizeof(*s));
	if (next != pid)
		SKIP("the process id did not come back");
}

static void
a_number_that_nobody_has_is_no_process(void **state)
{
	struct fault f = FAULT_INIT;
	OWN_PROC(p);

	(void)state;
	assert_int_equal(proc_open(INT_MAX, &p, &f), 1);
	assert_true(p.dirfd < 0);
}

static void
S_with_a_name(struct shared *s, void *arg)
{
	(void)prctl(PR_SET_NAME, arg);
	atomic_store(&s->ready, 1);
	target_count(s, NULL);
}

/* The name is in the middle of the line and holds what it likes. */
static void
a_hostile_name_does_not_move_the_fields(void **state)
{
	struct fault f = FAULT_INIT;
	struct shared *s = target_shared();
	char name[] = ") Z 1 (\n) T";
	pid_t pid = target_fork(S_with_a_name, s, name);
	struct proc_stat before, after;
	OWN_PROC(p);
	OWN_PROC(us);

	(void)state;
	assert_true(BECOMES(atomic_load(&s->ready) == 1));
	assert_int_equal(proc_open(getpid(), &us, &f), 0);
	assert_int_equal(proc_open(pid, &p, &f), 0);
	assert_int_equal(proc_stat(&us, 0, &before, &f), 0);
	assert_int_equal(proc_stat(&p, 0, &after, &f), 0);
	assert_int_equal(after.state, 'R');
	assert_int_equal(after.threads, 1);
	assert_true(after.start_time >= before.start_time);
	assert_int_equal(proc_same(&p, &f), 0);
	target_kill(pid);
	(void)munmap(s, sizeof(*s));
}

static void
status_gives_values_by_whole_keys(void **state)
{
	struct fault f = FAULT_INIT;
	char value[PROC_VALUE_BYTES], want[32];
	OWN_PROC(p);

	(void)state;
	assert_int_equal(proc_open(getpid(), &p, &f), 0);
	(void)snprintf(want, sizeof(want), "%d", (int)getpid());
	assert_int_equal(proc_status_value(&p, 0, "Pid", value, sizeof(value),
					   &f), 0);
	assert_string_equal(value, want);
	assert_int_equal(proc_status_value(&p, gettid(), "Tgid", value,
					   sizeof(value), &f), 0);
	assert_string_equal(value, want);
	assert_int_equal(proc_status_value(&p, 0, "Pi", value, sizeof(value),
					   &f), 1);
	assert_int_equal(proc_status_value(&p, INT_MAX, "Pid", value,
					   sizeof(value), &f), 1);
}

static void
ids_and_program_are_those_of_the_process(void **state)
{
	struct fault f = FAULT_INIT;
	struct proc_ids ids;
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	OWN_PROC(p);
	OWN_MEM(char, exe);

	(void)state;
	assert_true(n > 0);
	path[n] = '\0';
	assert_int_equal(proc_open(getpid(), &p, &f), 0);
	assert_int_equal(proc_ids(&p, &ids, &f), 0);
	assert_int_equal(ids.real, getuid());
	assert_int_equal(ids.effective, geteuid());
	exe = proc_exe(&p);
	assert_string_equal(exe, path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_the_same_until_it_ends),
		cmocka_unit_test(another_start_time_is_another_process),
		cmocka_unit_test(a_held_directory_does_not_follow_the_number),
		cmocka_unit_test(a_number_that_nobody_has_is_no_process),
		cmocka_unit_test(a_hostile_name_does_not_move_the_fields),
		cmocka_unit_test(status_gives_values_by_whole_keys),
		cmocka_unit_test(ids_and_program_are_those_of_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
