/*
 * holders.c - which processes hold an inode, by descriptor or by mapping
 *
 * This runs while writers are paused, so that nothing is allocated for what
 * does not match, and each open file costs one system call.
 */
#include "capture/holders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "capture/scan.h"

/* The inode of the first PID namespace: linux/proc_ns.h, PROC_PID_INIT_INO. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

void
holder_free(struct holder *h)
{
	for (size_t i = 0; i < h->nfds; i++)
		free(h->fd[i].link);
	free(h->fd);
	*h = (struct holder)HOLDER_INIT;
}

void
holders_free(struct holders *h)
{
	for (size_t i = 0; i < h->count; i++)
		holder_free(&h->holder[i]);
	free(h->holder);
	free(h->seen);
	free(h->root_pid);
	free(h->other_pid);
	*h = (struct holders)HOLDERS_INIT;
}

/* Another namespace's /proc has numbers that mean other processes to us. */
static int
S_check_proc(int procfd, struct holders *out, struct fault *f)
{
	char self[24], mine[24];
	struct stat st;
	ssize_t n = readlinkat(procfd, "self", self, sizeof(self) - 1);

	(void)snprintf(mine, sizeof(mine), "%d", (int)getpid());
	self[n > 0 ? n : 0] = '\0';
	if (strcmp(self, mine))
		return fault_set(f, FAULT_TROUBLE,
				 "/proc is not of our PID namespace: it calls "
				 "us '%s', the kernel %s", self, mine);
	out->hidden = fstatat(procfd, "1", &st, 0) != 0;
	out->nested = fstatat(procfd, "self/ns/pid", &st, 0) != 0
		|| st.st_ino != FIRST_PID_NAMESPACE;
	return 0;
}

static int
S_add_pid(pid_t **pid, size_t *n, pid_t one, struct fault *f)
{
	pid_t *grown = reallocarray(*pid, *n + 1, sizeof(**pid));

	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	*pid = grown;
	grown[(*n)++] = one;
	return 0;
}

/* Only a process that is root in all its ids is root's own. */
static int
S_add_unreadable(struct holders *out, const struct proc *p, struct fault *f)
{
	struct fault unseen = FAULT_INIT;
	struct proc_ids ids;

	if (!proc_ids(p, &ids, &unseen) && ids.real == 0 && ids.effective == 0
	    && ids.saved == 0 && ids.fs == 0)
		return S_add_pid(&out->root_pid, &out->unreadable_root, p->pid,
				 f);
	return S_add_pid(&out->other_pid, &out->unreadable_other, p->pid, f);
}

/* 1: it ended before it could be named. */
static int
S_name(struct holder *h, const struct proc *p, struct fault *f)
{
	struct proc_ids ids = { .real = (uid_t)-1 };
	struct proc_stat s;
	int rc = proc_stat(p, 0, &s, f);

	if (!rc)
		rc = proc_ids(p, &ids, f);
	if (rc)
		return rc;
	h->pid = p->pid;
	h->start_time = s.start_time;
	h->uid = ids.real;
	return 0;
}

static int
S_add_holder(struct holders *out, struct holder *h, struct fault *f)
{
	struct holder *grown = reallocarray(out->holder, out->count + 1,
					    sizeof(*grown));

	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	out->holder = grown;
	grown[out->count++] = *h;
	*h = (struct holder)HOLDER_INIT;
	return 0;
}

static int
S_add_seen(struct holders *out, pid_t pid, uint64_t dir, struct fault *f)
{
	struct holders_seen *grown = out->seen;

	/* Doubled where the count is a power of two. */
	if ((out->nseen & (out->nseen - 1)) == 0) {
		grown = reallocarray(grown, out->nseen ? 2 * out->nseen : 1,
				     sizeof(*grown));
		if (!grown)
			return fault_set(f, FAULT_TROUBLE, "out of memory");
		out->seen = grown;
	}
	grown[out->nseen++] = (struct holders_seen){ pid, dir };
	return 0;
}

static int
S_look_at(struct scan *s, int procfd, const char *name, struct holders *out,
	  struct fault *f)
{
	OWN_PROC(p);
	OWN_HOLDER(h);
	bool kernel;
	int rc = proc_is_kernel(procfd, name, &kernel, f);

	if (rc || kernel)
		return rc < 0 ? rc : 0;
	p.pid = (pid_t)atoi(name);
	p.dirfd = openat(procfd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p.dirfd < 0 && (errno == ENOENT || errno == ESRCH))
		return 0;
	if (p.dirfd < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "open /proc/%s",
				 name);
	rc = scan_process(s, &p, &h, f);
	if (rc == SCAN_DENIED) {
		rc = S_add_unreadable(out, &p, f);
		if (rc)
			return rc;
	} else if (rc < 0) {
		return rc;
	}
	if (h.nfds == 0)
		return 0;
	rc = S_name(&h, &p, f);
	if (rc)
		return rc < 0 ? rc : 0;
	return S_add_holder(out, &h, f);
}

/* /proc lists processes by their number, so both lists are walked once. */
static bool
S_was_seen(const struct holders *before, size_t *at, pid_t pid, uint64_t dir)
{
	while (*at < before->nseen && before->seen[*at].pid < pid)
		(*at)++;
	return *at < before->nseen && before->seen[*at].pid == pid &&
	       before->seen[*at].dir == dir;
}

/* before: what need not be looked at again, or nothing. */
static int
S_find(struct scan *s, struct proc_list *all, const struct holders *before,
       struct holders *out, struct fault *f)
{
	const pid_t us = getpid();
	const char *name;
	size_t at = 0;
	int rc;
	OWN_FD(procfd);

	procfd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (procfd < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "open /proc");
	rc = S_check_proc(procfd, out, f);
	proc_list_begin(all, procfd);
	while (!rc && (name = proc_list_next(all))) {
		pid_t pid = (pid_t)atoi(name);

		rc = S_add_seen(out, pid, all->ino, f);
		if (!rc && pid != us &&
		    !S_was_seen(before, &at, pid, all->ino))
			rc = S_look_at(s, procfd, name, out, f);
	}
	if (!rc && all->err)
		return fault_sys(f, FAULT_TROUBLE, all->err, "list /proc");
	return rc;
}

static int
S_find_new(const struct holders *before, const struct inode_id *ids, size_t n,
	   struct holders *out, struct fault *f)
{
	struct proc_list all;
	int rc;
	OWN_SCAN(s);

	rc = scan_new(&s, ids, n, f);
	if (rc)
		return rc;
	rc = S_find(s, &all, before, out, f);
	if (rc)
		holders_free(out);
	return rc;
}

int
holders_find(const struct inode_id *ids, size_t n, struct holders *out,
	     struct fault *f)
{
	const struct holders nobody = HOLDERS_INIT;

	return S_find_new(&nobody, ids, n, out, f);
}

/* Keeps of h what is one of ids. */
static void
S_narrow(struct holder *h, const struct inode_id *ids, size_t n)
{
	size_t kept = 0;

	h->writable = false;
	for (size_t i = 0; i < h->nfds; i++) {
		size_t k = 0;

		while (k < n && (ids[k].ino != h->fd[i].ino ||
				 ids[k].dev != h->fd[i].dev))
			k++;
		if (k == n) {
			free(h->fd[i].link);
			continue;
		}
		h->writable = h->writable || h->fd[i].writable;
		h->fd[kept++] = h->fd[i];
	}
	h->nfds = kept;
}

static bool
S_is_listed(const struct holders *out, const struct holder *h)
{
	for (size_t i = 0; i < out->count; i++)
		if (out->holder[i].pid == h->pid &&
		    out->holder[i].start_time == h->start_time)
			return true;
	return false;
}

/* What was known of those that were not looked at, to the end of now. */
static int
S_carry_over(struct holders *h, const struct inode_id *ids, size_t n,
	     struct holders *now, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < h->count; i++) {
		S_narrow(&h->holder[i], ids, n);
		if (h->holder[i].nfds > 0 && !S_is_listed(now, &h->holder[i]))
			rc = S_add_holder(now, &h->holder[i], f);
	}
	for (size_t i = 0; rc == 0 && i < h->unreadable_root; i++)
		rc = S_add_pid(&now->root_pid, &now->unreadable_root,
			       h->root_pid[i], f);
	for (size_t i = 0; rc == 0 && i < h->unreadable_other; i++)
		rc = S_add_pid(&now->other_pid, &now->unreadable_other,
			       h->other_pid[i], f);
	return rc;
}

int
holders_update(struct holders *h, const struct inode_id *ids, size_t n,
	       struct fault *f)
{
	struct holders now = HOLDERS_INIT;
	int rc = S_find_new(h, ids, n, &now, f);

	if (!rc)
		rc = S_carry_over(h, ids, n, &now, f);
	holders_free(h);
	if (rc)
		holders_free(&now);
	else
		*h = now;
	return rc;
}

int
holders_table(const struct proc *p, struct holder *out, struct fault *f)
{
	int rc;
	OWN_SCAN(s);
	OWN_HOLDER(h);

	rc = scan_new(&s, NULL, 0, f);
	if (!rc)
		rc = scan_process(s, p, &h, f);
	if (rc == SCAN_DENIED)
		return fault_set(f, FAULT_TROUBLE,
				 "process %d: its descriptors may not be read",
				 (int)p->pid);
	if (rc < 0)
		return rc;
	rc = proc_same(p, f);
	if (!rc)
		rc = S_name(&h, p, f);
	if (rc == 1)
		return fault_set(f, FAULT_UNSTABLE, "process %d ended",
				 (int)p->pid);
	if (rc)
		return rc;
	*out = h;
	h = (struct holder)HOLDER_INIT;
	return 0;
}
