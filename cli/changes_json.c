/*
 * changes_json.c - a delta as lines of JSON
 */
#include "cli/changes_json.h"

#include "cli/report.h"
#include "cli/summary.h"

static const char *
S_change(enum wire_change change)
{
	return change == WIRE_ADDED ? "added" :
	       change == WIRE_REMOVED ? "removed" : "changed";
}

static int
S_setting(void *arg, const char *name, const struct cell *before,
	  const struct cell *after, bool matters, struct fault *f)
{
	struct changes_json *to = arg;
	struct ndjson j = NDJSON_INIT(to->out);

	ndjson_open(&j, NULL, '{');
	ndjson_text(&j, "kind", "setting");
	ndjson_text(&j, "name", name);
	ndjson_cell(&j, "before", before);
	ndjson_cell(&j, "after", after);
	ndjson_bool(&j, "matters", matters);
	ndjson_close(&j, '}');
	ndjson_line(&j);
	return report_written(to->out, f);
}

static void
S_was(struct ndjson *j, const struct changes_object *o)
{
	if (o->type_before)
		ndjson_shown(j, "type_before", o->type_before);
	if (o->name_before)
		ndjson_shown(j, "name_before", o->name_before);
	if (o->table_before)
		ndjson_shown(j, "table_before", o->table_before);
}

static void
S_stored(struct ndjson *j, const char *key, const struct changes_stored *s)
{
	static const char *const name[WIRE_STORED] = {
		"type", "name", "tbl_name", "sql",
	};

	if (!s->there)
		return;
	ndjson_open(j, key, '{');
	for (size_t i = 0; i < WIRE_STORED; i++)
		ndjson_cell(j, name[i], &s->cell[i].cell);
	ndjson_close(j, '}');
}

static int
S_object(void *arg, const struct changes_object *o, struct fault *f)
{
	struct changes_json *to = arg;
	struct ndjson j = NDJSON_INIT(to->out);

	ndjson_open(&j, NULL, '{');
	ndjson_text(&j, "kind", "schema");
	ndjson_text(&j, "change", S_change(o->change));
	ndjson_shown(&j, "type", o->type);
	ndjson_shown(&j, "name", o->name);
	ndjson_shown(&j, "table", o->table);
	S_was(&j, o);
	ndjson_shown(&j, "before", o->before);
	ndjson_shown(&j, "after", o->after);
	ndjson_bool(&j, "structure", o->structure);
	S_stored(&j, "stored_before", &o->stored_before);
	S_stored(&j, "stored_after", &o->stored_after);
	ndjson_close(&j, '}');
	ndjson_line(&j);
	return report_written(to->out, f);
}

static void
S_key(struct ndjson *j, const struct changes_table *t,
      const struct changes_row *row)
{
	if (t->kind == WIRE_KEY_NONE) {
		ndjson_null(j, "key");
		return;
	}
	ndjson_open(j, "key", '{');
	for (uint32_t i = 0; i < t->key.count; i++)
		ndjson_cell(j, t->key.name[i], &row->key[i].cell);
	ndjson_close(j, '}');
}

/* Is column i of one side left out, since both sides have the same there? */
static bool
S_left_out(const struct changes_json *to, const struct changes_table *t,
	   const struct changes_row *row, const struct changes_columns *c,
	   uint32_t i)
{
	int32_t other = c->other[i];

	if (row->change != WIRE_CHANGED || to->full || other < 0)
		return false;
	return changes_same(t, row, c == &t->after ? i : (uint32_t)other);
}

static void
S_side(struct ndjson *j, const char *key, const struct changes_json *to,
       const struct changes_table *t, const struct changes_row *row,
       const struct changes_columns *c, const struct changes_cell *cells)
{
	if (!cells) {
		ndjson_null(j, key);
		return;
	}
	ndjson_open(j, key, '{');
	for (uint32_t i = 0; i < c->count; i++)
		if (!S_left_out(to, t, row, c, i))
			ndjson_cell(j, c->name[i], &cells[i].cell);
	ndjson_close(j, '}');
}

static int
S_row(void *arg, const struct changes_table *t, const struct changes_row *row,
      struct fault *f)
{
	struct changes_json *to = arg;
	struct ndjson j = NDJSON_INIT(to->out);

	ndjson_open(&j, NULL, '{');
	ndjson_text(&j, "kind", "row");
	ndjson_shown(&j, "table", t->name);
	ndjson_text(&j, "change", S_change(row->change));
	S_key(&j, t, row);
	S_side(&j, "before", to, t, row, &t->before, row->before);
	S_side(&j, "after", to, t, row, &t->after, row->after);
	ndjson_close(&j, '}');
	ndjson_line(&j);
	return report_written(to->out, f);
}

struct changes_sink
changes_json_sink(struct changes_json *j)
{
	return (struct changes_sink){
		.arg = j,
		.setting = S_setting,
		.object = S_object,
		.row = S_row,
	};
}

static void
S_evidence(struct ndjson *j, const char *key, const struct ask_run *r,
	   size_t side)
{
	const struct facts *t = &r->facts[side];

	ndjson_open(j, key, '{');
	ndjson_text(j, "id", evidence_id(r->evidence[side]));
	ndjson_int(j, "page_size", facts_int(t, FACT_PAGE_SIZE));
	ndjson_int(j, "page_count", facts_int(t, FACT_PAGE_COUNT));
	ndjson_text(j, "encoding", facts_text(t, FACT_ENCODING));
	ndjson_bool(j, "in_memory", facts_int(t, FACT_IN_MEMORY) != 0);
	ndjson_text(j, "view", facts_text(t, FACT_VIEW));
	summary_json_account(j, t);
	ndjson_close(j, '}');
}

void
changes_json_summary(struct ndjson *j, const struct ask_run *r,
		     const struct changes *c, bool pass,
		     const unsigned char *policy_sha256)
{
	ndjson_open(j, NULL, '{');
	ndjson_text(j, "kind", "summary");
	ndjson_text(j, "verdict", pass ? "pass" : "fail");
	ndjson_bool(j, "equal", c->equal);
	S_evidence(j, "before", r, 0);
	S_evidence(j, "after", r, 1);
	if (policy_sha256)
		ndjson_hex(j, "policy_sha256", policy_sha256, DIGEST_BYTES);
	else
		ndjson_null(j, "policy_sha256");
	ndjson_text(j, "version", HOLDFAST_VERSION);
	ndjson_open(j, "tables", '{');
	for (size_t i = 0; i < c->tables; i++) {
		ndjson_open(j, c->table[i].name, '{');
		ndjson_u64(j, "added", c->table[i].n.added);
		ndjson_u64(j, "removed", c->table[i].n.removed);
		ndjson_u64(j, "changed", c->table[i].n.changed);
		ndjson_close(j, '}');
	}
	ndjson_close(j, '}');
}
