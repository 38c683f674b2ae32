/*
 * facts.h - what the helper states about a side, by key and of the right kind
 *
 * Trust: the helper may have been taken over. A known key with a value of
 * another kind or range, or given twice, is FAULT_SANDBOX; unknown keys are
 * passed over; a key that the answer needs must have come.
 */
#ifndef CLI_FACTS_H
#define CLI_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cell.h"
#include "base/digest.h"
#include "base/fault.h"
#include "reply/ask.h"

enum fact_id {
	FACT_PAGE_SIZE,
	FACT_PAGE_COUNT,
	FACT_ENCODING,
	FACT_IN_MEMORY,
	FACT_VIEW,
	FACT_WAL_MODE,
	FACT_USER_VERSION,
	FACT_APPLICATION_ID,
	FACT_WAL_PRESENT,
	FACT_WAL_FRAMES,
	FACT_WAL_COMMITTED,
	FACT_WAL_COMMITS,
	FACT_WAL_UNCOMMITTED,
	FACT_WAL_STALE,
	FACT_WAL_DAMAGED,
	FACT_WAL_FIRST_DAMAGED,
	FACT_WAL_TORN_BYTES,
	FACT_JOURNAL_STATE,
	FACT_JOURNAL_RECORDS,
	FACT_JOURNAL_PAGES,
	FACT_VIEWS_RECOVERY,
	FACT_VIEWS_LIVE,
	FACT_VIEWS_AGREE,
	FACT_INTEGRITY,
	FACT_FOREIGN_KEYS,
	FACT_FINGERPRINT,
	FACT_FINGERPRINT_STAT,
	FACT_COUNT
};

struct fact {
	bool known;		/* it came */
	bool null;
	int64_t integer;
	char *text;		/* owned */
	unsigned char digest[DIGEST_BYTES];
};

struct facts {
	struct fact fact[FACT_COUNT];
};

void
facts_free(struct facts *t);

/* c is borrowed; text is copied. */
int
facts_take(struct facts *t, const char *key, const struct cell *c,
	   struct fault *f);

/* FAULT_SANDBOX where one is missing that op's answer must have. */
int
facts_complete(const struct facts *t, enum ask_op op, struct fault *f);

static inline int64_t
facts_int(const struct facts *t, enum fact_id id)
{
	return t->fact[id].integer;
}

static inline const char *
facts_text(const struct facts *t, enum fact_id id)
{
	return t->fact[id].text ? t->fact[id].text : "";
}

#endif
