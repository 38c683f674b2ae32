/*
 * facts.c - what was found out about one side, as FACT frames
 */
#include "helper/facts.h"

#include <stddef.h>

#include "base/cell.h"

struct fact {
	const char *key;
	int64_t value;
};

static int
S_send(struct wire *w, int side, const struct fact *facts, size_t n,
       struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++)
		rc = wire_fact_int(w, side, facts[i].key, facts[i].value, f);
	return rc;
}

#define SEND(w, side, facts, f) \
	S_send(w, side, facts, sizeof(facts) / sizeof((facts)[0]), f)

static int
S_head(struct wire *w, int side, const char *key, struct fault *f)
{
	int rc = wire_begin(w, WIRE_FACT, f);

	if (!rc)
		rc = cell_put_int(&w->buf, side, f);
	if (!rc)
		rc = cell_put_text(&w->buf, key, f);
	return rc;
}

int
facts_blob(struct wire *w, int side, const char *key,
	   const unsigned char raw[DIGEST_BYTES], struct fault *f)
{
	int rc = S_head(w, side, key, f);

	if (!rc)
		rc = cell_put_blob(&w->buf, raw, DIGEST_BYTES, f);
	if (!rc)
		rc = wire_end(w, f);
	return rc;
}

int
facts_null(struct wire *w, int side, const char *key, struct fault *f)
{
	int rc = S_head(w, side, key, f);

	if (!rc)
		rc = cell_put_null(&w->buf, f);
	if (!rc)
		rc = wire_end(w, f);
	return rc;
}

int
facts_wal(struct wire *w, int side, const struct wal_account *a,
	  struct fault *f)
{
	const struct fact facts[] = {
		{ "wal.present", a->present },
		{ "wal.frames", (int64_t)a->frames },
		{ "wal.committed_frames", (int64_t)a->committed },
		{ "wal.commits", (int64_t)a->commits },
		{ "wal.uncommitted_frames", (int64_t)a->uncommitted },
		{ "wal.stale_frames", (int64_t)a->stale },
		{ "wal.damaged", (int64_t)a->damaged },
		{ "wal.first_damaged", (int64_t)a->first_damaged },
		{ "wal.torn_bytes", (int64_t)a->torn_bytes },
		{ "wal.checkpoint_seq", a->checkpoint_seq },
	};

	return SEND(w, side, facts, f);
}

int
facts_journal(struct wire *w, int side, const struct journal_account *a,
	      struct fault *f)
{
	const struct fact facts[] = {
		{ "journal.records", (int64_t)a->records },
		{ "journal.pages", a->pages },
	};
	int rc = wire_fact_text(w, side, "journal.state", a->state, f);

	return rc ? rc : SEND(w, side, facts, f);
}

static const char *
S_encoding(int encoding)
{
	switch (encoding) {
	case SQLITE_UTF8:
		return "UTF-8";
	case SQLITE_UTF16LE:
		return "UTF-16le";
	case SQLITE_UTF16BE:
		return "UTF-16be";
	default:
		return "none";
	}
}

static int
S_views(struct wire *w, int side, const struct state_facts *s,
	struct fault *f)
{
	int rc = wire_fact_int(w, side, "views.recovery",
			       (int64_t)s->wal.committed, f);

	if (!rc && s->live_known)
		rc = wire_fact_int(w, side, "views.live", s->live_frames, f);
	else if (!rc)
		rc = facts_null(w, side, "views.live", f);
	if (!rc)
		rc = wire_fact_int(w, side, "views.agree", s->views_agree, f);
	return rc;
}

int
facts_state(struct wire *w, int side, const struct state_facts *s,
	    struct fault *f)
{
	const struct fact facts[] = {
		{ "page_size", s->page_size },
		{ "page_count", s->page_count },
		{ "wal_mode", s->wal_mode },
		{ "in_memory", s->in_memory },
	};
	int rc = SEND(w, side, facts, f);

	if (!rc)
		rc = wire_fact_text(w, side, "encoding",
				    S_encoding(s->encoding), f);
	if (!rc)
		rc = wire_fact_text(w, side, "view", s->view, f);
	if (!rc)
		rc = facts_wal(w, side, &s->wal, f);
	if (!rc)
		rc = facts_journal(w, side, &s->journal, f);
	return rc ? rc : S_views(w, side, s, f);
}
