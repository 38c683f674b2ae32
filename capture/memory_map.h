/*
 * memory_map.h - what a process has mapped, and bytes of its memory
 *
 * Format: lines of /proc/PID/maps and entries of /proc/PID/pagemap, proc(5).
 *
 * Trust: the kernel's own words. The bytes that are read may be anybody's:
 * whoever writes rows chooses what lies in a page cache.
 *
 * Privilege: process_vm_readv wants the rights of ptrace (capture/rights.h);
 * the process need not stand still.
 */
#ifndef CAPTURE_MEMORY_MAP_H
#define CAPTURE_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "capture/proc.h"

struct memory_region {
	uint64_t from, to;
	bool read, write, exec, shared;
	uint64_t dev;		/* as maps shows it: not always st_dev */
	uint64_t ino;		/* 0: anonymous */
};

struct memory_map {
	struct memory_region *region;	/* owned; in order of address */
	size_t count;
};

#define MEMORY_MAP_INIT { .region = NULL, .count = 0 }

/*
 * Memory to read: of a process, or made up by a test. touched finds the first
 * stretch of [at, end) that may differ from zeros; both ends are multiples of
 * MEMORY_PAGE.
 */
struct memory_view {
	struct memory_map map;	/* borrowed */
	/* 0, or an errno and nothing is read. */
	int (*read)(void *arg, uint64_t at, void *to, size_t n);
	/* 0 and the stretch, or 1: there is none. */
	int (*touched)(void *arg, uint64_t at, uint64_t end, uint64_t *from,
		       uint64_t *to);
	void *arg;
};

#define MEMORY_PAGE 4096u

/* *m is empty before, and on failure. FAULT_UNSTABLE: the process ended. */
int
memory_map_read(const struct proc *p, struct memory_map *m, struct fault *f);

/* The region that an address is in, or NULL. */
const struct memory_region *
memory_map_find(const struct memory_map *m, uint64_t at);

void
memory_map_free(struct memory_map *m);

/* The memory of a process; borrows m. */
struct memory_process {
	pid_t pid;
	int pagemap;		/* owned; -1: which pages are touched is not
				   shown, and all count as such */
};

void
memory_process_open(struct memory_process *p, const struct proc *who);
void
memory_process_view(struct memory_process *p, const struct memory_map *m,
		    struct memory_view *v);
void
memory_process_close(struct memory_process *p);

#define OWN_MEMORY_MAP(name) \
	struct memory_map name __attribute__((cleanup(memory_map_free))) = \
		MEMORY_MAP_INIT
#define OWN_MEMORY_PROCESS(name) \
	struct memory_process name \
		__attribute__((cleanup(memory_process_close))) = \
		{ .pagemap = -1 }

#endif
