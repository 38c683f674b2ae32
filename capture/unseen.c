/*
 * unseen.c - processes whose descriptors we may not read, but whose locks
 * the kernel shows to everybody
 */
#include "capture/unseen.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/own.h"
#include "capture/proc.h"
#include "capture/rights.h"

struct lock_row {
	int pid;
	unsigned major, minor;
	uint64_t ino;
};

/* 0, or 1: it is a lock that is waited for, or not in the known form. */
static int
S_parse(const char *line, struct lock_row *row)
{
	char type[16], how[16], access[16];

	/* ID: TYPE ADVISORY ACCESS PID MAJOR:MINOR:INODE FIRST LAST */
	return sscanf(line, "%*d: %15s %15s %15s %d %x:%x:%" SCNu64, type, how,
		      access, &row->pid, &row->major, &row->minor,
		      &row->ino) != 7;
}

/*
 * Some file systems show another device here than fstat does; theirs has the
 * major number 0. There the inode number has to do: a refusal too many.
 */
static bool
S_is_on(const struct lock_row *row, const struct stat *file)
{
	bool same = row->major == major(file->st_dev) &&
		    row->minor == minor(file->st_dev);

	return row->ino == file->st_ino && row->pid != getpid() &&
	       (same || major(file->st_dev) == 0);
}

static int
S_refuse(int pid, const struct stat *file, struct fault *f)
{
	struct fault ignored = FAULT_INIT;
	struct rights r;
	OWN_PROC(p);

	fault_set(f, FAULT_TROUBLE, "process %d has a lock on %ju:%ju, and its "
		  "descriptors may not be read", pid, (uintmax_t)file->st_dev,
		  (uintmax_t)file->st_ino);
	if (pid <= 0 || proc_open((pid_t)pid, &p, &ignored))
		return fault_hint(f, "run as root: the process is not of this "
				  "PID namespace, or not yours");
	rights_look(&p, &r);
	return rights_hint(&r, f);
}

int
unseen_refuse_lockers(const struct stat *file, struct fault *f)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	struct lock_row row;
	int rc = 0;

	/* Without the table there is nothing to add to the notes. */
	if (!locks)
		return 0;
	while (rc == 0 && fgets(line, sizeof(line), locks))
		if (!S_parse(line, &row) && S_is_on(&row, file))
			rc = S_refuse(row.pid, file, f);
	(void)fclose(locks);
	return rc;
}
