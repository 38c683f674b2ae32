/*
 * account.c - what the images of one database hold, before SQLite sees them
 */
#include "recover/account.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/plural.h"

int
account_open(struct account *a, const struct ask_side *side, uint64_t memory,
	     struct fault *f)
{
	struct wal_options o = { .memory = memory };
	unsigned char head[HEADER_BYTES];
	size_t n = sizeof(head);
	int rc;

	memset(a, 0, sizeof(*a));
	rc = images_open(&a->images, side, f);
	if (!rc)
		rc = images_reader_new(&a->reader, a->images, f);
	if (rc)
		return rc;
	if (images_size(a->images, ROLE_MAIN) < n)
		n = (size_t)images_size(a->images, ROLE_MAIN);
	rc = images_read(a->reader, ROLE_MAIN, 0, head, n, f);
	if (rc)
		return rc;
	header_decode(head, n, &a->header);
	o.page_size = a->header.page_size;
	rc = journal_read(a->reader, a->header.page_size, memory, &a->journal,
			  f);
	if (!rc)
		rc = wal_read(a->reader, &o, &a->wal, f);
	if (!rc)
		rc = shm_read(a->reader, &a->shm, f);
	return rc;
}

void
account_free(struct account *a)
{
	wal_free(a->wal);
	journal_free(a->journal);
	images_reader_free(a->reader);
	images_free(a->images);
	memset(a, 0, sizeof(*a));
}

int
account_header(const struct header *h, uint64_t size, struct fault *f)
{
	switch (h->state) {
	case HEADER_OK:
	case HEADER_EMPTY:
		return 0;
	case HEADER_SHORT:
		return fault_set(f, FAULT_DAMAGED, "truncated: main has %llu "
				 "byte%s, and a header alone has %u",
				 (unsigned long long)size, plural_s(size),
				 HEADER_BYTES);
	case HEADER_FOREIGN:
		break;
	}
	if (h->magic)
		return fault_set(f, FAULT_DAMAGED, "not a database: the "
				 "header's page size is none of 512 to 65536");
	return fault_set(f, FAULT_DAMAGED, "not a database or encrypted: "
			 "the first 16 bytes are not SQLite's");
}

static int
S_judge_journal(const struct account *a, struct fault *f)
{
	const struct journal_account *j = journal_account(a->journal);

	if (!journal_hot(a->journal))
		return 0;
	if (j->super)
		return fault_set(f, FAULT_REFUSED,
				 "the hot journal names the super-journal "
				 "\"%s\": whether its transaction is committed "
				 "can't be told from this database alone",
				 j->super_name);
	/* SQLite would delete the journal of an empty main. */
	if (images_size(a->images, ROLE_MAIN) == 0 && j->pages > 0)
		return fault_set(f, FAULT_DAMAGED, "truncated: main is empty, "
				 "and had %u page%s when the hot journal was "
				 "begun", j->pages, plural_s(j->pages));
	return 0;
}

/*
 * A rollback makes main as large as it was. A page that it no longer has
 * and that no record restores would come up as zeros.
 */
static int
S_judge_rollback(const struct account *a, struct fault *f)
{
	const struct journal_account *j = journal_account(a->journal);
	OWN_MEM(unsigned char, have);
	uint64_t whole, missing;

	if (!journal_hot(a->journal))
		return 0;
	whole = images_size(a->images, ROLE_MAIN) / j->page_size;
	if (whole >= j->pages)
		return 0;
	missing = j->pages - whole;
	if (missing <= j->records + 1) {
		have = calloc((size_t)missing, 1);
		if (!have)
			return fault_set(f, FAULT_TROUBLE,
					 "out of memory: journal");
	}
	for (uint64_t i = 0; have && i < j->records; i++) {
		uint32_t pgno = journal_record(a->journal, i).pgno;

		if (pgno > whole)
			have[pgno - whole - 1] = 1;
	}
	for (uint64_t i = 0; i < missing; i++)
		if ((!have || !have[i]) &&
		    whole + i + 1 != header_lock_page(j->page_size))
			return fault_set(f, FAULT_DAMAGED,
					 "truncated: page %llu is neither in "
					 "main nor in the hot journal, which "
					 "was begun with %u page%s",
					 (unsigned long long)(whole + i + 1),
					 j->pages, plural_s(j->pages));
	return 0;
}

static int
S_judge_wal(const struct account *a, struct fault *f)
{
	const struct wal_account *w = wal_account(a->wal);
	int rc = wal_loss(a->wal, f);

	if (rc || w->committed == 0)
		return rc;
	/*
	 * Main asks for a WAL before the first frame is written, and until
	 * the last one is copied back. SQLite itself would replay this one.
	 */
	if (a->header.state == HEADER_OK && !a->header.wal &&
	    !journal_hot(a->journal))
		return fault_set(f, FAULT_REFUSED, "main is in rollback mode, "
				 "yet a WAL with %llu commit%s lies beside it:"
				 " it is the WAL of another file or time",
				 (unsigned long long)w->commits,
				 plural_s(w->commits));
	if (a->header.state == HEADER_EMPTY)
		return fault_set(f, FAULT_DAMAGED, "truncated: main is empty, "
				 "and the WAL holds %llu commit%s",
				 (unsigned long long)w->commits,
				 plural_s(w->commits));
	if (a->header.page_size && a->header.page_size != w->page_size &&
	    !journal_hot(a->journal))
		return fault_set(f, FAULT_DAMAGED, "the WAL is of another "
				 "database: its pages have %u bytes, main's "
				 "have %u", w->page_size,
				 a->header.page_size);
	return 0;
}

/* *same: every page that the WAL committed is in main already. */
static int
S_backfilled(struct account *a, bool *same, struct fault *f)
{
	const struct wal_account *w = wal_account(a->wal);
	uint64_t size = images_size(a->images, ROLE_MAIN);
	OWN_MEM(unsigned char, pages);
	int rc = wal_view(a->wal, w->committed, f);

	*same = false;
	if (rc)
		return rc;
	pages = malloc(2 * (size_t)w->page_size);
	if (!pages)
		return fault_set(f, FAULT_TROUBLE, "out of memory: pages");
	for (uint64_t i = 1; i <= w->committed; i++) {
		uint32_t pgno = wal_pgno(a->wal, i);
		uint64_t at = (uint64_t)(pgno - 1) * w->page_size;

		if (wal_find(a->wal, pgno) != i || pgno > w->pages)
			continue;
		if (at >= size || size - at < w->page_size)
			return 0;
		rc = wal_page(a->wal, a->reader, i, pages, f);
		if (!rc)
			rc = images_read(a->reader, ROLE_MAIN, at,
					 pages + w->page_size, w->page_size,
					 f);
		if (rc)
			return rc;
		if (memcmp(pages, pages + w->page_size, w->page_size) != 0)
			return 0;
	}
	*same = true;
	return 0;
}

static int
S_live_of_this_wal(struct account *a, struct fault *f)
{
	const struct wal_account *w = wal_account(a->wal);
	struct wal_commit c;

	if (a->shm.frames > w->committed)
		return fault_set(f, FAULT_DAMAGED,
				 "recovery loses live commits: the SHM says "
				 "%u frame%s committed, the WAL's checksums "
				 "give %llu", a->shm.frames,
				 a->shm.frames == 1 ? " is" : "s are",
				 (unsigned long long)w->committed);
	if (a->shm.frames > 0 &&
	    (wal_commit_at(a->wal, a->shm.frames, &c) ||
	     c.pages != a->shm.pages ||
	     memcmp(c.checksum, a->shm.checksum, sizeof(c.checksum)) != 0))
		return fault_set(f, FAULT_DAMAGED,
				 "the SHM says that frame %u is the last "
				 "commit, which is not so in the WAL",
				 a->shm.frames);
	a->live_known = true;
	a->live_frames = a->shm.frames;
	a->views_agree = a->live_frames == w->committed;
	return 0;
}

/*
 * A SHM with other salts tells nothing of this WAL, with one exception: a
 * checkpoint that restarted the WAL puts new salts into the SHM, and the
 * next commit writes them to the WAL. Until then all of the WAL is in main.
 * Without a WAL the SHM tells nothing either: it may be left from before an
 * EXCLUSIVE connection, which never touches it.
 */
static int
S_live(struct account *a, struct fault *f)
{
	const struct wal_account *w = wal_account(a->wal);
	bool wal = w->header_valid && w->frames > 0, same;
	int rc;

	a->views_agree = true;
	if (a->shm.state != SHM_VALID)
		return 0;
	/* A header alone is enough to know them by: a WAL cut off behind it
	   had the SHM's frames. */
	if (w->header_valid &&
	    memcmp(a->shm.salt, w->salt, sizeof(w->salt)) == 0)
		return S_live_of_this_wal(a, f);
	if (a->shm.frames > 0)
		return 0;
	if (!wal) {
		a->live_known = true;
		return 0;
	}
	if (a->shm.salt[0] != w->salt[0] + 1)
		return 0;
	rc = S_backfilled(a, &same, f);
	a->live_known = !rc && same;
	return rc;
}

static int
S_choose(struct account *a, enum state_view view, struct fault *f)
{
	const struct wal_account *w = wal_account(a->wal);

	a->frames = w->committed;
	if (view == STATE_VIEW_LIVE && a->live_known) {
		a->frames = a->live_frames;
	} else if (view == STATE_VIEW_LIVE && w->committed > 0) {
		(void)fault_set(f, FAULT_REFUSED, "the live view is unknown: "
				"no SHM belongs to this WAL");
		return fault_hint(f, "--view recovery shows what a fresh "
				  "open would see");
	}
	return wal_view(a->wal, a->frames, f);
}

/* The header that the view has: that of the WAL's page 1, if it has one. */
static int
S_judge_wal_header(const struct account *a, struct fault *f)
{
	uint64_t frame = wal_find(a->wal, 1);
	OWN_MEM(unsigned char, page);
	struct header h = a->header;
	int rc;

	if (frame) {
		page = malloc(wal_account(a->wal)->page_size);
		if (!page)
			return fault_set(f, FAULT_TROUBLE,
					 "out of memory: pages");
		rc = wal_page(a->wal, a->reader, frame, page, f);
		if (rc)
			return rc;
		header_decode(page, HEADER_BYTES, &h);
	}
	return account_header(&h, images_size(a->images, ROLE_MAIN), f);
}

/* Every page of the view must be in the WAL or in main. */
static int
S_judge_wal_pages(const struct account *a, struct fault *f)
{
	uint32_t size = wal_account(a->wal)->page_size;
	uint64_t whole = images_size(a->images, ROLE_MAIN) / size;
	struct wal_commit c = { .frame = 0 };
	int rc = S_judge_wal_header(a, f);

	if (rc)
		return rc;
	MUST(wal_commit_at(a->wal, a->frames, &c) == 0);
	for (uint64_t p = whole + 1; p <= c.pages; p++)
		if (!wal_find(a->wal, (uint32_t)p) &&
		    p != header_lock_page(size))
			return fault_set(f, FAULT_DAMAGED, "truncated: page "
					 "%llu of %u is neither in main nor in "
					 "the WAL", (unsigned long long)p,
					 c.pages);
	return 0;
}

static int
S_judge_main(const struct account *a, struct fault *f)
{
	const struct header *h = &a->header;
	uint64_t size = images_size(a->images, ROLE_MAIN), pages = h->pages;
	int rc = account_header(h, size, f);

	if (rc || h->state == HEADER_EMPTY)
		return rc;
	if (h->trusted && pages == header_lock_page(h->page_size))
		pages--;
	if (h->trusted && size / h->page_size < pages)
		return fault_set(f, FAULT_DAMAGED, "truncated: main has %llu "
				 "byte%s, and its header says %u page%s of %u "
				 "bytes", (unsigned long long)size,
				 plural_s(size), h->pages, plural_s(h->pages),
				 h->page_size);
	if (!h->trusted && size % h->page_size != 0)
		return fault_set(f, FAULT_DAMAGED, "truncated: main ends "
				 "inside of page %llu",
				 (unsigned long long)(size / h->page_size + 1));
	return 0;
}

int
account_judge(struct account *a, enum state_view view, struct fault *f)
{
	int rc = S_judge_journal(a, f);

	if (!rc)
		rc = S_judge_rollback(a, f);
	if (!rc)
		rc = S_judge_wal(a, f);
	if (!rc)
		rc = S_live(a, f);
	if (!rc)
		rc = S_choose(a, view, f);
	if (rc || journal_hot(a->journal))
		return rc;
	return a->frames > 0 ? S_judge_wal_pages(a, f) : S_judge_main(a, f);
}
