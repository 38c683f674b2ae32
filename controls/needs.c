/*
 * needs.c - what this system lets a control do
 *
 * Nothing is concluded from versions or ids where it can be tried.
 */
#include "controls/needs.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool
S_succeeds(bool (*attempt)(void))
{
	int status;
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(attempt() ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool
S_root(void)
{
	return geteuid() == 0;
}

/* A brother, not a child, as a writer is to the product. */
static bool
S_seize_brother(void)
{
	pid_t brother, tracer;
	int status = 1;

	brother = fork();
	if (brother == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		(void)raise(SIGSTOP);
		_exit(0);
	}
	if (brother < 0 || waitpid(brother, NULL, WUNTRACED) != brother)
		return false;
	tracer = fork();
	if (tracer == 0)
		_exit(ptrace(PTRACE_SEIZE, brother, 0, 0) ? 1 : 0);
	if (tracer > 0)
		(void)waitpid(tracer, &status, 0);
	(void)kill(brother, SIGKILL);
	(void)waitpid(brother, NULL, 0);
	return status == 0;
}

static bool
S_listen(void)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = { .len = 1, .filter = &all };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog) >= 0;
}

static bool
S_in_path(const char *name)
{
	const char *path = getenv("PATH");
	char *all = strdup(path ? path : "/usr/bin:/bin"), *rest = all, *dir;
	char file[4096];
	bool found = false;

	while (!found && (dir = strsep(&rest, ":"))) {
		(void)snprintf(file, sizeof(file), "%s/%s", dir, name);
		found = access(file, X_OK) == 0;
	}
	free(all);
	return found;
}

static bool
S_sqlite3(void)
{
	return S_in_path("sqlite3");
}

static bool
S_sqldiff(void)
{
	return S_in_path("sqldiff");
}

static bool
S_git(void)
{
	return S_in_path("git");
}

static const struct {
	unsigned need;
	bool forked;		/* trying it changes the process */
	bool (*met)(void);
	const char *word, *lacking;
} S_needs[] = {
	{ CONTROL_ROOT, false, S_root, "root", "needs root" },
	{ CONTROL_PAUSE, true, S_seize_brother, "ptrace",
	  "no other process may be traced here" },
	{ CONTROL_NOTIFY, true, S_listen, "seccomp notification",
	  "there is no seccomp user notification here" },
	{ CONTROL_SQLITE3, false, S_sqlite3, "sqlite3", "needs sqlite3" },
	{ CONTROL_SQLDIFF, false, S_sqldiff, "sqldiff", "needs sqldiff" },
	{ CONTROL_GIT, false, S_git, "git", "needs git" },
};

#define NEEDS_COUNT (sizeof(S_needs) / sizeof(S_needs[0]))

bool
needs_lack(unsigned needs, char *why, size_t room)
{
	for (size_t i = 0; i < NEEDS_COUNT; i++) {
		if (!(needs & S_needs[i].need))
			continue;
		if (S_needs[i].forked ? S_succeeds(S_needs[i].met)
				      : S_needs[i].met())
			continue;
		(void)snprintf(why, room, "%s", S_needs[i].lacking);
		return true;
	}
	return false;
}

void
needs_words(unsigned needs, char *words, size_t room)
{
	size_t n = 0;

	(void)snprintf(words, room, "nothing");
	for (size_t i = 0; i < NEEDS_COUNT && n < room; i++)
		if (needs & S_needs[i].need)
			n += (size_t)snprintf(words + n, room - n, "%s%s",
					      n ? ", " : "", S_needs[i].word);
}
