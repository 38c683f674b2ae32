/*
 * journal.h - our own account of a rollback journal
 *
 * Format: https://www.sqlite.org/fileformat2.html#the_rollback_journal
 */
#ifndef RECOVER_JOURNAL_H
#define RECOVER_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#define JOURNAL_NAME_MAX 512

struct journal_account {
	/* "none" no file; "empty" 0 bytes; "cold" its header is zeroed or
	   no journal; "hot" SQLite rolls it back */
	const char *state;
	uint32_t page_size;
	uint32_t sector_size;
	uint32_t pages;		/* main's size when the transaction began */
	uint64_t segments;	/* journal headers */
	uint64_t records;	/* page records with a good checksum */
	uint64_t damaged;	/* records with a bad one: playback ends there */
	bool super;		/* a super-journal is named */
	char super_name[JOURNAL_NAME_MAX];	/* escaped for print */
};

#endif
