/*
 * t_jail.c - what the shipped filter does to a live child
 *
 * Each case makes one call in the jail (jailed.h). What the parent sees of
 * such a child from outside is in t_dropped.c.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "recover/filter.h"
#include "tests/unit/jailed.h"
#include "tests/unit/skipped.h"

/* One system call, made raw. */
struct attempt {
	const char *test;
	long nr;
	long arg[6];
};

static const struct sockaddr_un somewhere = { .sun_family = AF_UNIX,
					      .sun_path = "/run/somewhere" };
static const long how[3] = { O_RDONLY, 0, 0 };	/* struct open_how */
static char word[64];
static const struct iovec words = { .iov_base = word, .iov_len = 1 };
static const struct rlimit plenty = { 64, 64 };
#define P(x) ((long)(x))
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

static const struct attempt attempts[] = {
#ifdef SYS_open
	{ "open_kills_the_helper", SYS_open, { P("/dev/null"), O_RDONLY } },
	{ "fork_kills_the_helper", SYS_fork, { 0 } },
	{ "vfork_kills_the_helper", SYS_vfork, { 0 } },
	{ "rename_kills_the_helper", SYS_rename, { P("/a"), P("/b") } },
	{ "unlink_kills_the_helper", SYS_unlink, { P("/tmp/a") } },
	{ "stat_kills_the_helper", SYS_stat, { P("/"), P(word) } },
	{ "readlink_kills_the_helper", SYS_readlink,
	  { P("/proc/self/exe"), P(word), 10 } },
	{ "arch_prctl_kills_the_helper", SYS_arch_prctl, { 0x1003, P(word) } },
#endif
	{ "openat_kills_the_helper", SYS_openat,
	  { AT_FDCWD, P("/dev/null"), O_RDONLY } },
	{ "openat_of_a_given_descriptor_kills_the_helper", SYS_openat,
	  { EVIDENCE_FD, P("a"), O_RDONLY } },
	{ "openat2_kills_the_helper", SYS_openat2,
	  { AT_FDCWD, P("/dev/null"), P(how), sizeof(how) } },
	{ "open_by_handle_at_kills_the_helper", SYS_open_by_handle_at,
	  { EVIDENCE_FD, P(word), O_RDONLY } },
	{ "memfd_create_kills_the_helper", SYS_memfd_create, { P("m"), 0 } },
	{ "socket_kills_the_helper", SYS_socket, { AF_UNIX, SOCK_STREAM, 0 } },
	{ "an_internet_socket_kills_the_helper", SYS_socket,
	  { AF_INET, SOCK_STREAM, 0 } },
	{ "connect_kills_the_helper", SYS_connect,
	  { ASK_FD, P(&somewhere), sizeof(somewhere) } },
	{ "sendto_kills_the_helper", SYS_sendto, { ASK_FD, P(word), 1 } },
	{ "sendmsg_kills_the_helper", SYS_sendmsg, { ASK_FD, P(word), 0 } },
	{ "execve_kills_the_helper", SYS_execve, { P("/bin/true"), 0, 0 } },
	{ "execveat_kills_the_helper", SYS_execveat,
	  { EVIDENCE_FD, P(""), 0, 0, AT_EMPTY_PATH } },
	{ "clone_kills_the_helper", SYS_clone, { SIGCHLD } },
	{ "clone3_kills_the_helper", SYS_clone3, { P(word), 64 } },
	{ "kill_kills_the_helper", SYS_kill, { 1, 0 } },
	{ "tkill_kills_the_helper", SYS_tkill, { 1, SIGABRT } },
	{ "tgkill_of_another_process_kills_the_helper", SYS_tgkill,
	  { 1, 1, SIGABRT } },
	{ "pidfd_open_kills_the_helper", SYS_pidfd_open, { 1, 0 } },
	{ "pidfd_getfd_kills_the_helper", SYS_pidfd_getfd,
	  { EVIDENCE_FD, 0, 0 } },
	{ "ptrace_kills_the_helper", SYS_ptrace, { PTRACE_ATTACH, 1, 0, 0 } },
	{ "process_vm_readv_kills_the_helper", SYS_process_vm_readv,
	  { 1, P(&words), 1, P(&words), 1, 0 } },
	{ "process_vm_writev_kills_the_helper", SYS_process_vm_writev,
	  { 1, P(&words), 1, P(&words), 1, 0 } },
	{ "renameat2_kills_the_helper", SYS_renameat2,
	  { AT_FDCWD, P("/a"), AT_FDCWD, P("/b"), 0 } },
	{ "unlinkat_kills_the_helper", SYS_unlinkat,
	  { AT_FDCWD, P("/tmp/a"), 0 } },
	{ "linkat_kills_the_helper", SYS_linkat,
	  { AT_FDCWD, P("/a"), AT_FDCWD, P("/b"), 0 } },
	{ "ftruncate_kills_the_helper", SYS_ftruncate, { EVIDENCE_FD, 0 } },
	{ "fchmod_kills_the_helper", SYS_fchmod, { EVIDENCE_FD, 0777 } },
	{ "mkdirat_kills_the_helper", SYS_mkdirat, { AT_FDCWD, P("/a"), 0 } },
	{ "statx_kills_the_helper", SYS_statx,
	  { AT_FDCWD, P("/"), 0, 0, P(word) } },
	{ "getdents64_kills_the_helper", SYS_getdents64,
	  { EVIDENCE_FD, P(word), 64 } },
	{ "an_executable_mapping_kills_the_helper", SYS_mmap,
	  { 0, 4096, PROT_READ | PROT_EXEC, ANON, -1, 0 } },
	{ "a_mapping_of_the_evidence_kills_the_helper", SYS_mmap,
	  { 0, 4096, PROT_READ, MAP_PRIVATE, EVIDENCE_FD, 0 } },
	{ "mprotect_to_executable_kills_the_helper", SYS_mprotect,
	  { 0, 4096, PROT_READ | PROT_EXEC } },
	{ "pkey_mprotect_kills_the_helper", SYS_pkey_mprotect,
	  { 0, 4096, PROT_READ | PROT_EXEC, -1 } },
	{ "personality_kills_the_helper", SYS_personality, { 0x0400000 } },
	{ "a_write_to_the_evidence_kills_the_helper", SYS_write,
	  { EVIDENCE_FD, P("x"), 1 } },
	{ "a_write_to_the_ask_kills_the_helper", SYS_write,
	  { ASK_FD, P("x"), 1 } },
	{ "a_write_to_standard_output_kills_the_helper", SYS_write,
	  { 1, P("x"), 1 } },
	{ "writev_to_the_evidence_kills_the_helper", SYS_writev,
	  { EVIDENCE_FD, P(&words), 1 } },
	{ "pwrite_to_the_evidence_kills_the_helper", SYS_pwrite64,
	  { EVIDENCE_FD, P("x"), 1, 0 } },
	{ "a_read_that_moves_the_evidence_kills_the_helper", SYS_read,
	  { EVIDENCE_FD, P(word), 1 } },
	{ "lseek_kills_the_helper", SYS_lseek, { EVIDENCE_FD, 0, 0 } },
	{ "fcntl_kills_the_helper", SYS_fcntl, { EVIDENCE_FD, F_GETFL } },
	{ "flock_kills_the_helper", SYS_flock, { EVIDENCE_FD, 2 } },
	{ "dup_kills_the_helper", SYS_dup, { EVIDENCE_FD } },
	{ "close_kills_the_helper", SYS_close, { EVIDENCE_FD } },
	{ "ioctl_kills_the_helper", SYS_ioctl, { REPLY_FD, 0x541b, P(word) } },
	{ "io_uring_setup_kills_the_helper", SYS_io_uring_setup,
	  { 4, P(word) } },
	{ "bpf_kills_the_helper", SYS_bpf, { 0, P(word), 64 } },
	{ "userfaultfd_kills_the_helper", SYS_userfaultfd, { 0 } },
	{ "perf_event_open_kills_the_helper", SYS_perf_event_open,
	  { P(word), 0, -1, -1, 0 } },
	{ "shmget_kills_the_helper", SYS_shmget, { 1, 4096, 0600 } },
	{ "keyctl_kills_the_helper", SYS_keyctl, { 0, 0, 0 } },
	{ "prctl_kills_the_helper", SYS_prctl, { PR_SET_DUMPABLE, 1 } },
	{ "seccomp_kills_the_helper", SYS_seccomp, { 0, 0, 0 } },
	{ "setresuid_kills_the_helper", SYS_setresuid, { 0, 0, 0 } },
	{ "capset_kills_the_helper", SYS_capset, { P(word), P(word) } },
	{ "unshare_kills_the_helper", SYS_unshare, { 0x10000000 } },
	{ "mount_kills_the_helper", SYS_mount,
	  { P("a"), P("/"), P("tmpfs"), 0, 0 } },
	{ "a_change_of_the_descriptor_limit_kills_the_helper", SYS_prlimit64,
	  { 0, RLIMIT_NOFILE, P(&plenty), 0 } },
	{ "a_change_of_the_parents_limits_kills_the_helper", SYS_prlimit64,
	  { 1, RLIMIT_AS, P(&plenty), 0 } },
};

#define ATTEMPTS (sizeof(attempts) / sizeof(attempts[0]))

static void
S_attempt(struct child *c, void *arg)
{
	const struct attempt *a = arg;

	(void)c;
	(void)syscall(a->nr, a->arg[0], a->arg[1], a->arg[2], a->arg[3],
		      a->arg[4], a->arg[5]);
}

/* What the sanitizers' filter lets pass is no news. */
static void
S_dies_of_sigsys(void (*fn)(struct child *c, void *arg), void *arg)
{
	struct child c;
	int status;

	if (!filter_shipped)
		SKIP("needs the shipped filter");
	S_start(&c, fn, arg);
	status = S_end(&c);
	if (WIFEXITED(status))
		fail_msg("the call came back: exit %d", WEXITSTATUS(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

static void
S_lives(void (*fn)(struct child *c, void *arg), void *arg)
{
	struct child c;
	int status;

	S_start(&c, fn, arg);
	status = S_end(&c);
	if (WIFSIGNALED(status))
		fail_msg("killed by signal %d", WTERMSIG(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_RETURNED);
}

static void
S_run_attempt(void **state)
{
	S_dies_of_sigsys(S_attempt, *state);
}

static void
S_open_quietly(void *arg)
{
	(void)arg;
	(void)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY);
}

static void
S_open_in_the_thread(struct child *c, void *arg)
{
	(void)arg;
	worker_run(c->worker, S_open_quietly, NULL);
	worker_wait(c->worker);
}

static void
openat_in_the_second_thread_kills_the_helper(void **state)
{
	(void)state;
	S_dies_of_sigsys(S_open_in_the_thread, NULL);
}

static void *
S_nothing(void *arg)
{
	return arg;
}

static void
S_new_thread(struct child *c, void *arg)
{
	pthread_t t;

	(void)c;
	(void)arg;
	(void)pthread_create(&t, NULL, S_nothing, NULL);
}

static void
a_new_thread_kills_the_helper(void **state)
{
	(void)state;
	S_dies_of_sigsys(S_new_thread, NULL);
}

#ifdef __x86_64__
static void
S_int80(struct child *c, void *arg)
{
	long rc = 20;	/* getpid there, and writev here */

	(void)c;
	(void)arg;
	__asm__ volatile("int $0x80" : "+a"(rc) : : "memory");
}

static void
a_call_by_the_32_bit_gate_kills_the_helper(void **state)
{
	(void)state;
	S_dies_of_sigsys(S_int80, NULL);
}

static void
S_x32(struct child *c, void *arg)
{
	(void)c;
	(void)arg;
	(void)syscall(0x40000000L | SYS_getpid);
}

static void
a_call_of_the_x32_table_kills_the_helper(void **state)
{
	(void)state;
	S_dies_of_sigsys(S_x32, NULL);
}
#endif

static void
S_reads_and_answers(struct child *c, void *arg)
{
	char got[9] = { 0 };

	(void)c;
	(void)arg;
	S_must(pread(EVIDENCE_FD, got, 8, 0) == 8);
	S_must(strcmp(got, "evidence") == 0);
	S_must(read(ASK_FD, got, 1) == 0);
	S_must(write(REPLY_FD, "x", 1) == 1);
}

static void
the_helper_may_read_evidence_and_ask_and_answer(void **state)
{
	(void)state;
	S_lives(S_reads_and_answers, NULL);
}

/* Small blocks, one that moves as it grows, many large ones; given back. */
static void
S_allocate(void *arg)
{
	enum { BLOCKS = 64 };
	unsigned char *block[BLOCKS], *grown = NULL;

	for (size_t i = 0; i < BLOCKS; i++) {
		block[i] = malloc((size_t)1 << (4 + i % 18));
		S_must(block[i] != NULL);
		block[i][0] = 1;
	}
	for (size_t n = 1 << 12; n <= 64u << 20; n *= 2) {
		unsigned char *next = realloc(grown, n);

		S_must(next != NULL);
		grown = next;
		grown[n - 1] = 1;
	}
	free(grown);
	for (size_t i = 0; i < BLOCKS; i++)
		free(block[i]);
	*(int *)arg += 1;
}

static void
S_allocates(struct child *c, void *arg)
{
	int there = 0, here = 0;

	(void)arg;
	worker_run(c->worker, S_allocate, &there);
	S_allocate(&here);
	worker_wait(c->worker);
	S_must(there == 1 && here == 1);
	worker_free(c->worker);
}

static void
both_threads_may_allocate_and_end(void **state)
{
	(void)state;
	S_lives(S_allocates, NULL);
}

static int
S_compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void
S_sorts(struct child *c, void *arg)
{
	static int n[4096];

	(void)c;
	(void)arg;
	for (int i = 0; i < 4096; i++)
		n[i] = 4095 - i;
	qsort(n, 4096, sizeof(n[0]), S_compare);
	S_must(n[0] == 0 && n[4095] == 4095);
}

static void
qsort_works_inside(void **state)
{
	(void)state;
	S_lives(S_sorts, NULL);
}

static void
S_digests(struct child *c, void *arg)
{
	/* SHA-256 of "abc": FIPS 180-4, example B.1 */
	static const char want[] = "ba7816bf8f01cfea414140de5dae2223"
				   "b00361a396177a9cb410ff61f20015ad";
	struct fault f = FAULT_INIT;
	struct digest *d;
	unsigned char raw[DIGEST_BYTES];
	char hex[DIGEST_HEX_BYTES];

	(void)c;
	(void)arg;
	S_must(digest_new(&d, &f) == 0);
	digest_bytes(d, "abc", 3);
	digest_final(d, raw);
	digest_free(d);
	digest_hex(raw, hex);
	S_must(strcmp(hex, want) == 0);
}

static void
digests_work_inside(void **state)
{
	(void)state;
	S_lives(S_digests, NULL);
}

static void
S_caps_memory(struct child *c, void *arg)
{
	struct fault f = FAULT_INIT;
	void *p;

	(void)c;
	(void)arg;
	S_must(filter_cap_memory(1ull << 30, &f) == 0);
	p = malloc(2ull << 30);
	S_must(p == NULL);
	p = malloc(1 << 20);
	S_must(p != NULL);
	free(p);
}

static void
the_address_space_can_be_limited_inside(void **state)
{
	(void)state;
	if (!filter_shipped)
		SKIP("needs the shipped filter");
	S_lives(S_caps_memory, NULL);
}

static void
S_aborts(struct child *c, void *arg)
{
	(void)c;
	MUST(arg != NULL);
}

static void
a_failed_must_shows_as_sigabrt_and_not_as_an_escape(void **state)
{
	struct child c;
	int status;

	(void)state;
	S_start(&c, S_aborts, NULL);
	status = S_end(&c);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_false(WCOREDUMP(status));
}

static const struct CMUnitTest others[] = {
	cmocka_unit_test(openat_in_the_second_thread_kills_the_helper),
	cmocka_unit_test(a_new_thread_kills_the_helper),
#ifdef __x86_64__
	cmocka_unit_test(a_call_by_the_32_bit_gate_kills_the_helper),
	cmocka_unit_test(a_call_of_the_x32_table_kills_the_helper),
#endif
	cmocka_unit_test(the_helper_may_read_evidence_and_ask_and_answer),
	cmocka_unit_test(both_threads_may_allocate_and_end),
	cmocka_unit_test(digests_work_inside),
	cmocka_unit_test(qsort_works_inside),
	cmocka_unit_test(the_address_space_can_be_limited_inside),
	cmocka_unit_test(a_failed_must_shows_as_sigabrt_and_not_as_an_escape),
};

#define OTHERS (sizeof(others) / sizeof(others[0]))

int
main(void)
{
	static struct CMUnitTest tests[ATTEMPTS + OTHERS];

	for (size_t i = 0; i < ATTEMPTS; i++)
		tests[i] = (struct CMUnitTest){
			.name = attempts[i].test,
			.test_func = S_run_attempt,
			.initial_state = (void *)(uintptr_t)&attempts[i],
		};
	memcpy(tests + ATTEMPTS, others, sizeof(others));
	return cmocka_run_group_tests_name("jail", tests, NULL, NULL);
}
