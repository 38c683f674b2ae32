/*
 * cmd_recover.c - account, checks and fingerprint of one database
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/plural.h"
#include "cli/ask_run.h"
#include "cli/cli.h"
#include "cli/escape.h"
#include "cli/ndjson.h"
#include "cli/report.h"
#include "cli/summary.h"

static const enum args_id S_takes[] = {
	ARGS_VIEW, ARGS_EXPECT_ID, ARGS_ACCEPT_NAMES, ARGS_MEMORY_LIMIT,
	ARGS_TIME_LIMIT, ARGS_OUTPUT_LIMIT, ARGS_JSON, ARGS_HELP, ARGS_END,
};

const struct args_usage recover_usage = {
	.name = "recover",
	.summary = "Recover a packet in the sandbox; account, integrity,"
		   " fingerprint",
	.takes = S_takes,
	.operands = "PACKET",
	.min_operands = 1,
	.max_operands = 1,
	.statuses = "  0  recovered, all checks passed\n"
		    "  1  the integrity or a foreign key check failed\n"
		    "  2  the command line is wrong\n"
		    "  3  refused: the evidence can't be established\n"
		    "  4  the evidence is damaged or not supported\n"
		    "  5  trouble: rights, I/O, a limit, the sandbox\n"
		    "  6  checks passed, but something was not examined\n",
	.example = "holdfast recover app.holdfast",
};

struct table_sum {
	char *name;			/* owned */
	uint64_t rows;
	unsigned char fingerprint[DIGEST_BYTES];
};

struct sums {
	struct table_sum *table;
	size_t count, room;
};

static void
S_sums_free(struct sums *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->table[i].name);
	free(s->table);
}

static int
S_grow(struct sums *s, struct fault *f)
{
	size_t room = s->room ? 2 * s->room : 16;
	struct table_sum *grown;

	if (s->count < s->room)
		return 0;
	grown = reallocarray(s->table, room, sizeof(*grown));
	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	s->table = grown;
	s->room = room;
	return 0;
}

static int
S_take_sum(struct ask_run *r, struct wire_frame *fr, struct sums *s,
	   struct fault *f)
{
	struct table_sum got = { .rows = 0 };
	OWN_MEM(char, name);
	struct cell digest;
	int64_t side, rows;
	int rc;

	if (fr->type != WIRE_TABLE_SUM)
		return ask_malformed(f, "a frame that recover does not know");
	rc = wire_get_int(fr, &side, f);
	if (!rc)
		rc = ask_keep_text(r, fr, &name, f);
	if (!rc)
		rc = wire_get_int(fr, &rows, f);
	if (!rc)
		rc = wire_get(fr, &digest, f);
	if (!rc)
		rc = wire_get_done(fr, f);
	if (!rc)
		rc = S_grow(s, f);
	if (rc)
		return rc;
	if (side != 0 || rows < 0 || digest.tag != CELL_BLOB ||
	    digest.len != DIGEST_BYTES)
		return ask_malformed(f, "a table's sum");
	got.rows = (uint64_t)rows;
	memcpy(got.fingerprint, digest.bytes, DIGEST_BYTES);
	got.name = TAKE_MEM(name);
	s->table[s->count++] = got;
	return 0;
}

static void
S_json_sandbox(struct ndjson *j, const struct warden_seen *w)
{
	ndjson_open(j, "sandbox", '{');
	ndjson_text(j, "seen_by", "parent");
	ndjson_int(j, "uid", w->uid);
	ndjson_int(j, "gid", w->gid);
	ndjson_int(j, "groups", w->groups);
	ndjson_bool(j, "no_new_privs", w->no_new_privs);
	ndjson_int(j, "seccomp", w->seccomp);
	ndjson_int(j, "filters", w->filters);
	ndjson_u64(j, "capabilities", w->held);
	ndjson_int(j, "descriptors", w->descriptors);
	ndjson_int(j, "threads", w->threads);
	ndjson_int(j, "landlock", w->landlock);
	ndjson_u64(j, "ready_ns", w->ready_ns);
	ndjson_close(j, '}');
}

static void
S_json_tables(struct ndjson *j, const struct sums *s)
{
	ndjson_open(j, "tables", '[');
	for (size_t i = 0; i < s->count; i++) {
		ndjson_open(j, NULL, '{');
		ndjson_shown(j, "name", s->table[i].name);
		ndjson_u64(j, "rows", s->table[i].rows);
		ndjson_hex(j, "fingerprint", s->table[i].fingerprint,
			   DIGEST_BYTES);
		ndjson_close(j, '}');
	}
	ndjson_close(j, ']');
}

static void
S_print_json(FILE *out, const struct ask_run *r, const struct sums *s)
{
	const struct facts *t = &r->facts[0];
	struct ndjson j = NDJSON_INIT(out);

	ndjson_open(&j, NULL, '{');
	ndjson_text(&j, "id", evidence_id(r->evidence[0]));
	ndjson_int(&j, "page_size", facts_int(t, FACT_PAGE_SIZE));
	ndjson_int(&j, "page_count", facts_int(t, FACT_PAGE_COUNT));
	ndjson_text(&j, "encoding", facts_text(t, FACT_ENCODING));
	ndjson_bool(&j, "wal_mode", facts_int(t, FACT_WAL_MODE) != 0);
	ndjson_bool(&j, "in_memory", facts_int(t, FACT_IN_MEMORY) != 0);
	ndjson_int(&j, "user_version", facts_int(t, FACT_USER_VERSION));
	ndjson_int(&j, "application_id", facts_int(t, FACT_APPLICATION_ID));
	ndjson_text(&j, "view", facts_text(t, FACT_VIEW));
	summary_json_account(&j, t);
	ndjson_text(&j, "integrity", facts_text(t, FACT_INTEGRITY));
	ndjson_int(&j, "foreign_keys", facts_int(t, FACT_FOREIGN_KEYS));
	ndjson_hex(&j, "fingerprint", t->fact[FACT_FINGERPRINT].digest,
		   DIGEST_BYTES);
	ndjson_hex(&j, "fingerprint_stat",
		   t->fact[FACT_FINGERPRINT_STAT].digest, DIGEST_BYTES);
	S_json_tables(&j, s);
	S_json_sandbox(&j, warden_seen(r->warden));
	ndjson_notes(&j, &r->not_checked);
	ndjson_close(&j, '}');
	ndjson_line(&j);
}

static void
S_print_sandbox(FILE *out, const struct warden_seen *w)
{
	(void)fprintf(out,
		      "sandbox       uid %ld, capabilities %" PRIx64
		      ", seccomp mode %d, Landlock ABI %d, ready in %.1f ms"
		      " (as seen by the parent)\n",
		      w->uid, w->held, w->seccomp, w->landlock,
		      (double)w->ready_ns / 1e6);
}

static void
S_print_integrity(FILE *out, const struct facts *t)
{
	const char *text = facts_text(t, FACT_INTEGRITY);

	while (*text) {
		size_t n = strcspn(text, "\n");

		(void)fputs("integrity     ", out);
		escape_put(out, text, n);
		(void)fputc('\n', out);
		text += n + (text[n] == '\n');
	}
	(void)fprintf(out, "foreign keys  %" PRId64 " violation%s\n",
		      facts_int(t, FACT_FOREIGN_KEYS),
		      plural_s((uint64_t)facts_int(t, FACT_FOREIGN_KEYS)));
}

static void
S_print_text(FILE *out, const struct ask_run *r, const char *path,
	     const struct sums *s)
{
	const char *id = evidence_id(r->evidence[0]);
	const struct facts *t = &r->facts[0];
	char hex[DIGEST_HEX_BYTES];

	escape_puts(out, path);
	(void)fprintf(out, ": %" PRId64 " page%s of %" PRId64 " bytes, ",
		      facts_int(t, FACT_PAGE_COUNT),
		      plural_s((uint64_t)facts_int(t, FACT_PAGE_COUNT)),
		      facts_int(t, FACT_PAGE_SIZE));
	escape_puts(out, facts_text(t, FACT_ENCODING));
	(void)fprintf(out, "%s\n", facts_int(t, FACT_IN_MEMORY) ? "" :
		      ", read in place: larger than the memory limit");
	(void)fprintf(out, "packet        %s\n",
		      id ? id : "none: a plain file");
	summary_account(out, t);
	S_print_integrity(out, t);
	for (size_t i = 0; i < s->count; i++) {
		digest_hex(s->table[i].fingerprint, hex);
		(void)fprintf(out, "table         %.16s  %" PRIu64 " row%s  ",
			      hex, s->table[i].rows,
			      plural_s(s->table[i].rows));
		escape_puts(out, s->table[i].name);
		(void)fputc('\n', out);
	}
	digest_hex(t->fact[FACT_FINGERPRINT].digest, hex);
	(void)fprintf(out, "fingerprint   %s\n", hex);
	S_print_sandbox(out, warden_seen(r->warden));
	summary_notes(out, &r->not_checked);
}

static bool
S_sound(const struct facts *t)
{
	const char *integrity = facts_text(t, FACT_INTEGRITY);

	/* What was not checked has a SKIP frame, and so a status of its own. */
	return (strcmp(integrity, "ok") == 0 ||
		strcmp(integrity, WIRE_OK_PARTLY) == 0) &&
	       facts_int(t, FACT_FOREIGN_KEYS) == 0;
}

static int
S_collect(struct ask_run *r, struct sums *s, struct fault *f)
{
	struct wire_frame fr;
	int rc;

	while ((rc = ask_next(r, &fr, f)) == 0) {
		rc = S_take_sum(r, &fr, s, f);
		if (rc)
			return rc;
	}
	if (rc == 1)
		rc = ask_finish(r, f);
	if (rc)
		return rc;
	if (S_sound(&r->facts[0]) != (r->verdict == WIRE_YES))
		return ask_malformed(f, "its verdict contradicts its facts");
	return 0;
}

int
cmd_recover(const struct args *a, FILE *out, enum cli_status *status,
	    struct fault *f)
{
	struct sums s __attribute__((cleanup(S_sums_free))) = { .count = 0 };
	OWN_ASK(r);
	int rc = ask_open(&r, a, 1, f);

	if (!rc)
		rc = ask_start(&r, ASK_RECOVER, NULL, f);
	if (!rc)
		rc = S_collect(&r, &s, f);
	if (rc)
		return rc;
	if (a->json)
		S_print_json(out, &r, &s);
	else
		S_print_text(out, &r, a->operand[0], &s);
	*status = report_worst(S_sound(&r.facts[0]) ? CLI_YES : CLI_NO,
			       summary_status(&r.not_checked));
	return 0;
}
