/*
 * attack_launch.c - the command: started under the filter, and ended
 */
#include "controls/attack_launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controls/attack.h"

/* What the command's process says before it is the command. */
struct launch_word {
	int error;		/* errno, or 0 and the listener comes with it */
	bool killable;
	bool exec;		/* the error is that of execvp */
};

union launch_control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static int
S_say_word(int fd, const struct launch_word *w, int listener)
{
	struct iovec iov = { (void *)w, sizeof(*w) };
	union launch_control control = { .bytes = { 0 } };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (listener >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &listener, sizeof(int));
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL) == (ssize_t)sizeof(*w) ? 0 : -1;
}

/*
 * From the filter on, only calls that it lets pass until the supervisor
 * listens: sendmsg and recv.
 */
_Noreturn static void
S_become(int fd, char *const *argv, bool looks, const sigset_t *mask,
	 pid_t parent)
{
	struct filter_listener l = { .fd = -1 };
	struct launch_word w = { 0 };
	char go;

	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	/* The supervisor's death by any signal is the command's. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(ATTACK_TROUBLE);
	sigprocmask(SIG_SETMASK, mask, NULL);
	w.error = filter_install(looks, &l);
	w.killable = l.killable;
	if (S_say_word(fd, &w, l.fd) || w.error ||
	    recv(fd, &go, 1, 0) != 1)
		_exit(ATTACK_TROUBLE);
	execvp(argv[0], argv);
	w.error = errno;
	w.exec = true;
	S_say_word(fd, &w, -1);
	_exit(ATTACK_NOT_FOUND);
}

int
launch_fork(struct launch *l, char *const *argv, bool looks,
	    const sigset_t *mask)
{
	pid_t me = getpid();
	int ends[2];

	*l = (struct launch){ .pid = -1, .socket = -1 };
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		attack_say("socketpair: %s", strerror(errno));
		return -1;
	}
	l->pid = fork();
	if (!l->pid) {
		close(ends[0]);
		S_become(ends[1], argv, looks, mask, me);
	}
	close(ends[1]);
	l->socket = ends[0];
	if (l->pid < 0) {
		attack_say("fork: %s", strerror(errno));
		return -1;
	}
	setpgid(l->pid, l->pid);
	return 0;
}

static int
S_no_listener(int error)
{
	if (error == EBUSY)
		attack_say("this process is under a seccomp supervisor already, "
			   "and the kernel allows one only");
	else
		attack_say("no seccomp user notification here: %s (it takes "
			   "Linux 5.14, and that no sandbox forbids it)",
			   strerror(error));
	return ATTACK_NOT_HERE;
}

int
launch_listener(struct launch *l, struct filter_listener *listener)
{
	struct launch_word w = { 0 };
	struct iovec iov = { &w, sizeof(w) };
	union launch_control control;
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	const struct cmsghdr *c;

	listener->fd = -1;
	if (recvmsg(l->socket, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(w)) {
		attack_say("the command's process died before its start");
		return ATTACK_TROUBLE;
	}
	if (w.error)
		return S_no_listener(w.error);
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS) {
		attack_say("the listener did not arrive");
		return ATTACK_TROUBLE;
	}
	memcpy(&listener->fd, CMSG_DATA(c), sizeof(int));
	listener->killable = w.killable;
	return 0;
}

/* An interactive command must be able to read the terminal we have. */
static void
S_terminal(struct launch *l, pid_t to)
{
	sigset_t ttou, old;

	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &old);
	l->terminal = !tcsetpgrp(STDIN_FILENO, to) && to == l->pid;
	sigprocmask(SIG_SETMASK, &old, NULL);
}

int
launch_go(struct launch *l)
{
	if (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp())
		S_terminal(l, l->pid);
	if (send(l->socket, "", 1, MSG_NOSIGNAL) == 1)
		return 0;
	attack_say("the command's process died before its start");
	return -1;
}

int
launch_failed(struct launch *l, const char *command)
{
	struct launch_word w;

	if (recv(l->socket, &w, sizeof(w), MSG_DONTWAIT) != sizeof(w) ||
	    !w.exec)
		return 0;
	attack_say("%s: %s", command, strerror(w.error));
	return w.error == ENOENT ? ATTACK_NOT_FOUND : ATTACK_NOT_RUN;
}

/* The parent of a process, or 0. */
static pid_t
S_parent(const char *pid)
{
	char path[300], text[512];
	const char *after;
	ssize_t n;
	int fd, ppid;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* The name is in brackets and may hold any byte. */
	after = strrchr(text, ')');
	return after && sscanf(after, ") %*c %d", &ppid) == 1 ? ppid : 0;
}

/* Kills and waits for our children but `spared`; how many there were. */
static size_t
S_end_children(pid_t spared)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid <= 0 || pid == spared ||
		    S_parent(e->d_name) != getpid())
			continue;
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
			;
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

void
launch_end(struct launch *l, pid_t spared)
{
	if (l->pid > 0) {
		kill(-l->pid, SIGKILL);
		/* What it had started is ours once its parent is dead. */
		while (S_end_children(spared))
			;
	}
	if (l->terminal)
		S_terminal(l, getpgrp());
	if (l->socket >= 0)
		close(l->socket);
	*l = (struct launch){ .pid = -1, .socket = -1 };
}
