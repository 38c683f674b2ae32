/*
 * jailed.h - a live child in the whole jail
 *
 * The child arranges its descriptors as the warden would, puts up the jail,
 * says so, and only then runs what the test is about.
 */
#ifndef TESTS_UNIT_JAILED_H
#define TESTS_UNIT_JAILED_H

#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/worker.h"
#include "recover/jail.h"
#include "reply/ask.h"

#define STRAY_FD 40	/* a descriptor that nobody documented */

enum {
	EXIT_RETURNED = 0,	/* the call came back */
	EXIT_NO_JAIL = 90,
	EXIT_WRONG = 91,	/* an allowed call gave the wrong answer */
};

struct child {
	pid_t pid;
	int ask, up;		/* our ends */
	struct worker *worker;	/* in the child */
};

static int
S_high(int fd)
{
	int high = fcntl(fd, F_DUPFD, STRAY_FD + 1);

	if (high < 0)
		_exit(EXIT_NO_JAIL);
	return high;
}

static void
S_arrange(int ask, int reply)
{
	int evidence = memfd_create("evidence", 0);
	int null = open("/dev/null", O_RDWR);

	if (evidence < 0 || write(evidence, "evidence", 8) != 8)
		_exit(EXIT_NO_JAIL);
	ask = S_high(ask);
	reply = S_high(reply);
	evidence = S_high(evidence);
	null = S_high(null);
	for (int fd = 0; fd < 3; fd++)
		(void)dup2(null, fd);
	if (dup2(ask, ASK_FD) < 0 || dup2(reply, REPLY_FD) < 0 ||
	    dup2(evidence, EVIDENCE_FD) < 0 || dup2(null, STRAY_FD) < 0)
		_exit(EXIT_NO_JAIL);
	for (int fd = EVIDENCE_FD + 1; fd < STRAY_FD; fd++)
		(void)close(fd);
}

/* Groups that must be gone; an unprivileged child can't have or lose any. */
static void
S_join_groups(void)
{
	static const gid_t groups[] = { 4, 20 };

	if (geteuid() == 0 && setgroups(2, groups))
		_exit(EXIT_NO_JAIL);
}

static void
S_jail(struct child *c)
{
	struct jail_report r;
	struct fault f = FAULT_INIT;

	if (digest_setup(&f) || jail_drop(&r, &f) ||
	    worker_start(&c->worker, &f) || jail_shut(&f)) {
		(void)!write(REPLY_FD, f.text, strlen(f.text));
		_exit(EXIT_NO_JAIL);
	}
	(void)!write(REPLY_FD, "+", 1);
}

/* Starts a child that runs fn in the jail; returns when the jail is up. */
static inline void
S_start(struct child *c, void (*fn)(struct child *c, void *arg), void *arg)
{
	int ask[2], up[2];
	char said[512] = { 0 };

	*c = (struct child){ 0 };
	assert_int_equal(pipe2(ask, O_CLOEXEC), 0);
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (c->pid == 0) {
		S_arrange(ask[0], up[1]);
		S_join_groups();
		S_jail(c);
		fn(c, arg);
		_exit(EXIT_RETURNED);
	}
	(void)close(ask[0]);
	(void)close(up[1]);
	c->ask = ask[1];
	c->up = up[0];
	if (read(c->up, said, 1) != 1 || said[0] != '+') {
		(void)!read(c->up, said + 1, sizeof(said) - 2);
		fail_msg("no jail: %s", said);
	}
}

/* Lets the child go on and returns its wait status. */
static inline int
S_end(struct child *c)
{
	int status;

	(void)close(c->ask);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	(void)close(c->up);
	return status;
}

static void
S_must(bool ok)
{
	if (!ok)
		_exit(EXIT_WRONG);
}

#endif
