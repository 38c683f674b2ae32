/*
 * attack_guardian.c - puts back when the supervisor is killed
 *
 * It holds the folders, the journals with their lock, one end of the pipe
 * and standard error; above all not the listener: as long as anybody has
 * that, the command's calls would wait for an answer that never comes.
 */
#include "controls/attack_guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controls/attack.h"
#include "controls/attack_journal.h"

#define GUARDIAN_NAME "attack-guard"

static int
S_larger(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Closes all descriptors but these; -1 among them stands for nothing. */
static void
S_close_all_but(int *keep, size_t n)
{
	unsigned from = 0;

	qsort(keep, n, sizeof(*keep), S_larger);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] < 0)
			continue;
		if ((unsigned)keep[i] > from)
			close_range(from, (unsigned)keep[i] - 1, 0);
		from = (unsigned)keep[i] + 1;
	}
	close_range(from, ~0U, 0);
}

static void
S_keep_few(const struct swap *swaps, size_t nswaps, int pipe_fd)
{
	int *keep = calloc(2 + 3 * nswaps, sizeof(*keep));
	size_t n = 0;

	if (!keep)
		_exit(ATTACK_TROUBLE);
	keep[n++] = STDERR_FILENO;
	keep[n++] = pipe_fd;
	for (size_t i = 0; i < nswaps; i++) {
		keep[n++] = swaps[i].c.dir;
		keep[n++] = swaps[i].c.other_dir;
		keep[n++] = swaps[i].journal;
	}
	S_close_all_but(keep, n);
	free(keep);
}

_Noreturn static void
S_guard(const struct swap *swaps, size_t nswaps, int pipe_fd, pid_t group)
{
	sigset_t all;
	char told;
	ssize_t n;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, GUARDIAN_NAME);
	S_keep_few(swaps, nswaps, pipe_fd);
	do
		n = read(pipe_fd, &told, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		_exit(0);
	/* Files first: the command gets ENOSYS for its opens already. */
	for (size_t i = 0; i < nswaps; i++) {
		struct swap s = swaps[i];

		if (!journal_undo(&s))
			journal_remove(&s);
	}
	kill(-group, SIGKILL);
	_exit(0);
}

int
guardian_start(struct guardian *g, const struct swap *swaps, size_t nswaps,
	       pid_t group)
{
	int ends[2];

	*g = (struct guardian){ .pid = -1, .pipe = -1 };
	if (pipe2(ends, O_CLOEXEC)) {
		attack_say("pipe: %s", strerror(errno));
		return -1;
	}
	g->pid = fork();
	if (!g->pid)
		S_guard(swaps, nswaps, ends[0], group);
	close(ends[0]);
	g->pipe = ends[1];
	if (g->pid > 0)
		return 0;
	attack_say("fork: %s", strerror(errno));
	close(g->pipe);
	g->pipe = -1;
	return -1;
}

void
guardian_dismiss(struct guardian *g)
{
	if (g->pipe >= 0) {
		(void)!write(g->pipe, "", 1);
		close(g->pipe);
	}
	if (g->pid > 0)
		while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
			;
	*g = (struct guardian){ .pid = -1, .pipe = -1 };
}
