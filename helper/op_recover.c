/*
 * op_recover.c - the account, the checks, and the fingerprint of one side
 *
 * The checks run on the second thread, with a connection of their own, while
 * the first computes the fingerprint.
 */
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/own.h"
#include "helper/facts.h"
#include "helper/ops.h"
#include "verify/fingerprint.h"
#include "verify/sql.h"

#define RECOVER_SORT_PART 4		/* of the memory limit */
#define RECOVER_MESSAGES "100"		/* of integrity_check */
#define RECOVER_MESSAGES_MAX (1u << 20)	/* bytes of them */

/* What the second thread does; its fields are ours again when it is done. */
struct checks {
	sqlite3 *db;
	struct buf integrity;		/* NUL-terminated once complete */
	bool complete;
	int64_t foreign_keys;
	char *skip_integrity, *skip_foreign;	/* why not checked, or NULL */
	int rc;
	struct fault f;
};

static void
S_checks_free(struct checks *c)
{
	(void)sqlite3_close(c->db);
	buf_free(&c->integrity);
	free(c->skip_integrity);
	free(c->skip_foreign);
}

/* SQLite knows no such function, collation or module: not checked. */
static int
S_not_checked(sqlite3 *db, char **why, struct fault *f)
{
	*why = strdup(sqlite3_errmsg(db));
	return *why ? 0 : fault_set(f, FAULT_TROUBLE, "out of memory");
}

/*
 * 0, or 1: the messages have become long enough. They quote names, which the
 * evidence chose; without the rest of them the answer is the same.
 */
static int
S_message(struct buf *b, const char *text, struct fault *f)
{
	size_t n = strlen(text), used = b->len + sizeof("\n"), room;
	int rc = 0;

	if (used >= RECOVER_MESSAGES_MAX)
		return 1;
	room = RECOVER_MESSAGES_MAX - used;
	if (b->len)
		rc = buf_u8(b, '\n', f);
	if (!rc)
		rc = buf_append(b, text, n < room ? n : room, f);
	return rc ? rc : n > room;
}

/* What was found before the check broke off stays found. */
static int
S_integrity_end(struct checks *c, int step, struct fault *f)
{
	int rc;

	switch (step & 0xff) {
	case SQLITE_DONE:
		return 0;
	case SQLITE_CORRUPT:
		return S_message(&c->integrity, sqlite3_errmsg(c->db), f);
	case SQLITE_ERROR:
		rc = S_not_checked(c->db, &c->skip_integrity, f);
		if (rc || c->integrity.len)
			return rc;
		return S_message(&c->integrity, WIRE_NOT_CHECKED, f);
	default:
		return state_sql_fault(c->db, step, "check the integrity", f);
	}
}

/* 0 and the messages; the database being corrupt is one more of them. */
static int
S_integrity(struct checks *c, struct fault *f)
{
	int rc = 0, step;
	OWN_STMT(s);

	step = sqlite3_prepare_v2(c->db, "PRAGMA integrity_check("
				  RECOVER_MESSAGES ")", -1, &s, NULL);
	while (!rc && (step == SQLITE_OK || step == SQLITE_ROW)) {
		if (step == SQLITE_ROW) {
			const char *text =
				(const char *)sqlite3_column_text(s, 0);

			rc = S_message(&c->integrity, text ? text : "", f);
		}
		if (!rc)
			step = sqlite3_step(s);
	}
	if (!rc)
		rc = S_integrity_end(c, step, f);
	if (rc >= 0)
		rc = buf_u8(&c->integrity, '\0', f);
	c->complete = !rc;
	return rc;
}

/* The messages tell of damage: neither "ok" nor that nothing was checked. */
static bool
S_damaged(const struct checks *c)
{
	const char *text = (const char *)c->integrity.data;

	return c->complete && strcmp(text, "ok") &&
	       strcmp(text, WIRE_NOT_CHECKED);
}

static int
S_foreign_keys(struct checks *c, struct fault *f)
{
	int rc;
	OWN_STMT(s);

	rc = sql_prepare_text(c->db, &s, "PRAGMA foreign_key_check", f);
	if (rc < 0)
		return rc;
	while (rc == 0 && (rc = sql_step(s, f)) == 0)
		c->foreign_keys++;
	if (rc < 0)
		return rc;
	/* The end of the rows is 1 too, and then SQLite has no complaint. */
	if ((sqlite3_errcode(c->db) & 0xff) == SQLITE_ERROR)
		return S_not_checked(c->db, &c->skip_foreign, f);
	return 0;
}

static void
S_check(void *arg)
{
	struct checks *c = arg;

	c->rc = S_integrity(c, &c->f);
	if (!c->rc)
		c->rc = S_foreign_keys(c, &c->f);
	/* Corruption that the messages name already is no fault of its own. */
	if (c->rc == -FAULT_DAMAGED && S_damaged(c)) {
		c->rc = 0;
		c->foreign_keys = 0;
	}
}

static int
S_table(void *arg, const char *name, uint64_t rows,
	const unsigned char fp[DIGEST_BYTES], struct fault *f)
{
	struct wire *w = arg;
	int rc = wire_begin(w, WIRE_TABLE_SUM, f);

	if (!rc)
		rc = cell_put_int(&w->buf, 0, f);
	if (!rc)
		rc = cell_put_utf8(&w->buf, name, strlen(name), f);
	if (!rc)
		rc = cell_put_int(&w->buf, (int64_t)rows, f);
	if (!rc)
		rc = cell_put_blob(&w->buf, fp, DIGEST_BYTES, f);
	return rc ? rc : wire_end(w, f);
}

static int
S_skip(void *arg, const char *what, const char *why, struct fault *f)
{
	return wire_skip(arg, what, why, f);
}

static int
S_settings(struct wire *w, sqlite3 *db, struct fault *f)
{
	int64_t version = 0, application = 0;
	int rc = sql_int(db, "PRAGMA user_version", &version, f);

	if (!rc)
		rc = sql_int(db, "PRAGMA application_id", &application, f);
	if (!rc)
		rc = wire_fact_int(w, 0, "user_version", version, f);
	if (!rc)
		rc = wire_fact_int(w, 0, "application_id", application, f);
	return rc;
}

static int
S_fingerprint(struct op *o, struct state *s, struct fault *f)
{
	const struct fingerprint_sink sink = {
		.arg = o->wire, .table = S_table, .skip = S_skip,
	};
	unsigned char whole[DIGEST_BYTES], stat[DIGEST_BYTES];
	int rc = fingerprint_run(s, o->ask->memory_limit / RECOVER_SORT_PART,
				 &sink, whole, stat, f);

	if (!rc)
		rc = facts_blob(o->wire, 0, "fingerprint", whole, f);
	if (!rc)
		rc = facts_blob(o->wire, 0, "fingerprint.stat", stat, f);
	return rc;
}

static int
S_say_checks(struct op *o, const struct checks *c, struct fault *f)
{
	int rc = wire_fact_text(o->wire, 0, "integrity",
				(const char *)c->integrity.data, f);

	if (!rc)
		rc = wire_fact_int(o->wire, 0, "foreign_keys",
				   c->foreign_keys, f);
	if (!rc && c->skip_integrity)
		rc = wire_skip(o->wire, "integrity_check", c->skip_integrity,
			       f);
	if (!rc && c->skip_foreign)
		rc = wire_skip(o->wire, "foreign_key_check", c->skip_foreign,
			       f);
	if (S_damaged(c) || c->foreign_keys > 0)
		o->verdict = WIRE_NO;
	return rc;
}

/* Both threads, then what the second one found. */
static int
S_examine(struct op *o, struct state *s, struct checks *c, struct fault *f)
{
	int rc;

	worker_run(o->worker, S_check, c);
	rc = S_fingerprint(o, s, f);
	worker_wait(o->worker);
	if (rc == -FAULT_DAMAGED && S_damaged(c))
		return fault_wrap(f, "integrity_check: %.400s",
				  (const char *)c->integrity.data);
	if (rc)
		return rc;
	if (c->rc) {
		*f = c->f;
		return c->rc;
	}
	return S_say_checks(o, c, f);
}

int
op_recover(struct op *o, struct fault *f)
{
	struct checks c = { .integrity = BUF_INIT(RECOVER_MESSAGES_MAX),
			    .f = FAULT_INIT };
	int rc;
	OWN_STATE(state);

	rc = op_open(o, 0, &state, f);
	if (!rc)
		rc = facts_state(o->wire, 0, state_facts(state), f);
	if (!rc)
		rc = state_connect(state, &c.db, f);
	if (!rc)
		rc = S_settings(o->wire, c.db, f);
	if (!rc)
		rc = S_examine(o, state, &c, f);
	S_checks_free(&c);
	return rc ? rc : state_finish(state, f);
}
