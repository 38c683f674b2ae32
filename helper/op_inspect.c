/*
 * op_inspect.c - what capture must know of the images; no SQL runs
 */
#include "helper/facts.h"
#include "helper/ops.h"
#include "recover/inspect.h"

static int
S_wal(struct wire *w, const struct wal_account *a, struct fault *f)
{
	int rc = facts_wal(w, 0, a, f);

	if (!rc)
		rc = wire_fact_int(w, 0, "wal.header_damaged",
				   a->header_damaged, f);
	if (!rc)
		rc = wire_fact_int(w, 0, "wal.salt1", a->salt[0], f);
	if (!rc)
		rc = wire_fact_int(w, 0, "wal.salt2", a->salt[1], f);
	return rc;
}

static int
S_shm(struct wire *w, const struct shm_facts *s, struct fault *f)
{
	int rc = wire_fact_text(w, 0, "shm.state", shm_state_name(s->state),
				f);

	if (!rc)
		rc = wire_fact_int(w, 0, "shm.frames", s->frames, f);
	if (!rc)
		rc = wire_fact_int(w, 0, "shm.backfilled", s->backfilled, f);
	if (!rc)
		rc = wire_fact_int(w, 0, "shm.backfill_attempted",
				   s->backfill_attempted, f);
	if (!rc)
		rc = wire_fact_int(w, 0, "shm.salt1", s->salt[0], f);
	if (!rc)
		rc = wire_fact_int(w, 0, "shm.salt2", s->salt[1], f);
	return rc;
}

int
op_inspect(struct op *o, struct fault *f)
{
	struct inspect_facts facts;
	struct wire *w = o->wire;
	int rc = inspect_run(&o->ask->side[0], o->ask->memory_limit, &facts,
			     f);

	if (!rc)
		rc = wire_fact_text(w, 0, "header",
				    header_state_name(facts.header.state), f);
	if (!rc)
		rc = wire_fact_int(w, 0, "page_size", facts.header.page_size,
				   f);
	if (!rc)
		rc = wire_fact_int(w, 0, "page_count", (int64_t)facts.pages,
				   f);
	if (!rc)
		rc = wire_fact_int(w, 0, "wal_mode", facts.header.wal, f);
	if (!rc)
		rc = S_wal(w, &facts.wal, f);
	if (!rc)
		rc = S_shm(w, &facts.shm, f);
	if (!rc)
		rc = wire_fact_int(w, 0, "salts_agree", facts.salts_agree, f);
	if (!rc)
		rc = facts_journal(w, 0, &facts.journal, f);
	if (!rc && facts.journal.super)
		rc = wire_fact_text(w, 0, "journal.super",
				    facts.journal.super_name, f);
	return rc;
}
