/*
 * journal.c - our own account of a rollback journal
 */
#include "recover/journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/own.h"
#include "recover/printable.h"

#define HEAD_BYTES 28u
#define TAIL_BYTES 16u
#define SECTOR_DEFAULT 512u	/* the pager's, until a header says else */
#define SECTOR_MAX 65536u
#define SUPER_MAX 65536u	/* SQLite builds stop at their longest path */
#define COUNT_TO_END 0xffffffffu
#define PENDING_BYTE 0x40000000u

static const unsigned char magic[8] = {
	0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7
};

struct journal {
	struct journal_account acct;
	struct journal_record *record;	/* owned */
	size_t room;
	uint64_t memory;
};

/* Where playback stands. */
struct journal_walk {
	struct journal *j;
	struct images_reader *r;
	uint64_t size, at;
	uint32_t count, nonce;
	bool unsynced;			/* take a segment without magic */
	unsigned char *bytes;		/* borrowed: one record */
};

static uint64_t
S_align(uint64_t at, uint32_t sector)
{
	return at == 0 ? 0 : ((at - 1) / sector + 1) * sector;
}

static bool
S_power(uint32_t n, uint32_t min)
{
	return n >= min && n <= 65536 && (n & (n - 1)) == 0;
}

/*
 * Rule 2, as readSuperJournal, but for its limit on the length: a build
 * with longer paths would follow a name that ours would not.
 */
static int
S_super(struct journal_walk *k, struct fault *f)
{
	unsigned char tail[TAIL_BYTES];
	OWN_MEM(unsigned char, name);
	uint32_t len, sum;
	int rc;

	if (k->size < TAIL_BYTES)
		return 0;
	rc = images_read(k->r, ROLE_JOURNAL, k->size - TAIL_BYTES, tail,
			 sizeof(tail), f);
	if (rc)
		return rc;
	len = bytes_be32(tail);
	if (memcmp(tail + 8, magic, sizeof(magic)) != 0 || len == 0 ||
	    len > SUPER_MAX || len > k->size - TAIL_BYTES)
		return 0;
	name = malloc(len);
	if (!name)
		return fault_set(f, FAULT_TROUBLE, "out of memory: journal");
	rc = images_read(k->r, ROLE_JOURNAL, k->size - TAIL_BYTES - len, name,
			 len, f);
	if (rc)
		return rc;
	sum = bytes_be32(tail + 4);
	/* SQLite takes them off as plain chars, mostly signed ones. */
	for (uint32_t i = 0; i < len; i++) {
		int c = (char)name[i];

		sum -= (uint32_t)c;
	}
	/* A name that starts with NUL is none. */
	if (sum != 0 || name[0] == '\0')
		return 0;
	k->j->acct.super = true;
	printable(name, strnlen((char *)name, len), k->j->acct.super_name,
		  sizeof(k->j->acct.super_name));
	return 0;
}

static bool
S_unsynced(const struct journal_walk *k, const unsigned char h[HEAD_BYTES])
{
	static const unsigned char zeros[12];

	return k->unsynced && memcmp(h, zeros, sizeof(zeros)) == 0 &&
		bytes_be32(h + 20) == k->j->acct.sector_size &&
		bytes_be32(h + 24) == k->j->acct.page_size;
}

/* 0 and k->count, or 1: there is no further header. */
static int
S_header(struct journal_walk *k, uint32_t main_page_size, struct fault *f)
{
	struct journal_account *a = &k->j->acct;
	unsigned char h[HEAD_BYTES];
	bool first = a->segments == 0;
	int rc;

	k->at = S_align(k->at, a->sector_size);
	if (k->at > k->size || k->size - k->at < a->sector_size ||
	    k->size - k->at < sizeof(h))
		return 1;
	rc = images_read(k->r, ROLE_JOURNAL, k->at, h, sizeof(h), f);
	if (rc)
		return rc;
	k->count = bytes_be32(h + 8);
	k->nonce = bytes_be32(h + 12);
	if (memcmp(h, magic, sizeof(magic)) != 0) {
		if (first || !S_unsynced(k, h))
			return 1;
		k->count = COUNT_TO_END;
	}
	if (first) {
		uint32_t sector = bytes_be32(h + 20), page = bytes_be32(h + 24);

		if (page == 0)
			page = main_page_size;
		if (!S_power(sector, 32) || !S_power(page, 512))
			return 1;
		a->sector_size = sector;
		a->page_size = page;
		a->pages = bytes_be32(h + 16);
	}
	k->at += a->sector_size;
	a->segments++;
	return 0;
}

static int
S_add(struct journal *j, uint32_t pgno, uint64_t offset, struct fault *f)
{
	size_t n = (size_t)j->acct.records;

	if (n == j->room) {
		size_t room = j->room ? 2 * j->room : 256;
		struct journal_record *grown;

		if (room * sizeof(*grown) > j->memory)
			return fault_set(f, FAULT_CAP, "the account of the "
					 "journal passes its memory: "
					 "see --memory-limit");
		grown = realloc(j->record, room * sizeof(*grown));
		if (!grown)
			return fault_set(f, FAULT_CAP, "out of memory for the "
					 "account of the journal: "
					 "see --memory-limit");
		j->record = grown;
		j->room = room;
	}
	j->record[n] = (struct journal_record) { pgno, offset };
	j->acct.records++;
	return 0;
}

static uint32_t
S_sum(uint32_t nonce, const unsigned char *page, uint32_t page_size)
{
	for (uint32_t i = page_size - 200; i > 0 && i < page_size; i -= 200)
		nonce += page[i];
	return nonce;
}

enum { RECORD_GOOD, RECORD_ENDS_SEGMENT, RECORD_ENDS_ALL };

/* Rules 5 and 6: the record at k->at, which moves on. */
static int
S_record(struct journal_walk *k, struct fault *f)
{
	struct journal_account *a = &k->j->acct;
	uint32_t each = a->page_size + 8, pgno;
	uint64_t at = k->at;
	int rc;

	if (at > k->size || k->size - at < each)
		return RECORD_ENDS_ALL;
	rc = images_read(k->r, ROLE_JOURNAL, at, k->bytes, each, f);
	if (rc)
		return rc;
	k->at += each;
	pgno = bytes_be32(k->bytes);
	if (pgno == 0 || pgno == PENDING_BYTE / a->page_size + 1)
		return RECORD_ENDS_SEGMENT;
	if (pgno > a->pages)
		return RECORD_GOOD;
	if (S_sum(k->nonce, k->bytes + 4, a->page_size) !=
	    bytes_be32(k->bytes + 4 + a->page_size)) {
		a->damaged++;
		return RECORD_ENDS_SEGMENT;
	}
	return S_add(k->j, pgno, at + 4, f);
}

static int
S_segment(struct journal_walk *k, struct fault *f)
{
	const struct journal_account *a = &k->j->acct;
	uint64_t count = k->count;
	int rc = RECORD_GOOD;

	if (k->count == COUNT_TO_END)
		count = (k->size - a->sector_size) / (a->page_size + 8);
	for (uint64_t i = 0; i < count && rc == RECORD_GOOD; i++)
		rc = S_record(k, f);
	if (rc == RECORD_ENDS_SEGMENT) {
		k->at = k->size;
		rc = 0;
	}
	return rc;
}

static int
S_walk(struct journal_walk *k, uint32_t main_page_size, struct fault *f)
{
	OWN_MEM(unsigned char, bytes);
	unsigned char first;
	int rc;

	rc = images_read(k->r, ROLE_JOURNAL, 0, &first, 1, f);
	if (rc || first == 0)
		return rc;
	bytes = malloc(SECTOR_MAX + 8);
	if (!bytes)
		return fault_set(f, FAULT_TROUBLE, "out of memory: journal");
	k->bytes = bytes;
	rc = S_header(k, main_page_size, f);
	if (rc)
		return rc < 0 ? rc : 0;
	k->j->acct.state = "hot";
	rc = S_super(k, f);
	while (!rc) {
		rc = S_segment(k, f);
		if (!rc)
			rc = S_header(k, main_page_size, f);
	}
	return rc < 0 ? rc : 0;
}

static int
S_read(struct images_reader *r, uint32_t main_page_size, uint64_t memory,
       bool unsynced, struct journal **j, struct fault *f)
{
	struct journal_walk k = { .r = r, .unsynced = unsynced };
	int rc = 0;

	k.j = calloc(1, sizeof(*k.j));
	if (!k.j)
		return fault_set(f, FAULT_TROUBLE, "out of memory: journal");
	k.j->memory = memory;
	k.j->acct.sector_size = SECTOR_DEFAULT;
	k.j->acct.state = "none";
	k.size = images_reader_size(r, ROLE_JOURNAL);
	if (k.size > 0) {
		k.j->acct.state = "cold";
		rc = S_walk(&k, main_page_size, f);
	} else if (images_reader_has(r, ROLE_JOURNAL)) {
		k.j->acct.state = "empty";
	}
	if (rc) {
		journal_free(k.j);
		return rc;
	}
	*j = k.j;
	return 0;
}

int
journal_read(struct images_reader *r, uint32_t main_page_size,
	     uint64_t memory, struct journal **j, struct fault *f)
{
	return S_read(r, main_page_size, memory, false, j, f);
}

int
journal_read_unsynced(struct images_reader *r, uint64_t memory,
		      struct journal **j, struct fault *f)
{
	return S_read(r, 0, memory, true, j, f);
}

void
journal_free(struct journal *j)
{
	if (!j)
		return;
	free(j->record);
	free(j);
}

const struct journal_account *
journal_account(const struct journal *j)
{
	return &j->acct;
}

bool
journal_hot(const struct journal *j)
{
	return strcmp(j->acct.state, "hot") == 0;
}

struct journal_record
journal_record(const struct journal *j, uint64_t i)
{
	MUST(i < j->acct.records);
	return j->record[i];
}
