/*
 * owner.h - who holds a lease, spelt in one way only
 *
 * The owner is session AND epoch: a living older epoch blocks a newer one of
 * the same session.
 */
#ifndef LEASE_OWNER_H
#define LEASE_OWNER_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/fault.h"

#define OWNER_NAME_MAX 1024u	/* bytes of a session, an epoch, an agent */
#define OWNER_NOTE_MAX 4096u

/*
 * *session (the caller's to free) without blanks at the edges and without
 * leading "agent/", in any case and however often. FAULT_USAGE: nothing is
 * left, it is too long, or not UTF-8.
 */
int
owner_session(const char *word, char **session, struct fault *f);

/* FAULT_USAGE: word is longer than max or not UTF-8; what names it. */
int
owner_text(const char *what, const char *word, size_t max, struct fault *f);

/* Advice about the process that asked; never judged across namespaces. */
struct owner_process {
	int64_t pid;		/* 0: not known */
	int64_t start;		/* clock ticks after the boot */
	int64_t ns;		/* inode of its pid namespace */
	char boot[CLOCK_BOOT_ID_BYTES];
};

/* Fills p for pid, or leaves it unknown as a whole. */
void
owner_process(int64_t pid, struct owner_process *p);

#endif
