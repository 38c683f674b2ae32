/*
 * journal.h - our own account of a rollback journal
 *
 * Lifecycle: journal_read, journal_record for each record, journal_free.
 *
 * Format: https://www.sqlite.org/fileformat2.html#the_rollback_journal, and
 * as SQLite's playback of a hot journal (pager_playback) takes it:
 *   1. A journal whose first byte is 0 is cold, and so is an empty one.
 *   2. The last bytes may name a super-journal: name, page number of the
 *      lock page in front, length, checksum, magic.
 *   3. A header starts at a multiple of the sector size and has the magic;
 *      the first one gives sector size and page size.
 *   4. Its record count of 0xffffffff means "to the end of the file"; 0
 *      means that nothing was synced, and so that main was not written.
 *   5. A record is a page number, the page as it was, a checksum over every
 *      200th byte that starts from the header's nonce. Page 0 or the lock
 *      page, or a bad checksum, ends its segment; a short one ends all.
 *   6. A record of a page beyond main's original size is skipped unchecked.
 */
#ifndef RECOVER_JOURNAL_H
#define RECOVER_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "recover/images.h"

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
	uint64_t damaged;	/* records with a bad one: playback ends */
	bool super;		/* a super-journal is named */
	char super_name[JOURNAL_NAME_MAX];	/* escaped for print */
};

/* One page as it was before the transaction. */
struct journal_record {
	uint32_t pgno;
	uint64_t offset;	/* of the page image in the journal */
};

struct journal;

/*
 * r is borrowed for the call. main_page_size serves where the journal's
 * header gives none (0: unknown). What the bytes say never fails; a fault
 * is one of reading, or FAULT_CAP.
 */
int
journal_read(struct images_reader *r, uint32_t main_page_size,
	     uint64_t memory, struct journal **j, struct fault *f);
/*
 * As journal_read, and behind a hot journal's last segment also the records
 * of one that was not synced (its magic and count are still zeros): main has
 * all of these pages as they were, so they show whose journal it is.
 */
int
journal_read_unsynced(struct images_reader *r, uint64_t memory,
		      struct journal **j, struct fault *f);
void
journal_free(struct journal *j);

/* Borrowed until journal_free. */
const struct journal_account *
journal_account(const struct journal *j);

bool
journal_hot(const struct journal *j);

/* The i-th of acct->records, in the order of playback: the last one of a
   page wins. */
struct journal_record
journal_record(const struct journal *j, uint64_t i);

#endif
