/*
 * seen.c - the sandbox as the kernel shows it to the parent
 *
 * Format: proc_pid_status(5). A field that an older kernel lacks counts as
 * missing, but for the number of filters.
 */
#include "warden/seen.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "reply/ask.h"

#define SEEN_STATUS_MAX 8192u
#define SEEN_UID 65534		/* what root's helper becomes: recover/jail.h */
#define SEEN_FILTER 2		/* SECCOMP_MODE_FILTER */

/*
 * BOUNDARY warden.outside
 *
 * Before:   the helper says that its sandbox stands. It was given its
 *           descriptors and has read nothing.
 * After:    it reads the ask and the evidence.
 * Crosses:  the decision to hand over, made from what the kernel shows and
 *           not from what the helper says.
 * If it cannot be shown: /proc without status is FAULT_SANDBOX; a table of
 *           descriptors that we may not list is reported as not shown.
 * If it is broken: the helper would parse hostile bytes with our rights.
 * Shown by: tests/unit/t_warden.c, tests/unit/t_seen.c
 */

static const struct {
	const char *name;
	bool bounding;
} capability_sets[] = {
	{ "CapInh", false }, { "CapPrm", false }, { "CapEff", false },
	{ "CapAmb", false }, { "CapBnd", true },
};

/* The value of a field, or NULL. It ends at the line's end. */
static const char *
S_find(const char *text, const char *name)
{
	size_t n = strlen(name);

	while (text && *text) {
		if (!strncmp(text, name, n) && text[n] == ':') {
			text += n + 1;
			return text + strspn(text, "\t ");
		}
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

static int
S_miss(struct fault *f, const char *name, const char *must, const char *found)
{
	size_t n = found ? strcspn(found, "\n") : 0;

	return fault_set(f, FAULT_SANDBOX,
			 "the helper's sandbox does not stand: %s must be %s"
			 " and is %.*s; nothing was handed to it", name, must,
			 found ? (int)n : (int)strlen("not shown"),
			 found ? found : "not shown");
}

/* All four of Uid or Gid: real, effective, saved, file system. */
static int
S_ids(const char *text, const char *name, long want, struct fault *f)
{
	const char *value = S_find(text, name), *at = value;
	char must[32];
	bool right = value != NULL;

	for (int i = 0; right && i < 4; i++) {
		char *end;

		right = isdigit((unsigned char)at[0]) &&
			strtol(at, &end, 10) == want;
		if (right)
			at = end + strspn(end, "\t ");
	}
	if (right && *at == '\n')
		return 0;
	(void)snprintf(must, sizeof(must), "%ld four times", want);
	return S_miss(f, name, must, value);
}

static int
S_groups(const char *text, bool root, int *groups, struct fault *f)
{
	const char *value = S_find(text, "Groups");
	int n = 0;

	if (!value)
		return S_miss(f, "Groups", "shown", NULL);
	for (const char *at = value; *at && *at != '\n'; at++)
		if (isdigit((unsigned char)at[0]) &&
		    !isdigit((unsigned char)at[1]))
			n++;
	*groups = n;
	return root && n ? S_miss(f, "Groups", "empty", value) : 0;
}

static int
S_capabilities(const char *text, bool root, struct warden_seen *s,
	       struct fault *f)
{
	for (size_t i = 0;
	     i < sizeof(capability_sets) / sizeof(capability_sets[0]); i++) {
		const char *name = capability_sets[i].name;
		const char *value = S_find(text, name);
		char *end = NULL;
		uint64_t set;

		if (!value || !isxdigit((unsigned char)value[0]))
			return S_miss(f, name, "0", value);
		set = strtoull(value, &end, 16);
		if (*end != '\n')
			return S_miss(f, name, "0", value);
		s->capabilities |= set;
		if (!capability_sets[i].bounding)
			s->held |= set;
		if (set && (root || !capability_sets[i].bounding))
			return S_miss(f, name, "0", value);
	}
	return 0;
}

static int
S_number(const char *text, const char *name)
{
	const char *value = S_find(text, name);

	return value && isdigit((unsigned char)value[0]) ?
	       (int)strtol(value, NULL, 10) : -1;
}

/* A filter that we inherited ourselves also shows as mode 2. */
static int
S_walls(const char *text, int outer_filters, struct warden_seen *s,
	struct fault *f)
{
	char must[48];

	if (S_number(text, "NoNewPrivs") != 1)
		return S_miss(f, "NoNewPrivs", "1", S_find(text,
							   "NoNewPrivs"));
	s->no_new_privs = true;
	s->seccomp = S_number(text, "Seccomp");
	if (s->seccomp != SEEN_FILTER)
		return S_miss(f, "Seccomp", "2", S_find(text, "Seccomp"));
	s->filters = S_number(text, "Seccomp_filters");
	if (s->filters < 0 || outer_filters < 0 || s->filters > outer_filters)
		return 0;
	(void)snprintf(must, sizeof(must), "more than our own %d",
		       outer_filters);
	return S_miss(f, "Seccomp_filters", must,
		      S_find(text, "Seccomp_filters"));
}

int
seen_status(const char *text, const struct seen_want *want,
	    struct warden_seen *s, struct fault *f)
{
	int rc = S_ids(text, "Uid", want->uid, f);

	if (!rc)
		rc = S_ids(text, "Gid", want->gid, f);
	if (!rc)
		rc = S_groups(text, want->root, &s->groups, f);
	if (!rc)
		rc = S_capabilities(text, want->root, s, f);
	if (!rc)
		rc = S_walls(text, want->filters, s, f);
	if (rc)
		return rc;
	s->uid = want->uid;
	s->gid = want->gid;
	s->threads++;
	return 0;
}

static int
S_read_status(int dir, const char *path, char text[SEEN_STATUS_MAX],
	      struct fault *f)
{
	size_t got;
	int rc;
	OWN_FD(fd);

	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		fault_sys(f, FAULT_SANDBOX, errno,
			  "the helper's sandbox can't be looked at");
		return fault_hint(f, "/proc must be mounted and show us our"
				  " own children");
	}
	rc = io_read(fd, text, SEEN_STATUS_MAX - 1, &got, f);
	if (!rc)
		text[got] = '\0';
	return rc;
}

static int
S_list(int dir, const char *name, DIR **d)
{
	OWN_FD(fd);

	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	*d = fdopendir(fd);
	if (!*d)
		return -1;
	(void)TAKE_FD(fd);
	return 0;
}

static int
S_threads(int dir, const struct seen_want *want, struct warden_seen *s,
	  struct fault *f)
{
	char path[sizeof("task//status") + sizeof(((struct dirent *)0)->d_name)];
	char text[SEEN_STATUS_MAX];
	struct dirent *e;
	int rc = 0;
	OWN_DIR(tasks);

	if (S_list(dir, "task", &tasks))
		return fault_sys(f, FAULT_SANDBOX, errno,
				 "the helper's threads can't be listed");
	while (!rc && (e = readdir(tasks))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		(void)snprintf(path, sizeof(path), "task/%s/status",
			       e->d_name);
		rc = S_read_status(dir, path, text, f);
		if (!rc)
			rc = seen_status(text, want, s, f);
	}
	if (!rc && s->threads == 0)
		rc = fault_set(f, FAULT_SANDBOX, "the helper shows no threads");
	return rc;
}

static int
S_descriptors(int dir, int end, int *count, struct fault *f)
{
	struct dirent *e;
	char must[32];
	int n = 0;
	OWN_DIR(fds);

	*count = -1;
	if (S_list(dir, "fd", &fds))
		return 0;
	while ((e = readdir(fds))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		if (strtol(e->d_name, NULL, 10) >= end) {
			(void)snprintf(must, sizeof(must), "below %d", end);
			return S_miss(f, "every descriptor", must, e->d_name);
		}
		n++;
	}
	if (n != end) {
		char found[16];

		(void)snprintf(must, sizeof(must), "%d", end);
		(void)snprintf(found, sizeof(found), "%d", n);
		return S_miss(f, "the number of descriptors", must, found);
	}
	*count = n;
	return 0;
}

void
seen_want(struct seen_want *want, size_t evidence)
{
	struct fault ignored = FAULT_INIT;
	char text[SEEN_STATUS_MAX];
	bool root = getuid() == 0 || geteuid() == 0;

	*want = (struct seen_want){
		.uid = root ? SEEN_UID : (long)getuid(),
		.gid = root ? SEEN_UID : (long)getgid(),
		.root = root,
		.filters = -1,
		.descriptors = EVIDENCE_FD + (int)evidence,
	};
	if (!S_read_status(AT_FDCWD, "/proc/self/status", text, &ignored))
		want->filters = S_number(text, "Seccomp_filters");
}

int
seen_check(pid_t pid, const struct seen_want *want, struct warden_seen *s,
	   struct fault *f)
{
	char path[32];
	int rc;
	OWN_FD(dir);

	s->threads = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		fault_sys(f, FAULT_SANDBOX, errno,
			  "the helper's sandbox can't be looked at");
		return fault_hint(f, "/proc must be mounted");
	}
	rc = S_threads(dir, want, s, f);
	if (!rc)
		rc = S_descriptors(dir, want->descriptors, &s->descriptors, f);
	return rc;
}
