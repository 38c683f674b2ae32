/*
 * bed_command.c - runs a command, bounded, and keeps what it wrote
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "controls/bed.h"

#define BED_COMMAND_MS 30000
#define BED_LOOK_MS 5
/* A command that writes more is broken. */
#define BED_OUTPUT_MAX (64u << 20)
#define BED_STEP (64u << 10)

char *
bed_text(struct trial *t, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		trial_die(t, "no memory");
	va_end(ap);
	return text;
}

const char *
bed_folder(struct trial *t)
{
	char *path = getcwd(NULL, 0);

	if (!path)
		trial_die(t, "getcwd: %s", strerror(errno));
	return path;
}

struct pipe {
	int fd;
	char *buf;
	size_t used, room;
};

static void
S_grow(struct trial *t, struct pipe *p)
{
	if (p->used + BED_STEP < p->room)
		return;
	p->room = p->room * 2 + 2 * BED_STEP;
	p->buf = realloc(p->buf, p->room);
	if (!p->buf || p->room > BED_OUTPUT_MAX)
		trial_die(t, "a command wrote more than there is room for");
}

static void
S_read(struct trial *t, struct pipe *p)
{
	ssize_t n;

	S_grow(t, p);
	n = read(p->fd, p->buf + p->used, BED_STEP);
	if (n < 0 && errno == EINTR)
		return;
	if (n > 0) {
		p->used += (size_t)n;
		return;
	}
	(void)close(p->fd);
	p->fd = -1;
}

static long
S_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Somebody waits there for a writer. */
static bool
S_awaited(const char *fifo)
{
	int fd = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

	/* It stays open: its end would let them go on. */
	return fd >= 0;
}

/*
 * Until the process ended and its pipes are empty. A child that it left may
 * keep them open: what is there when it ended is all that is taken. False:
 * its time is over, or it waits for somebody to write to the fifo.
 */
static bool
S_gather(struct trial *t, pid_t pid, const char *fifo, struct pipe p[2])
{
	int ended = (int)syscall(SYS_pidfd_open, pid, 0);
	long until = S_now() + BED_COMMAND_MS;

	if (ended < 0)
		trial_die(t, "pidfd_open: %s", strerror(errno));
	for (;;) {
		struct pollfd e[] = { { .fd = ended, .events = POLLIN },
				      { .fd = p[0].fd, .events = POLLIN },
				      { .fd = p[1].fd, .events = POLLIN } };
		long left = until - S_now();
		bool over, idle;

		if (fifo && left > BED_LOOK_MS)
			left = BED_LOOK_MS;
		if (poll(e, 3, left > 0 ? (int)left : 0) < 0 &&
		    errno != EINTR)
			trial_die(t, "poll: %s", strerror(errno));
		over = e[0].revents;
		idle = !e[1].revents && !e[2].revents;
		for (int i = 0; i < 2; i++)
			if (e[i + 1].revents)
				S_read(t, &p[i]);
		if (idle && (over || S_now() >= until ||
			     (fifo && S_awaited(fifo)))) {
			(void)close(ended);
			return over;
		}
	}
}

static pid_t
S_start(struct trial *t, const char *const *argv, int out, int err)
{
	pid_t control = getpid(), pid = fork();

	if (pid < 0)
		trial_die(t, "fork: %s", strerror(errno));
	if (pid > 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != control || setpgid(0, 0) || dup2(out, 1) < 0 ||
	    dup2(err, 2) < 0)
		_exit(127);
	(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
	(void)dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

const struct bed_run *
bed_command_fifo(struct trial *t, const char *fifo, const char *const *argv)
{
	struct bed_run *r = calloc(1, sizeof(*r));
	struct pipe p[2] = { { .fd = -1 }, { .fd = -1 } };
	int out[2], err[2], status = 0;
	pid_t pid;

	if (!r || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		trial_die(t, "pipe: %s", strerror(errno));
	pid = S_start(t, argv, out[1], err[1]);
	(void)close(out[1]);
	(void)close(err[1]);
	p[0].fd = out[0];
	p[1].fd = err[0];
	r->late = !S_gather(t, pid, fifo, p);
	(void)kill(-pid, SIGKILL);
	if (r->late)
		(void)kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		trial_die(t, "wait: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		S_grow(t, &p[i]);
		p[i].buf[p[i].used] = '\0';
		if (p[i].fd >= 0)
			(void)close(p[i].fd);
	}
	r->status = WIFEXITED(status) ? WEXITSTATUS(status)
				      : 128 + WTERMSIG(status);
	r->out = p[0].buf;
	r->nout = p[0].used;
	r->err = p[1].buf;
	r->nerr = p[1].used;
	return r;
}

const struct bed_run *
bed_command(struct trial *t, const char *const *argv)
{
	return bed_command_fifo(t, NULL, argv);
}

const char *
bed_output(struct trial *t, const char *const *argv)
{
	const struct bed_run *r = bed_command(t, argv);

	if (r->late || r->status)
		trial_die(t, "%s: %s", argv[0], bed_told(t, r));
	return r->out;
}

const char *
bed_told(struct trial *t, const struct bed_run *r)
{
	const char *text = r->nerr ? r->err : r->out;
	const char *folder = bed_text(t, "%s/", bed_folder(t));
	char *line = bed_text(t, "%.*s", (int)strcspn(text, "\n"), text);
	size_t n = strlen(folder);
	char *at;

	if (r->late)
		return "does not end";
	while ((at = strstr(line, folder)))
		memmove(at, at + n, strlen(at + n) + 1);
	return bed_text(t, "exit %d%s%s", r->status, *line ? ": " : "", line);
}

bool
bed_says(const struct bed_run *r, const char *word)
{
	return strstr(r->out, word) || strstr(r->err, word);
}
