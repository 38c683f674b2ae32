/*
 * runner.c - runs one control and gathers what it tells
 */
#include "controls/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controls/keeper.h"
#include "controls/needs.h"

int
runner_init(struct runner *r, const char *product, unsigned seconds)
{
	sigset_t mask;

	*r = (struct runner){ .product = product, .seconds = seconds };
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGTERM);
	(void)sigaddset(&mask, SIGINT);
	(void)sigaddset(&mask, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &mask, NULL))
		return -1;
	r->told = signalfd(-1, &mask, SFD_CLOEXEC);
	return r->told < 0 ? -1 : 0;
}

struct lines {
	char buf[4 * FINDINGS_LINE_MAX];
	size_t used;
};

/* False at the end of the pipe. */
static bool
S_read_lines(int fd, struct lines *l, struct findings *f)
{
	ssize_t n = read(fd, l->buf + l->used, sizeof(l->buf) - l->used);
	char *start = l->buf, *end;

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	l->used += (size_t)n;
	while ((end = memchr(start, '\n',
			     l->used - (size_t)(start - l->buf)))) {
		*end = '\0';
		(void)findings_take(f, start);
		start = end + 1;
	}
	l->used -= (size_t)(start - l->buf);
	memmove(l->buf, start, l->used);
	return l->used < sizeof(l->buf);
}

/*
 * Until the keeper closed its end. No other process has it for longer: the
 * control's own children do not get it, and the keeper ends them all.
 */
static void
S_gather(struct runner *r, int fd, pid_t keeper, struct findings *f)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN },
			      { .fd = r->told, .events = POLLIN } };
	struct lines l = { .used = 0 };
	struct signalfd_siginfo info;

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return;
		if (p[1].revents & POLLIN &&
		    read(r->told, &info, sizeof(info)) == sizeof(info)) {
			r->signo = (int)info.ssi_signo;
			(void)kill(keeper, SIGTERM);
		}
		if (p[0].revents && !S_read_lines(fd, &l, f))
			return;
	}
}

static void
S_died(struct findings *f, const char *what)
{
	if (!f->died[0])
		(void)snprintf(f->died, sizeof(f->died), "%s: %s", what,
			       strerror(errno));
}

int
runner_run(struct runner *r, const struct control *c, struct findings *f)
{
	struct trial t = { .control = c, .product = r->product };
	pid_t runner = getpid(), keeper;
	int ends[2], status;

	*f = (struct findings){ .examined = 0 };
	if (needs_lack(c->needs, f->skipped, sizeof(f->skipped)))
		return 0;
	if (pipe2(ends, O_CLOEXEC)) {
		S_died(f, "pipe");
		return 0;
	}
	(void)fflush(NULL);
	keeper = fork();
	if (keeper == 0) {
		(void)close(ends[0]);
		t.report = ends[1];
		keeper_run(&t, runner, r->seconds);
	}
	(void)close(ends[1]);
	if (keeper < 0)
		S_died(f, "fork");
	else
		S_gather(r, ends[0], keeper, f);
	(void)close(ends[0]);
	if (keeper > 0 && waitpid(keeper, &status, 0) == keeper && status)
		S_died(f, "the keeper failed");
	return r->signo ? 1 : 0;
}
