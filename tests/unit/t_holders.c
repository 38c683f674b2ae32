/*
 * t_holders.c - every holder of an inode is found, and no other
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "capture/holders.h"
#include "tests/unit/skipped.h"
#include "tests/unit/targets.h"

#define NOBODY 65534
#define FILE_BYTES 8192

static char dir[] = "/tmp/t_holders.XXXXXX";
static char path[64], other_path[64];

static int
S_make(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	int rc = fd < 0 ? -1 : ftruncate(fd, FILE_BYTES);

	if (fd >= 0)
		(void)close(fd);
	return rc;
}

static int
S_set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir) || chmod(dir, 0755))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/a.db", dir);
	(void)snprintf(other_path, sizeof(other_path), "%s/b.db", dir);
	return S_make(path) || S_make(other_path);
}

static int
S_tear_down(void **state)
{
	(void)state;
	(void)unlink(path);
	(void)unlink(other_path);
	return rmdir(dir);
}

static struct inode_id
S_id(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	return (struct inode_id){ .dev = st.st_dev, .ino = st.st_ino };
}

/* A target that did something with the file, and what was found of it. */
struct fixture {
	struct shared *s;
	pid_t pid;
	struct inode_id id;
	struct holders all;
	const struct holder *h;	/* of the target, or NULL */
};

static void
S_scan(struct fixture *x)
{
	struct fault f = FAULT_INIT;

	holders_free(&x->all);
	x->h = NULL;
	if (holders_find(&x->id, 1, &x->all, &f))
		fail_msg("%s", f.text);
	for (size_t i = 0; i < x->all.count; i++) {
		assert_int_not_equal(x->all.holder[i].pid, getpid());
		if (x->all.holder[i].pid == x->pid)
			x->h = &x->all.holder[i];
	}
}

static void
S_begin(struct fixture *x, void (*body)(struct shared *, void *))
{
	*x = (struct fixture){ .s = target_shared(), .id = S_id(path) };
	x->pid = target_fork(body, x->s, NULL);
	assert_true(x->pid > 0);
	assert_true(BECOMES(atomic_load(&x->s->ready) == 1));
	S_scan(x);
}

static void
S_finish(struct fixture *x)
{
	target_kill(x->pid);
	holders_free(&x->all);
	(void)munmap(x->s, sizeof(*x->s));
}

static void
S_stay(struct shared *s)
{
	atomic_store(&s->ready, 1);
	for (;;)
		(void)pause();
}

static void
S_open_both(struct shared *s, void *arg)
{
	(void)arg;
	(void)dup2(open(path, O_RDWR), 77);
	(void)open(other_path, O_RDWR);
	S_stay(s);
}

static void
a_descriptor_makes_a_holder(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;
	bool at_77 = false;
	OWN_PROC(p);

	(void)state;
	S_begin(&x, S_open_both);
	assert_non_null(x.h);
	assert_int_equal(x.h->nfds, 2);	/* the one that was made, and 77 */
	for (size_t i = 0; i < x.h->nfds; i++) {
		assert_true(x.h->fd[i].dev == x.id.dev);
		assert_true(x.h->fd[i].ino == x.id.ino);
		assert_true(x.h->fd[i].writable);
		assert_int_equal(x.h->fd[i].tid, x.pid);
		assert_true(S_ISREG(x.h->fd[i].mode));
		assert_string_equal(x.h->fd[i].link, path);
		at_77 = at_77 || x.h->fd[i].fd == 77;
	}
	assert_true(at_77);
	assert_true(x.h->writable);
	assert_false(x.h->split);
	assert_int_equal(x.h->uid, getuid());
	assert_int_equal(proc_open(x.pid, &p, &f), 0);
	assert_true(x.h->start_time == p.start_time);
	S_finish(&x);
}

static void
one_who_lets_go_is_a_holder_no_more(void **state)
{
	struct fixture x;

	(void)state;
	S_begin(&x, S_open_both);
	assert_non_null(x.h);
	target_kill(x.pid);
	S_scan(&x);
	assert_null(x.h);
	x.pid = 0;
	S_finish(&x);
}

static void
S_unlink_it(struct shared *s, void *arg)
{
	(void)arg;
	(void)open(path, O_RDWR);
	(void)unlink(path);
	S_stay(s);
}

static void
an_unlinked_file_is_found_and_the_new_one_is_another(void **state)
{
	struct fixture x;

	(void)state;
	S_begin(&x, S_unlink_it);
	assert_non_null(x.h);
	assert_non_null(strstr(x.h->fd[0].link, "(deleted)"));
	assert_int_equal(S_make(path), 0);
	assert_false(S_id(path).ino == x.id.ino);
	x.id = S_id(path);
	S_scan(&x);
	assert_null(x.h);
	S_finish(&x);
}

static void
S_open_to_read(struct shared *s, void *arg)
{
	(void)arg;
	(void)open(path, O_RDONLY);
	S_stay(s);
}

static void
a_reader_is_a_holder_that_cannot_write(void **state)
{
	struct fixture x;

	(void)state;
	S_begin(&x, S_open_to_read);
	assert_non_null(x.h);
	assert_false(x.h->fd[0].writable);
	assert_false(x.h->writable);
	S_finish(&x);
}

static void
S_open_to_write(struct shared *s, void *arg)
{
	(void)arg;
	(void)open(path, O_WRONLY | O_APPEND);
	S_stay(s);
}

static void
one_who_can_only_write_is_a_holder(void **state)
{
	struct fixture x;

	(void)state;
	S_begin(&x, S_open_to_write);
	assert_non_null(x.h);
	assert_true(x.h->writable);
	S_finish(&x);
}

static void
S_open_as_path(struct shared *s, void *arg)
{
	(void)arg;
	(void)open(path, O_PATH);
	S_stay(s);
}

static void
an_o_path_descriptor_holds_nothing(void **state)
{
	struct fixture x;

	(void)state;
	S_begin(&x, S_open_as_path);
	assert_null(x.h);
	S_finish(&x);
}

static void
S_map(struct shared *s, int open_flags, int prot, int flags)
{
	int fd = open(path, open_flags);

	/* Twice: it is one holding all the same. */
	for (int i = 0; i < 2; i++)
		if (mmap(NULL, FILE_BYTES, prot, flags, fd, 0) == MAP_FAILED)
			_exit(1);
	(void)close(fd);
	S_stay(s);
}

static void
S_map_to_write(struct shared *s, void *arg)
{
	(void)arg;
	S_map(s, O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED);
}

static void
S_map_to_read(struct shared *s, void *arg)
{
	(void)arg;
	S_map(s, O_RDONLY, PROT_READ, MAP_SHARED);
}

static void
S_map_to_protect(struct shared *s, void *arg)
{
	(void)arg;
	S_map(s, O_RDWR, PROT_READ, MAP_SHARED);
}

static void
S_map_private(struct shared *s, void *arg)
{
	(void)arg;
	S_map(s, O_RDWR, PROT_READ | PROT_WRITE, MAP_PRIVATE);
}

static void
a_mapping_without_a_descriptor_makes_a_holder(void **state)
{
	static const struct {
		void (*body)(struct shared *, void *);
		bool writable;
	} table[] = {
		{ S_map_to_write, true },
		{ S_map_to_read, false },
		{ S_map_to_protect, true },	/* mprotect is a step away */
		{ S_map_private, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct fixture x;

		S_begin(&x, table[i].body);
		assert_non_null(x.h);
		assert_int_equal(x.h->nfds, 1);
		assert_int_equal(x.h->fd[0].fd, -1);
		assert_true(x.h->fd[0].dev == x.id.dev);
		assert_true(x.h->fd[0].ino == x.id.ino);
		assert_int_equal(x.h->fd[0].writable, table[i].writable);
		assert_int_equal(x.h->writable, table[i].writable);
		S_finish(&x);
	}
}

/* Equal numbers on another device are another file: only a stat tells. */
static void
a_mapping_of_the_same_number_elsewhere_is_none(void **state)
{
	struct fixture x;

	(void)state;
	if (geteuid() != 0)
		SKIP("needs root");
	S_begin(&x, S_map_to_write);
	assert_non_null(x.h);
	x.id.dev = makedev(major(x.id.dev), minor(x.id.dev) + 1);
	S_scan(&x);
	assert_null(x.h);
	S_finish(&x);
}

static void *
S_hold_alone(void *arg)
{
	if (unshare(CLONE_FILES))
		_exit(1);
	(void)open(path, O_RDWR);
	S_stay(arg);
	return NULL;
}

static void
S_split(struct shared *s, void *arg)
{
	pthread_t t;

	(void)arg;
	if (pthread_create(&t, NULL, S_hold_alone, s))
		_exit(1);
	for (;;)
		(void)pause();
}

static void
a_thread_with_its_own_table_is_seen(void **state)
{
	struct fixture x;

	(void)state;
	S_begin(&x, S_split);
	assert_non_null(x.h);
	assert_int_equal(x.h->nfds, 1);
	assert_true(x.h->split);
	assert_int_not_equal(x.h->fd[0].tid, x.pid);
	S_finish(&x);
}

static void *
S_hold_on(void *arg)
{
	struct shared *s = arg;

	while (!atomic_load(&s->sent))
		(void)sched_yield();
	S_stay(s);
	return NULL;
}

static void
S_leaderless(struct shared *s, void *arg)
{
	pthread_t t;

	(void)arg;
	(void)open(path, O_RDWR);
	if (mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED,
		 open(path, O_RDONLY), 0) == MAP_FAILED
	    || pthread_create(&t, NULL, S_hold_on, s))
		_exit(1);
	atomic_store(&s->sent, 1);
	pthread_exit(NULL);
}

/* /proc/PID/fd and maps of such a process are empty. */
static void
a_process_whose_leader_ended_is_seen(void **state)
{
	struct fault f = FAULT_INIT;
	struct proc_stat st = { .state = '?' };
	struct fixture x;
	size_t maps = 0;
	OWN_PROC(p);

	(void)state;
	S_begin(&x, S_leaderless);
	assert_int_equal(proc_open(x.pid, &p, &f), 0);
	assert_true(BECOMES(!proc_stat(&p, 0, &st, &f) && st.state == 'Z'));
	S_scan(&x);
	assert_non_null(x.h);
	assert_int_equal(x.h->nfds, 3);
	assert_true(x.h->writable);
	for (size_t i = 0; i < x.h->nfds; i++)
		maps += x.h->fd[i].fd == -1;
	assert_int_equal(maps, 1);
	S_finish(&x);
}

static void *
S_idle(void *arg)
{
	(void)arg;
	for (;;)
		(void)pause();
	return NULL;
}

static void
S_many_threads(struct shared *s, void *arg)
{
	pthread_t t;

	(void)arg;
	for (int i = 0; i < 20; i++)
		if (pthread_create(&t, NULL, S_idle, NULL))
			_exit(1);
	(void)open(path, O_RDWR);
	S_stay(s);
}

static void
threads_that_share_a_table_count_once(void **state)
{
	struct fixture x;

	(void)state;
	S_begin(&x, S_many_threads);
	assert_non_null(x.h);
	assert_int_equal(x.h->nfds, 1);
	assert_false(x.h->split);
	S_finish(&x);
}

static void
the_whole_table_has_the_regular_files(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;
	size_t ours = 0, theirs = 0;
	struct inode_id other = S_id(other_path);
	OWN_PROC(p);
	OWN_HOLDER(h);

	(void)state;
	S_begin(&x, S_open_both);
	assert_int_equal(proc_open(x.pid, &p, &f), 0);
	if (holders_table(&p, &h, &f))
		fail_msg("%s", f.text);
	for (size_t i = 0; i < h.nfds; i++) {
		assert_true(S_ISREG(h.fd[i].mode));
		ours += h.fd[i].dev == x.id.dev && h.fd[i].ino == x.id.ino;
		theirs += h.fd[i].dev == other.dev && h.fd[i].ino == other.ino;
	}
	assert_int_equal(ours, 2);
	assert_int_equal(theirs, 1);
	assert_int_equal(h.pid, x.pid);
	S_finish(&x);
}

static void
the_table_of_one_that_ended_is_unstable(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;
	OWN_PROC(p);
	OWN_HOLDER(h);

	(void)state;
	S_begin(&x, S_open_both);
	assert_int_equal(proc_open(x.pid, &p, &f), 0);
	target_kill(x.pid);
	x.pid = 0;
	assert_int_equal(holders_table(&p, &h, &f), -FAULT_UNSTABLE);
	assert_int_equal(h.nfds, 0);
	S_finish(&x);
}

static bool
S_has(const pid_t *pid, size_t n, pid_t one)
{
	for (size_t i = 0; i < n; i++)
		if (pid[i] == one)
			return true;
	return false;
}

struct blind {
	struct inode_id id;
	pid_t of_root, of_other, of_mine;
};

static void
S_become(uid_t uid)
{
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		_exit(1);
	/* The change of ids took it back. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void
S_open_as_other(struct shared *s, void *arg)
{
	(void)arg;
	S_become(NOBODY - 1);
	S_stay(s);
}

static void
S_map_as_nobody(struct shared *s, void *arg)
{
	(void)arg;
	S_become(NOBODY);
	/* Changing ids closed us to our own user. */
	(void)prctl(PR_SET_DUMPABLE, 1);
	S_map(s, O_RDONLY, PROT_READ, MAP_SHARED);
}

/* Status: 0, or which expectation failed. */
static void
S_scan_as_nobody(struct shared *s, void *arg)
{
	const struct blind *b = arg;
	struct fault f = FAULT_INIT;
	struct holders all = HOLDERS_INIT;
	struct holder h = HOLDER_INIT;
	struct proc p = PROC_INIT;
	int seen = 0;

	(void)s;
	S_become(NOBODY);
	if (holders_find(&b->id, 1, &all, &f))
		_exit(2);
	if (!S_has(all.root_pid, all.unreadable_root, b->of_root)
	    || S_has(all.other_pid, all.unreadable_other, b->of_root))
		_exit(3);
	if (!S_has(all.other_pid, all.unreadable_other, b->of_other)
	    || S_has(all.root_pid, all.unreadable_root, b->of_other))
		_exit(4);
	/* map_files does not tell us: the number in maps must do. */
	for (size_t i = 0; i < all.count; i++)
		seen += all.holder[i].pid == b->of_mine
			&& all.holder[i].fd[0].fd == -1;
	if (seen != 1)
		_exit(5);
	if (proc_open(b->of_root, &p, &f)
	    || holders_table(&p, &h, &f) != -FAULT_TROUBLE)
		_exit(6);
	_exit(0);
}

static void
tables_that_may_not_be_read_are_listed_by_owner(void **state)
{
	struct fixture root, other, mine;
	struct shared *s = target_shared();
	struct blind b;
	int status;
	pid_t nobody;

	(void)state;
	if (geteuid() != 0)
		SKIP("needs root");
	S_begin(&root, S_open_both);
	S_begin(&other, S_open_as_other);
	S_begin(&mine, S_map_as_nobody);
	b = (struct blind){ .id = S_id(path), .of_root = root.pid,
			    .of_other = other.pid, .of_mine = mine.pid };
	nobody = target_fork(S_scan_as_nobody, s, &b);
	assert_int_equal(waitpid(nobody, &status, 0), nobody);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	S_finish(&mine);
	S_finish(&other);
	S_finish(&root);
	(void)munmap(s, sizeof(*s));
}

static size_t
S_of(const struct holders *all, pid_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++)
		n += all->holder[i].pid == pid;
	return n;
}

/* x was seen; late comes after. Both have both files open. */
static void
a_later_look_adds_who_is_new(void **state)
{
	struct fixture x, late;
	struct fault f = FAULT_INIT;

	(void)state;
	S_begin(&x, S_open_both);
	S_begin(&late, S_open_both);
	assert_int_equal(S_of(&x.all, late.pid), 0);
	assert_int_equal(holders_update(&x.all, &x.id, 1, &f), 0);
	assert_int_equal(S_of(&x.all, x.pid), 1);
	assert_int_equal(S_of(&x.all, late.pid), 1);
	S_finish(&late);
	S_finish(&x);
}

/* Nobody holds the other file alone, so nobody is left of the first look. */
static void
a_later_look_at_less_keeps_less(void **state)
{
	const struct inode_id none = { .dev = 1, .ino = 1 };
	struct fault f = FAULT_INIT;
	struct fixture x;

	(void)state;
	S_begin(&x, S_open_both);
	assert_int_equal(S_of(&x.all, x.pid), 1);
	assert_int_equal(holders_update(&x.all, &none, 1, &f), 0);
	assert_int_equal(S_of(&x.all, x.pid), 0);
	S_finish(&x);
}

static void
a_pid_that_was_used_again_is_looked_at(void **state)
{
	struct fault f = FAULT_INIT;
	struct fixture x;

	(void)state;
	S_begin(&x, S_open_both);
	for (size_t i = 0; i < x.all.count; i++)
		holder_free(&x.all.holder[i]);
	x.all.count = 0;
	assert_int_equal(holders_update(&x.all, &x.id, 1, &f), 0);
	assert_int_equal(S_of(&x.all, x.pid), 0);
	for (size_t i = 0; i < x.all.nseen; i++)
		x.all.seen[i].dir += x.all.seen[i].pid == x.pid;
	assert_int_equal(holders_update(&x.all, &x.id, 1, &f), 0);
	assert_int_equal(S_of(&x.all, x.pid), 1);
	S_finish(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_descriptor_makes_a_holder),
		cmocka_unit_test(one_who_lets_go_is_a_holder_no_more),
		cmocka_unit_test(
			an_unlinked_file_is_found_and_the_new_one_is_another),
		cmocka_unit_test(a_reader_is_a_holder_that_cannot_write),
		cmocka_unit_test(one_who_can_only_write_is_a_holder),
		cmocka_unit_test(an_o_path_descriptor_holds_nothing),
		cmocka_unit_test(a_mapping_without_a_descriptor_makes_a_holder),
		cmocka_unit_test(
			a_mapping_of_the_same_number_elsewhere_is_none),
		cmocka_unit_test(a_thread_with_its_own_table_is_seen),
		cmocka_unit_test(a_process_whose_leader_ended_is_seen),
		cmocka_unit_test(threads_that_share_a_table_count_once),
		cmocka_unit_test(the_whole_table_has_the_regular_files),
		cmocka_unit_test(the_table_of_one_that_ended_is_unstable),
		cmocka_unit_test(
			tables_that_may_not_be_read_are_listed_by_owner),
		cmocka_unit_test(a_later_look_adds_who_is_new),
		cmocka_unit_test(a_later_look_at_less_keeps_less),
		cmocka_unit_test(a_pid_that_was_used_again_is_looked_at),
	};

	return cmocka_run_group_tests(tests, S_set_up, S_tear_down);
}
