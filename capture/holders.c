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
S_look_at(struct scan *s, int procfd, const char *name, struct holders *out,
	  struct fault *f)
{
	OWN_PROC(p);
	OWN_HOLDER(h);
	int rc;

	p.pid = (pid_t)atoi(name);
	if (p.pid == getpid())
		return 0;
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

static int
S_find(struct scan *s, struct proc_list *all, struct holders *out,
       struct fault *f)
{
	const char *name;
	int rc;
	OWN_FD(procfd);

	procfd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (procfd < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "open /proc");
	rc = S_check_proc(procfd, out, f);
	proc_list_begin(all, procfd);
	while (!rc && (name = proc_list_next(all)))
		rc = S_look_at(s, procfd, name, out, f);
	if (!rc && all->err)
		return fault_sys(f, FAULT_TROUBLE, all->err, "list /proc");
	return rc;
}

int
holders_find(const struct inode_id *ids, size_t n, struct holders *out,
	     struct fault *f)
{
	struct proc_list all;
	int rc;
	OWN_SCAN(s);

	rc = scan_new(&s, ids, n, f);
	if (rc)
		return rc;
	rc = S_find(s, &all, out, f);
	if (rc)
		holders_free(out);
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
