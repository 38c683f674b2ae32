/*
 * writers.h - the processes that hold a database, and what each holds
 */
#ifndef PACKET_WRITERS_H
#define PACKET_WRITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct writer {
	pid_t pid;
	uint64_t start_time;	/* clock ticks after boot: /proc/PID/stat, 22 */
	uid_t uid;
	char *exe;		/* where /proc/PID/exe points, or "?" */
	bool paused;		/* false: held without a writable descriptor */
	bool was_stopped;	/* by job control, before we came: it stays so */
	unsigned threads;
	unsigned descriptors;	/* of any role of this database */
};

struct writers {
	struct writer *writer;
	size_t count;
};

void
writers_free(struct writers *w);

#endif
