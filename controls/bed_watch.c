/*
 * bed_watch.c - runs a command whose nth call of a kind meets its fate
 */
#include "controls/bed_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "controls/bed_file.h"

#define WATCH_SECONDS 30
#define WATCH_OUT "watch-out"
#define WATCH_ERR "watch-err"

/* In the command's process, until it is the command */

static int
S_listen(int call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = 4, .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
}

union passed {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr head;
};

static bool
S_hand_over(int to, int fd)
{
	char one = 0;
	struct iovec iov = { .iov_base = &one, .iov_len = 1 };
	union passed c = { .room = { 0 } };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = &c,
			    .msg_controllen = sizeof(c.room) };

	c.head.cmsg_level = SOL_SOCKET;
	c.head.cmsg_type = SCM_RIGHTS;
	c.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&c.head), &fd, sizeof(fd));
	return sendmsg(to, &m, MSG_NOSIGNAL) == 1;
}

_Noreturn static void
S_become(const char *const *argv, int call, int to)
{
	int out = open(WATCH_OUT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		       0600);
	int err = open(WATCH_ERR, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		       0600);
	int listener;

	if (setpgid(0, 0) || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(127);
	listener = S_listen(call);
	if (listener < 0 || !S_hand_over(to, listener))
		_exit(127);
	(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
	(void)dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* In the control's process */

static int
S_take_over(struct trial *t, int from)
{
	char one;
	struct iovec iov = { .iov_base = &one, .iov_len = 1 };
	union passed c;
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = &c,
			    .msg_controllen = sizeof(c.room) };
	int fd;

	if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&m))
		trial_die(t, "the command can't be watched");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static bool
S_is_thread_of(pid_t pid, pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	return access(path, F_OK) == 0;
}

/* One call: it is carried out, unless it is the nth. */
static void
S_decide(struct trial *t, struct bed_watch *w, int listener, pid_t pid)
{
	struct seccomp_notif ask;
	struct seccomp_notif_resp answer = {
		.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	memset(&ask, 0, sizeof(ask));
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ask))
		return;		/* its caller is gone */
	answer.id = ask.id;
	if ((w->all || S_is_thread_of(pid, (pid_t)ask.pid)) &&
	    ++w->calls == w->nth) {
		w->met = true;
		if (w->before)
			w->before(t, w->arg);
		if (w->kill)
			(void)kill(w->all ? -pid : pid, SIGKILL);
		if (w->error) {
			answer.flags = 0;
			answer.error = -w->error;
		}
	}
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* False: it did not end. */
static bool
S_attend(struct trial *t, struct bed_watch *w, int listener, pid_t pid)
{
	int ended = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p[] = { { .fd = listener, .events = POLLIN },
			      { .fd = ended, .events = POLLIN } };
	time_t until = time(NULL) + WATCH_SECONDS;

	if (ended < 0)
		trial_die(t, "pidfd_open: %s", strerror(errno));
	while (time(NULL) < until) {
		if (poll(p, 2, 1000) < 0 && errno != EINTR)
			trial_die(t, "poll: %s", strerror(errno));
		if (p[0].revents & POLLIN)
			S_decide(t, w, listener, pid);
		else if (p[1].revents)
			break;
	}
	(void)close(ended);
	return p[1].revents != 0;
}

static const struct bed_run *
S_ended(struct trial *t, int status, bool late)
{
	struct bed_run *r = calloc(1, sizeof(*r));
	struct bed_bytes out = bed_read(t, WATCH_OUT),
		err = bed_read(t, WATCH_ERR);

	if (!r)
		trial_die(t, "no memory");
	*r = (struct bed_run){
		.status = WIFEXITED(status) ? WEXITSTATUS(status)
					    : 128 + WTERMSIG(status),
		.late = late, .out = (char *)out.p, .nout = out.n,
		.err = (char *)err.p, .nerr = err.n,
	};
	return r;
}

const struct bed_run *
bed_watch(struct trial *t, const char *const *argv, struct bed_watch *w)
{
	pid_t control = getpid(), pid;
	int ends[2], listener, status;
	bool late;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		trial_die(t, "socketpair: %s", strerror(errno));
	w->calls = 0;
	w->met = false;
	pid = fork();
	if (pid < 0)
		trial_die(t, "fork: %s", strerror(errno));
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(ends[0]);
		if (getppid() == control)
			S_become(argv, w->call, ends[1]);
		_exit(127);
	}
	(void)close(ends[1]);
	listener = S_take_over(t, ends[0]);
	(void)close(ends[0]);
	late = !S_attend(t, w, listener, pid);
	(void)kill(-pid, SIGKILL);
	(void)close(listener);
	if (waitpid(pid, &status, 0) != pid)
		trial_die(t, "wait: %s", strerror(errno));
	return S_ended(t, status, late);
}
