/*
 * summary.c - what all readers say the same way
 */
#include "cli/summary.h"

#include <inttypes.h>

#include "base/plural.h"
#include "cli/escape.h"

void
summary_notes(FILE *to, const struct notes *n)
{
	for (size_t i = 0; i < n->count; i++) {
		(void)fputs("not checked: ", to);
		escape_puts(to, n->note[i].what);
		(void)fputs(": ", to);
		escape_puts(to, n->note[i].why);
		(void)fputc('\n', to);
	}
}

enum cli_status
summary_status(const struct notes *n)
{
	return n->count > 0 ? CLI_UNCHECKED : CLI_YES;
}

static void
S_json_fact(struct ndjson *j, const char *key, const struct facts *t,
	    enum fact_id id)
{
	const struct fact *fact = &t->fact[id];

	if (fact->known && !fact->null)
		ndjson_int(j, key, fact->integer);
	else
		ndjson_null(j, key);
}

void
summary_json_account(struct ndjson *j, const struct facts *t)
{
	ndjson_open(j, "wal", '{');
	ndjson_bool(j, "present", facts_int(t, FACT_WAL_PRESENT) != 0);
	S_json_fact(j, "frames", t, FACT_WAL_FRAMES);
	S_json_fact(j, "committed_frames", t, FACT_WAL_COMMITTED);
	S_json_fact(j, "commits", t, FACT_WAL_COMMITS);
	S_json_fact(j, "uncommitted_frames", t, FACT_WAL_UNCOMMITTED);
	S_json_fact(j, "stale_frames", t, FACT_WAL_STALE);
	S_json_fact(j, "damaged", t, FACT_WAL_DAMAGED);
	S_json_fact(j, "first_damaged", t, FACT_WAL_FIRST_DAMAGED);
	S_json_fact(j, "torn_bytes", t, FACT_WAL_TORN_BYTES);
	ndjson_close(j, '}');
	ndjson_open(j, "journal", '{');
	ndjson_text(j, "state", facts_text(t, FACT_JOURNAL_STATE));
	S_json_fact(j, "records", t, FACT_JOURNAL_RECORDS);
	S_json_fact(j, "pages", t, FACT_JOURNAL_PAGES);
	ndjson_close(j, '}');
	ndjson_open(j, "views", '{');
	S_json_fact(j, "recovery", t, FACT_VIEWS_RECOVERY);
	S_json_fact(j, "live", t, FACT_VIEWS_LIVE);
	ndjson_bool(j, "agree", facts_int(t, FACT_VIEWS_AGREE) != 0);
	ndjson_close(j, '}');
}

static void
S_wal(FILE *to, const struct facts *t)
{
	if (!facts_int(t, FACT_WAL_PRESENT)) {
		(void)fputs("WAL           none\n", to);
		return;
	}
	(void)fprintf(to,
		      "WAL           %" PRId64 " frame%s: %" PRId64
		      " committed in %" PRId64 " commit%s, %" PRId64
		      " uncommitted, %" PRId64 " stale, %" PRId64
		      " damaged\n",
		      facts_int(t, FACT_WAL_FRAMES),
		      plural_s((uint64_t)facts_int(t, FACT_WAL_FRAMES)),
		      facts_int(t, FACT_WAL_COMMITTED),
		      facts_int(t, FACT_WAL_COMMITS),
		      plural_s((uint64_t)facts_int(t, FACT_WAL_COMMITS)),
		      facts_int(t, FACT_WAL_UNCOMMITTED),
		      facts_int(t, FACT_WAL_STALE),
		      facts_int(t, FACT_WAL_DAMAGED));
}

static void
S_views(FILE *to, const struct facts *t)
{
	(void)fputs("view          ", to);
	escape_puts(to, facts_text(t, FACT_VIEW));
	if (!facts_int(t, FACT_WAL_PRESENT))
		(void)fputc('\n', to);
	else if (t->fact[FACT_VIEWS_LIVE].null)
		(void)fputs("; no live view is known\n", to);
	else if (facts_int(t, FACT_VIEWS_AGREE))
		(void)fputs("; recovery and live agree\n", to);
	else
		(void)fprintf(to,
			      "; they differ: recovery has %" PRId64
			      " frames, live %" PRId64 "\n",
			      facts_int(t, FACT_VIEWS_RECOVERY),
			      facts_int(t, FACT_VIEWS_LIVE));
}

void
summary_account(FILE *to, const struct facts *t)
{
	S_wal(to, t);
	(void)fputs("journal       ", to);
	escape_puts(to, facts_text(t, FACT_JOURNAL_STATE));
	(void)fputc('\n', to);
	S_views(to, t);
}
