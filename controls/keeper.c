/*
 * keeper.c - the process that keeps a control: deadline, leftovers, folder
 */
#include "controls/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controls/findings.h"
#include "controls/leftovers.h"

/* Why the control's process is waited for no more. */
enum end { END_ITSELF, END_DEADLINE, END_TOLD };

__attribute__((format(printf, 3, 4))) static void
S_tell(const struct trial *t, enum findings_kind kind, const char *fmt, ...)
{
	char text[FINDINGS_LINE_MAX], line[FINDINGS_LINE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (write(t->report, line,
		  findings_line(line, kind, false, NULL, text)) < 0)
		_exit(1);
}

static void
S_make_folder(const struct trial *t, char path[PATH_MAX])
{
	const char *tmp = getenv("TMPDIR");
	char resolved[PATH_MAX];

	if (!tmp || tmp[0] != '/')
		tmp = "/tmp";
	if (realpath(tmp, resolved) &&
	    snprintf(path, PATH_MAX, "%s/holdfast-control-XXXXXX",
		     resolved) < PATH_MAX && mkdtemp(path))
		return;
	S_tell(t, FINDINGS_DIED, "no folder in %s: %s", tmp, strerror(errno));
	_exit(1);
}

/* What commands find around them is the folder, and the caller's PATH. */
static void
S_settle(const struct trial *t, const char *path)
{
	static const char *const kept[] = {
		"PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", NULL };
	char *words[4] = { NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; kept[i]; i++)
		if (getenv(kept[i]))
			words[i] = strdup(getenv(kept[i]));
	if (chdir(path) || null < 0 || dup2(null, 0) < 0 ||
	    dup2(null, 1) < 0 || clearenv()) {
		S_tell(t, FINDINGS_DIED, "enter %s: %s", path,
		       strerror(errno));
		_exit(1);
	}
	for (int i = 0; kept[i]; i++)
		if (words[i])
			(void)setenv(kept[i], words[i], 1);
	(void)setenv("HOME", path, 1);
	(void)setenv("TMPDIR", path, 1);
	(void)setenv("LC_ALL", "C.UTF-8", 1);
	(void)setenv("TZ", "UTC", 1);
}

static pid_t
S_start(struct trial *t, const char *path, const sigset_t *mask)
{
	pid_t keeper = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(1);
	(void)setsid();
	(void)sigprocmask(SIG_UNBLOCK, mask, NULL);
	S_settle(t, path);
	trial_run(t);
}

static enum end
S_wait(int child, int told, unsigned seconds)
{
	struct pollfd p[] = { { .fd = child, .events = POLLIN },
			      { .fd = told, .events = POLLIN } };
	int n;

	do
		n = poll(p, 2, (int)seconds * 1000);
	while (n < 0 && errno == EINTR);
	return n == 0 ? END_DEADLINE : p[1].revents ? END_TOLD : END_ITSELF;
}

static void
S_account(const struct trial *t, enum end end, unsigned seconds, int status)
{
	if (end == END_DEADLINE)
		S_tell(t, FINDINGS_DIED, "no end within %u s", seconds);
	else if (end == END_TOLD)
		S_tell(t, FINDINGS_DIED, "interrupted");
	else if (WIFSIGNALED(status))
		S_tell(t, FINDINGS_DIED, "the control ended by signal %d (%s)",
		       WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		S_tell(t, FINDINGS_DIED, "the control ended with status %d",
		       WEXITSTATUS(status));
}

static void
S_tell_left(void *arg, const char *what)
{
	S_tell(arg, FINDINGS_LEFT, "%s", what);
}

_Noreturn void
keeper_run(struct trial *t, pid_t runner, unsigned seconds)
{
	char path[PATH_MAX];
	int told, child, status = 0;
	sigset_t mask;
	enum end end;
	pid_t pid;

	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGTERM);
	(void)sigaddset(&mask, SIGINT);
	(void)sigaddset(&mask, SIGHUP);
	told = signalfd(-1, &mask, SFD_CLOEXEC);
	(void)setsid();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (told < 0 || getppid() != runner)
		_exit(1);
	S_make_folder(t, path);
	pid = S_start(t, path, &mask);
	child = pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (child < 0) {
		S_tell(t, FINDINGS_DIED, "start: %s", strerror(errno));
		end = END_TOLD;
	} else {
		end = S_wait(child, told, seconds);
	}
	if (pid > 0 && end != END_ITSELF)
		(void)kill(pid, SIGKILL);
	if (pid > 0 && waitpid(pid, &status, 0) == pid)
		S_account(t, end, seconds, status);
	leftovers_end(end == END_ITSELF ? S_tell_left : NULL, t);
	leftovers_remove(path, S_tell_left, t);
	_exit(0);
}
