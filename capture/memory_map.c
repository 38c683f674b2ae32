/*
 * memory_map.c - what a process has mapped, and bytes of its memory
 */
#include "capture/memory_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/own.h"

/* The kernel's own default for one process is half of it. */
#define REGIONS_MAX 131072u

/* Entries of a pagemap for each read of it. */
#define PAGEMAP_BATCH 512u
#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)

/* FROM-TO rwxp OFFSET MAJOR:MINOR INODE NAME; 1: another form. */
static int
S_parse(const char *line, struct memory_region *r)
{
	unsigned int major, minor;
	char mode[5];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %" SCNu64,
		   &r->from, &r->to, mode, &major, &minor, &r->ino) != 6)
		return 1;
	r->read = mode[0] == 'r';
	r->write = mode[1] == 'w';
	r->exec = mode[2] == 'x';
	r->shared = mode[3] == 's';
	r->dev = makedev(major, minor);
	return r->from >= r->to;
}

static int
S_add(struct memory_map *m, size_t *room, const struct memory_region *r,
      struct fault *f)
{
	if (m->count == REGIONS_MAX)
		return fault_set(f, FAULT_CAP, "it has more than %u mappings",
				 REGIONS_MAX);
	if (m->count == *room) {
		size_t more = *room ? *room * 2 : 256;
		struct memory_region *grown =
			reallocarray(m->region, more, sizeof(*grown));

		if (!grown)
			return fault_set(f, FAULT_TROUBLE, "out of memory");
		m->region = grown;
		*room = more;
	}
	m->region[m->count++] = *r;
	return 0;
}

static int
S_read_lines(FILE *file, struct memory_map *m, struct fault *f)
{
	struct memory_region r;
	OWN_MEM(char, line);
	size_t length = 0, room = 0;
	uint64_t last = 0;
	int rc = 0;

	errno = 0;
	while (rc == 0 && getline(&line, &length, file) > 0) {
		/* The search relies on the order: a part of a line has none. */
		if (S_parse(line, &r) || r.from < last)
			return fault_set(f, FAULT_TROUBLE, "maps is not in the "
					 "known form");
		last = r.to;
		rc = S_add(m, &room, &r, f);
	}
	if (!rc && ferror(file))
		rc = fault_sys(f, FAULT_UNSTABLE, errno, "read maps");
	return rc;
}

int
memory_map_read(const struct proc *p, struct memory_map *m, struct fault *f)
{
	FILE *file;
	OWN_FD(fd);
	int rc;

	fd = openat(p->dirfd, "maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !(file = fdopen(fd, "r")))
		return fault_sys(f, errno == ENOENT || errno == ESRCH ?
				 FAULT_UNSTABLE : FAULT_TROUBLE, errno,
				 "open /proc/%d/maps", (int)p->pid);
	(void)TAKE_FD(fd);
	rc = S_read_lines(file, m, f);
	(void)fclose(file);
	if (rc)
		memory_map_free(m);
	return rc ? fault_wrap(f, "process %d", (int)p->pid) : 0;
}

const struct memory_region *
memory_map_find(const struct memory_map *m, uint64_t at)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->region[mid].to <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == m->count || m->region[low].from > at)
		return NULL;
	return &m->region[low];
}

void
memory_map_free(struct memory_map *m)
{
	free(m->region);
	*m = (struct memory_map)MEMORY_MAP_INIT;
}

void
memory_process_open(struct memory_process *p, const struct proc *who)
{
	p->pid = who->pid;
	p->pagemap = openat(who->dirfd, "pagemap", O_RDONLY | O_CLOEXEC);
}

void
memory_process_close(struct memory_process *p)
{
	own_fd_close(&p->pagemap);
}

static int
S_read(void *arg, uint64_t at, void *to, size_t n)
{
	const struct memory_process *p = arg;
	struct iovec here = { .iov_base = to, .iov_len = n };
	struct iovec there = { .iov_base = (void *)(uintptr_t)at,
			       .iov_len = n };
	ssize_t got = process_vm_readv(p->pid, &here, 1, &there, 1, 0);

	if (got < 0)
		return errno;
	return (size_t)got == n ? 0 : EFAULT;
}

/* Looks at pages of [*at, end); 0: *at is the first whose state is wanted. */
static int
S_seek(const struct memory_process *p, uint64_t *at, uint64_t end, bool wanted)
{
	uint64_t entry[PAGEMAP_BATCH];

	while (*at < end) {
		uint64_t pages = (end - *at) / MEMORY_PAGE;
		size_t n = pages < PAGEMAP_BATCH ? (size_t)pages
						 : PAGEMAP_BATCH;
		ssize_t got = pread(p->pagemap, entry, n * sizeof(*entry),
				    (off_t)(*at / MEMORY_PAGE *
					    sizeof(*entry)));

		if (got < (ssize_t)sizeof(*entry))
			return wanted ? 0 : 1;	/* not shown: touched */
		n = (size_t)got / sizeof(*entry);
		for (size_t i = 0; i < n; i++, *at += MEMORY_PAGE) {
			bool touched = entry[i] & (PAGE_PRESENT |
						   PAGE_SWAPPED);

			if (touched == wanted)
				return 0;
		}
	}
	return 1;
}

/*
 * Pages that were never touched are zeros. To read them would give the
 * process page tables for all of what it has merely set aside.
 */
static int
S_touched(void *arg, uint64_t at, uint64_t end, uint64_t *from, uint64_t *to)
{
	const struct memory_process *p = arg;

	if (at >= end)
		return 1;
	*from = at;
	*to = end;
	if (p->pagemap < 0 || sysconf(_SC_PAGESIZE) != MEMORY_PAGE)
		return 0;
	if (S_seek(p, from, end, true))
		return 1;
	*to = *from;
	if (S_seek(p, to, end, false))
		*to = end;
	return *to == *from;
}

void
memory_process_view(struct memory_process *p, const struct memory_map *m,
		    struct memory_view *v)
{
	*v = (struct memory_view){
		.map = *m,
		.read = S_read,
		.touched = S_touched,
		.arg = p,
	};
}
