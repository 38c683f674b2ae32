/*
 * t_dropped.c - what a jailed helper has left, as its parent sees it
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/own.h"
#include "tests/unit/jailed.h"
#include "tests/unit/skipped.h"

static void
S_waits_for_the_ask(struct child *c, void *arg)
{
	(void)c;
	(void)arg;
	(void)!read(ASK_FD, &c->up, 1);
}

/* The value of one field of /proc/PID/task/TID/status, without blanks
   around it; empty where the kernel does not show it. */
static void
S_field(const char *dir, const char *name, char value[256])
{
	char path[320], line[512];
	FILE *in;

	value[0] = '\0';
	(void)snprintf(path, sizeof(path), "%s/status", dir);
	in = fopen(path, "re");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		size_t n = strlen(name);

		if (strncmp(line, name, n) || line[n] != ':')
			continue;
		line[strcspn(line, "\n")] = '\0';
		n += 1 + strspn(line + n + 1, "\t ");
		(void)snprintf(value, 256, "%s", line + n);
	}
	(void)fclose(in);
}

static void
S_expect(pid_t pid, const char *name, const char *want)
{
	char path[64], value[256];
	struct dirent *e;
	unsigned seen = 0;
	OWN_DIR(tasks);

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	assert_non_null(tasks);
	while ((e = readdir(tasks))) {
		char task[64 + sizeof(e->d_name)];

		if (e->d_name[0] == '.')
			continue;
		(void)snprintf(task, sizeof(task), "%s/%s", path, e->d_name);
		S_field(task, name, value);
		if (strcmp(value, want))
			fail_msg("%s of thread %s is \"%s\", not \"%s\"", name,
				 e->d_name, value, want);
		seen++;
	}
	assert_int_equal(seen, 2);
}

static void
S_look(void (*look)(pid_t pid))
{
	struct child c;

	S_start(&c, S_waits_for_the_ask, NULL);
	look(c.pid);
	assert_int_equal(S_end(&c), 0);
}

static void
S_look_ids(pid_t pid)
{
	char uids[64], gids[64];
	unsigned u = geteuid() ? getuid() : JAIL_UID;
	unsigned g = geteuid() ? getgid() : JAIL_GID;

	(void)snprintf(uids, sizeof(uids), "%u\t%u\t%u\t%u", u, u, u, u);
	(void)snprintf(gids, sizeof(gids), "%u\t%u\t%u\t%u", g, g, g, g);
	S_expect(pid, "Uid", uids);
	S_expect(pid, "Gid", gids);
	if (geteuid() == 0)
		S_expect(pid, "Groups", "");
}

static void
the_parent_sees_the_dropped_ids_in_every_thread(void **state)
{
	(void)state;
	S_look(S_look_ids);
}

static void
S_look_capabilities(pid_t pid)
{
	static const char none[] = "0000000000000000";

	S_expect(pid, "CapInh", none);
	S_expect(pid, "CapPrm", none);
	S_expect(pid, "CapEff", none);
	S_expect(pid, "CapAmb", none);
	if (geteuid() == 0)
		S_expect(pid, "CapBnd", none);
}

static void
the_parent_sees_no_capabilities_in_any_thread(void **state)
{
	(void)state;
	S_look(S_look_capabilities);
}

static void
S_look_walls(pid_t pid)
{
	char ours[256], want[16];

	S_expect(pid, "NoNewPrivs", "1");
	S_expect(pid, "Seccomp", "2");
	S_field("/proc/self", "Seccomp_filters", ours);
	if (ours[0]) {
		(void)snprintf(want, sizeof(want), "%d", atoi(ours) + 1);
		S_expect(pid, "Seccomp_filters", want);
	}
}

static void
the_parent_sees_the_filter_in_every_thread(void **state)
{
	(void)state;
	S_look(S_look_walls);
}

static void
S_look_descriptors(pid_t pid)
{
	char path[64];
	struct dirent *e;
	unsigned seen = 0;
	OWN_DIR(fds);

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fds = opendir(path);
	if (!fds)
		SKIP("the child's descriptors are not shown to us");
	while ((e = readdir(fds))) {
		if (e->d_name[0] == '.')
			continue;
		assert_true(atoi(e->d_name) <= EVIDENCE_FD);
		seen++;
	}
	assert_int_equal(seen, EVIDENCE_FD + 1);
}

static void
a_descriptor_that_nobody_documented_is_closed(void **state)
{
	(void)state;
	S_look(S_look_descriptors);
}

/* /proc/PID/limits, since prlimit needs a right that root may lack. */
static void
S_look_limits(pid_t pid)
{
	static const char *const limits[][2] = {
		{ "Max core file size", "0 0" },
		{ "Max file size", "0 0" },
		{ "Max processes", "0 0" },
		{ "Max open files", "6 6" },	/* EVIDENCE_FD and below */
	};
	char path[64], line[256], got[64], soft[24], hard[24];
	unsigned seen = 0;
	FILE *in;

	(void)snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	in = fopen(path, "re");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]);
		     i++) {
			size_t n = strlen(limits[i][0]);

			if (strncmp(line, limits[i][0], n))
				continue;
			assert_int_equal(sscanf(line + n, "%23s %23s", soft,
						hard), 2);
			(void)snprintf(got, sizeof(got), "%s %s", soft, hard);
			assert_string_equal(got, limits[i][1]);
			seen++;
		}
	}
	(void)fclose(in);
	assert_int_equal(seen, sizeof(limits) / sizeof(limits[0]));
}

static void
no_core_no_file_no_process_is_left_to_it(void **state)
{
	(void)state;
	S_look(S_look_limits);
}

/* Runs fn in a child without a jail; its exit status. */
static int
S_outside(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		fn();
		_exit(EXIT_RETURNED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
S_drop_with_few_descriptors(void)
{
	struct jail_report r;
	struct fault f = FAULT_INIT;

	(void)close_range(ASK_FD, ~0u, 0);
	S_must(jail_drop(&r, &f) == -FAULT_SANDBOX);
	S_must(strstr(f.text, "without descriptor 3") != NULL);
}

static void
a_missing_descriptor_is_a_sandbox_fault(void **state)
{
	(void)state;
	assert_int_equal(S_outside(S_drop_with_few_descriptors),
			 EXIT_RETURNED);
}

static void
S_drop_without(unsigned capability, const char *step)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct set[2];
	struct jail_report r;
	struct fault f = FAULT_INIT;

	S_must(syscall(SYS_capget, &head, set) == 0);
	set[0].effective &= ~(1u << capability);
	set[0].permitted &= ~(1u << capability);
	S_must(syscall(SYS_capset, &head, set) == 0);
	S_arrange(open("/dev/null", O_RDONLY), open("/dev/null", O_WRONLY));
	S_must(jail_drop(&r, &f) == -FAULT_SANDBOX);
	S_must(strstr(f.text, step) != NULL);
	S_must(f.hint[0] != '\0');
}

static void
S_drop_without_setuid(void)
{
	S_drop_without(CAP_SETUID, "become uid 65534");
}

static void
S_drop_without_setgid(void)
{
	S_drop_without(CAP_SETGID, "become uid 65534");
}

static void
S_drop_without_setpcap(void)
{
	S_drop_without(CAP_SETPCAP, "bounding set");
}

static void
a_root_that_can_not_drop_its_ids_is_a_sandbox_fault(void **state)
{
	(void)state;
	if (geteuid())
		SKIP("needs root");
	assert_int_equal(S_outside(S_drop_without_setuid), EXIT_RETURNED);
	assert_int_equal(S_outside(S_drop_without_setgid), EXIT_RETURNED);
	assert_int_equal(S_outside(S_drop_without_setpcap), EXIT_RETURNED);
}

/* As the jail, without the filter: Landlock alone must hold. */
static void
S_only_landlock(void)
{
	struct jail_report r;
	struct fault f = FAULT_INIT;

	S_arrange(open("/dev/null", O_RDONLY), open("/dev/null", O_WRONLY));
	S_must(jail_drop(&r, &f) == 0);
	if (r.landlock == 0)
		_exit(EXIT_NO_JAIL);
	/* The limit on descriptors must not be what refuses. */
	(void)close(0);
	S_must(open("/dev/null", O_RDONLY) < 0 && errno == EACCES);
	S_must(open("/", O_RDONLY) < 0 && errno == EACCES);
}

static void
landlock_alone_denies_every_open(void **state)
{
	int status = S_outside(S_only_landlock);

	(void)state;
	if (status == EXIT_NO_JAIL)
		SKIP("the sandbox can't be put up here");
	assert_int_equal(status, EXIT_RETURNED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_parent_sees_the_dropped_ids_in_every_thread),
		cmocka_unit_test(
			the_parent_sees_no_capabilities_in_any_thread),
		cmocka_unit_test(the_parent_sees_the_filter_in_every_thread),
		cmocka_unit_test(
			a_descriptor_that_nobody_documented_is_closed),
		cmocka_unit_test(no_core_no_file_no_process_is_left_to_it),
		cmocka_unit_test(a_missing_descriptor_is_a_sandbox_fault),
		cmocka_unit_test(
			a_root_that_can_not_drop_its_ids_is_a_sandbox_fault),
		cmocka_unit_test(landlock_alone_denies_every_open),
	};

	return cmocka_run_group_tests_name("dropped", tests, NULL, NULL);
}
