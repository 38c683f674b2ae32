/*
 * inspect.c - what capture must know of staged images: no SQL runs
 */
#include "recover/inspect.h"

#include <string.h>

#include "recover/account.h"

#define ACCOUNT_SHARE 8u

static bool
S_salts_agree(const struct wal_account *w, const struct shm_facts *s)
{
	return !w->header_valid || s->state != SHM_VALID || s->frames == 0 ||
		memcmp(w->salt, s->salt, sizeof(w->salt)) == 0;
}

static uint64_t
S_pages(const struct account *a)
{
	const struct header *h = &a->header;

	if (h->state != HEADER_OK)
		return 0;
	if (h->trusted)
		return h->pages;
	return (images_size(a->images, ROLE_MAIN) + h->page_size - 1) /
		h->page_size;
}

int
inspect_run(const struct ask_side *side, uint64_t memory,
	    struct inspect_facts *facts, struct fault *f)
{
	struct account a;
	int rc;

	if (memory == 0)
		memory = ASK_MEMORY_DEFAULT;
	rc = account_open(&a, side, memory / ACCOUNT_SHARE, f);
	if (!rc) {
		facts->header = a.header;
		facts->pages = S_pages(&a);
		facts->wal = *wal_account(a.wal);
		facts->shm = a.shm;
		facts->salts_agree = S_salts_agree(&facts->wal, &a.shm);
		facts->journal = *journal_account(a.journal);
	}
	account_free(&a);
	return rc;
}
