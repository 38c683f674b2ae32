/*
 * proc.h - one process, identified by a held /proc directory
 *
 * A pid alone may be another process by the time it is used. The held
 * directory can't be: its lookups fail once the process is gone. The start
 * time is what a report and a later look-up can compare.
 *
 * Lifecycle: proc_open, any of the questions, proc_close.
 * Format: /proc/PID/stat and status as in proc(5).
 */
#ifndef CAPTURE_PROC_H
#define CAPTURE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/own.h"

struct proc {
	pid_t pid;
	int dirfd;		/* owned: /proc/PID; -1: empty */
	uint64_t start_time;	/* clock ticks after boot: stat, field 22 */
};

#define PROC_INIT { .pid = 0, .dirfd = -1, .start_time = 0 }

/* 1: no such process (p stays as it was). */
int
proc_open(pid_t pid, struct proc *p, struct fault *f);
void
proc_close(struct proc *p);

/* The same process, held a second time. */
int
proc_copy(const struct proc *p, struct proc *copy, struct fault *f);

/*
 * 0: it lives and is the one that was opened. FAULT_UNSTABLE names it where
 * it ended, is a zombie altogether, or the start time is another.
 */
int
proc_same(const struct proc *p, struct fault *f);

struct proc_stat {
	char state;		/* R S D T t Z X I */
	bool kernel;		/* a thread of the kernel: it holds no files */
	long threads;		/* living ones, and a leader that ended first */
	uint64_t start_time;
};

/* tid 0: the process itself. 1: it is gone. */
int
proc_stat(const struct proc *p, pid_t tid, struct proc_stat *s,
	  struct fault *f);

/*
 * Of an entry of /proc, before it is held: most are threads of the kernel.
 * 1: it is gone.
 */
int
proc_is_kernel(int procfd, const char *pid, bool *kernel, struct fault *f);

/*
 * The value of one line of /proc/PID/status without its tabs and newline:
 * "State", "TracerPid", "Uid" ... tid 0: the process itself. Longer values
 * are cut. 1: no such line, or the process is gone.
 */
#define PROC_VALUE_BYTES 128
int
proc_status_value(const struct proc *p, pid_t tid, const char *key, char *out,
		  size_t n, struct fault *f);

struct proc_ids {
	uid_t real, effective, saved, fs;
};

/* 1: the process is gone, or the kernel does not show it. */
int
proc_ids(const struct proc *p, struct proc_ids *ids, struct fault *f);

/* Where /proc/PID/exe points, or "?"; owned by the caller. NULL: no memory. */
char *
proc_exe(const struct proc *p);

/*
 * The entries of a directory below /proc whose names are numbers, without
 * an allocation: proc_list_begin, then proc_list_next until NULL. The name
 * is borrowed until the next call. At the end err is 0, or the errno that
 * cut the list short (ENOENT, ESRCH: the process ended).
 */
struct proc_list {
	int fd;			/* borrowed */
	int err;
	uint64_t ino;		/* of the entry that was returned last */
	size_t at, len;
	_Alignas(8) char bytes[16384];
};

void
proc_list_begin(struct proc_list *l, int fd);
const char *
proc_list_next(struct proc_list *l);

static inline void
own_proc_close(struct proc *p)
{
	proc_close(p);
}

#define OWN_PROC(name) \
	struct proc name __attribute__((cleanup(own_proc_close))) = PROC_INIT

#endif
