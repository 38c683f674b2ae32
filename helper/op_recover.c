/*
 * op_recover.c - the account, the checks, and the fingerprint of one side
 *
 * The checks run on the second thread, with a connection of their own, while
 * the first computes the fingerprint.
 */
#include <string.h>

#include "helper/facts.h"
#include "helper/ops.h"
#include "verify/fingerprint.h"
#include "verify/integrity.h"
#include "verify/sql.h"

#define RECOVER_SORT_PART 4		/* of the memory limit */
/* What the second thread does; its fields are ours again when it is done. */
struct checks {
	struct state *state;
	struct integrity found;
	int rc;
	struct fault f;
};

static void
S_check(void *arg)
{
	struct checks *c = arg;

	c->rc = integrity_run(&c->found, c->state, &c->f);
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
S_say_checks(struct op *o, const struct integrity *r, struct fault *f)
{
	int rc = wire_fact_text(o->wire, 0, "integrity",
				(const char *)r->text.data, f);

	if (!rc)
		rc = wire_fact_int(o->wire, 0, "foreign_keys",
				   r->foreign_keys, f);
	if (!rc)
		rc = integrity_skips(r, S_skip, o->wire, f);
	if (r->damaged || r->foreign_keys > 0)
		o->verdict = WIRE_NO;
	return rc;
}

/* Both threads, then what the second one found. */
static int
S_examine(struct op *o, struct checks *c, struct fault *f)
{
	int rc;

	worker_run(o->worker, S_check, c);
	rc = S_fingerprint(o, c->state, f);
	worker_wait(o->worker);
	if (rc == -FAULT_DAMAGED && !c->rc && c->found.damaged)
		return fault_wrap(f, "integrity_check: %.400s",
				  (const char *)c->found.text.data);
	if (rc)
		return rc;
	if (c->rc) {
		*f = c->f;
		return c->rc;
	}
	return S_say_checks(o, &c->found, f);
}

int
op_recover(struct op *o, struct fault *f)
{
	struct checks c = { .f = FAULT_INIT };
	int rc;
	OWN_STATE(state);
	OWN_DB(db);

	integrity_init(&c.found);
	rc = op_open(o, 0, &state, f);
	c.state = state;
	if (!rc)
		rc = facts_state(o->wire, 0, state_facts(state), f);
	if (!rc)
		rc = state_connect(state, &db, f);
	if (!rc)
		rc = S_settings(o->wire, db, f);
	if (!rc)
		rc = S_examine(o, &c, f);
	integrity_free(&c.found);
	return rc ? rc : state_finish(state, f);
}
