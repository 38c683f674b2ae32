/*
 * attack_answer.c - what a call that stops for us gets
 *
 * An injected descriptor is what the command would get if the substitute
 * stood at the name: with its own access mode and flags, and the kernel's
 * error where that fails. The file is opened with our rights, which may be
 * more than the command's when it gave some up.
 */
#include "controls/attack_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "controls/attack.h"

int
answer_continue(int listener, uint64_t id)
{
	struct seccomp_notif_resp resp = {
		.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
	};

	if (!ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp))
		return 0;
	if (errno == ENOENT)
		return 1;
	attack_say("let a call go on: %s", strerror(errno));
	return -1;
}

static int
S_error(int listener, uint64_t id, int error, struct injected *out)
{
	struct seccomp_notif_resp resp = { .id = id, .error = -error };

	out->error = error;
	if (!ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp))
		return 0;
	out->gone = errno == ENOENT;
	if (!out->gone)
		attack_say("answer an open: %s", strerror(errno));
	return out->gone ? 0 : -1;
}

static int
S_give(int listener, uint64_t id, uint64_t flags, int fd,
       struct injected *out)
{
	struct seccomp_notif_addfd add = {
		.id = id,
		.flags = SECCOMP_ADDFD_FLAG_SEND,
		.srcfd = (__u32)fd,
		.newfd_flags = flags & O_CLOEXEC ? O_CLOEXEC : 0,
	};
	int n = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);

	if (n >= 0) {
		out->descriptor = n;
		return 0;
	}
	switch (errno) {
	case ENOENT:
	case ESRCH:		/* a signal took the call back meanwhile */
		out->gone = true;
		return 0;
	case EMFILE:
	case ENFILE:
		return S_error(listener, id, errno, out);
	default:
		attack_say("inject a descriptor: %s (it takes Linux 5.14)",
			   strerror(errno));
		return -1;
	}
}

int
answer_inject(int listener, uint64_t id, uint64_t flags, const struct swap *s,
	      struct injected *out)
{
	uint64_t both = O_CREAT | O_EXCL;
	int fd, rc;

	*out = (struct injected){ .descriptor = -1 };
	if (s->absent)
		return S_error(listener, id, ENOENT, out);
	if ((flags & both) == both)
		return S_error(listener, id, EEXIST, out);
	/* Nothing is made, and the supervisor's terminal is its own. */
	fd = openat(s->c.other_dir, s->c.other,
		    (int)(flags & ~both) | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	if (fd < 0)
		return S_error(listener, id, errno, out);
	rc = S_give(listener, id, flags, fd, out);
	close(fd);
	return rc;
}
