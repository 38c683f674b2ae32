/*
 * facts.c - what the helper states about a side, by key and of the right kind
 */
#include "cli/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"

/* integrity's messages are the longest. */
#define FACT_TEXT_MAX (1u << 20)

enum {
	IN_RECOVER = 1,
	IN_DIFF = 2,
	IN_EXPORT = 4,
	IN_BOTH = IN_RECOVER | IN_DIFF,
	NULLABLE = 8,
	SIGNED = 16,
};

struct shape {
	const char *key;
	enum cell_tag tag;
	int flags;
};

static const struct shape S_shape[FACT_COUNT] = {
[FACT_PAGE_SIZE] = { "page_size", CELL_INT, IN_BOTH | IN_EXPORT },
[FACT_PAGE_COUNT] = { "page_count", CELL_INT, IN_BOTH | IN_EXPORT },
[FACT_ENCODING] = { "encoding", CELL_TEXT, IN_BOTH },
[FACT_IN_MEMORY] = { "in_memory", CELL_INT, IN_BOTH },
[FACT_VIEW] = { "view", CELL_TEXT, IN_BOTH },
[FACT_WAL_MODE] = { "wal_mode", CELL_INT, IN_RECOVER },
[FACT_USER_VERSION] = { "user_version", CELL_INT, IN_RECOVER | SIGNED },
[FACT_APPLICATION_ID] = { "application_id", CELL_INT, IN_RECOVER | SIGNED },
[FACT_WAL_PRESENT] = { "wal.present", CELL_INT, IN_BOTH },
[FACT_WAL_FRAMES] = { "wal.frames", CELL_INT, IN_BOTH },
[FACT_WAL_COMMITTED] = { "wal.committed_frames", CELL_INT, IN_BOTH },
[FACT_WAL_COMMITS] = { "wal.commits", CELL_INT, IN_BOTH },
[FACT_WAL_UNCOMMITTED] = { "wal.uncommitted_frames", CELL_INT, IN_BOTH },
[FACT_WAL_STALE] = { "wal.stale_frames", CELL_INT, IN_BOTH },
[FACT_WAL_DAMAGED] = { "wal.damaged", CELL_INT, IN_BOTH },
[FACT_WAL_FIRST_DAMAGED] = { "wal.first_damaged", CELL_INT, 0 },
[FACT_WAL_TORN_BYTES] = { "wal.torn_bytes", CELL_INT, 0 },
[FACT_JOURNAL_STATE] = { "journal.state", CELL_TEXT, IN_BOTH },
[FACT_JOURNAL_RECORDS] = { "journal.records", CELL_INT, 0 },
[FACT_JOURNAL_PAGES] = { "journal.pages", CELL_INT, 0 },
[FACT_VIEWS_RECOVERY] = { "views.recovery", CELL_INT, IN_BOTH },
[FACT_VIEWS_LIVE] = { "views.live", CELL_INT, IN_BOTH | NULLABLE },
[FACT_VIEWS_AGREE] = { "views.agree", CELL_INT, IN_BOTH },
[FACT_INTEGRITY] = { "integrity", CELL_TEXT, IN_RECOVER },
[FACT_FOREIGN_KEYS] = { "foreign_keys", CELL_INT, IN_RECOVER },
[FACT_FINGERPRINT] = { "fingerprint", CELL_BLOB, IN_RECOVER },
[FACT_FINGERPRINT_STAT] = { "fingerprint.stat", CELL_BLOB, IN_RECOVER },
};

void
facts_free(struct facts *t)
{
	for (int i = 0; i < FACT_COUNT; i++)
		free(t->fact[i].text);
	*t = (struct facts){ .fact = { { .known = false } } };
}

static int
S_malformed(struct fault *f, const char *key, const char *what)
{
	return fault_set(f, FAULT_SANDBOX,
			 "the helper's answer is malformed: %s %s", key, what);
}

static int
S_take_text(struct fact *to, const char *key, const struct cell *c,
	    struct fault *f)
{
	if (c->len > FACT_TEXT_MAX || memchr(c->bytes, '\0', c->len))
		return S_malformed(f, key, "is no such text");
	to->text = strndup((const char *)c->bytes, c->len);
	return to->text ? 0 : fault_set(f, FAULT_TROUBLE, "out of memory");
}

static int
S_take_value(struct fact *to, const struct shape *s, const struct cell *c,
	     struct fault *f)
{
	if (c->tag == CELL_NULL && (s->flags & NULLABLE)) {
		to->null = true;
		return 0;
	}
	if (s->tag == CELL_TEXT &&
	    (c->tag == CELL_TEXT || c->tag == CELL_TEXT8))
		return S_take_text(to, s->key, c, f);
	if (c->tag != s->tag)
		return S_malformed(f, s->key, "is of another kind");
	if (s->tag == CELL_INT) {
		if (c->integer < 0 && !(s->flags & SIGNED))
			return S_malformed(f, s->key, "is negative");
		to->integer = c->integer;
		return 0;
	}
	if (c->len != DIGEST_BYTES)
		return S_malformed(f, s->key, "is no digest");
	memcpy(to->digest, c->bytes, DIGEST_BYTES);
	return 0;
}

int
facts_take(struct facts *t, const char *key, const struct cell *c,
	   struct fault *f)
{
	for (int i = 0; i < FACT_COUNT; i++) {
		struct fact *to = &t->fact[i];

		if (strcmp(S_shape[i].key, key))
			continue;
		if (to->known)
			return S_malformed(f, S_shape[i].key, "came twice");
		to->known = true;
		return S_take_value(to, &S_shape[i], c, f);
	}
	return 0;
}

int
facts_complete(const struct facts *t, enum ask_op op, struct fault *f)
{
	int need = op == ASK_RECOVER ? IN_RECOVER : op == ASK_DIFF ? IN_DIFF :
		   op == ASK_EXPORT ? IN_EXPORT : 0;

	for (int i = 0; i < FACT_COUNT; i++)
		if ((S_shape[i].flags & need) && !t->fact[i].known)
			return S_malformed(f, S_shape[i].key, "did not come");
	return 0;
}
