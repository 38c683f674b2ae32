/*
 * verdict.c - what a policy's judge found, for people and as JSON
 */
#include "cli/verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cli/cells.h"
#include "cli/changes_json.h"
#include "cli/escape.h"
#include "cli/report.h"
#include "cli/summary.h"

#define VERDICT_ARROW " \xe2\x86\x92 "
/* Of a text that is shown: it may be as large as any. */
#define VERDICT_CELL_MAX 64u

static void
S_cell(FILE *to, const struct violation_cell *c)
{
	struct cell part = c->cell;
	bool cut = c->cut;

	if (c->cell.tag != CELL_BLOBSUM && part.len > VERDICT_CELL_MAX) {
		part.len = VERDICT_CELL_MAX;
		cut = true;
	}
	cells_put_quoted(to, &part, '\'', CELLS_SHOWN);
	if (cut)
		(void)fputs("...", to);
}

static void
S_side(FILE *to, const struct violation_cell *c)
{
	if (c->there)
		S_cell(to, c);
	else
		(void)fputs("(no column)", to);
}

/* As diff writes them: "balance 700 → 650", or "balance=650" of a row that
   is on one side. */
static void
S_cells(FILE *to, const struct violation *v)
{
	if (v->one_row) {
		(void)fputc('=', to);
		S_cell(to, v->after.there ? &v->after : &v->before);
		return;
	}
	(void)fputc(' ', to);
	S_side(to, &v->before);
	(void)fputs(VERDICT_ARROW, to);
	S_side(to, &v->after);
}

/* "balance 700 → 650: a row changed, and none may" */
static void
S_detail(FILE *to, const struct violation *v)
{
	if (v->column) {
		escape_puts(to, v->column);
		if (v->before.there || v->after.there)
			S_cells(to, v);
		(void)fputs(": ", to);
	}
	escape_puts(to, v->detail);
}

/* A text of which the start alone is kept is no value: it is left out. */
static void
S_json_cell(struct ndjson *j, const char *key, const struct violation_cell *c)
{
	if (c->there && !c->cut)
		ndjson_cell(j, key, &c->cell);
}

static void
S_json_key(struct ndjson *j, const struct violation *v)
{
	if (v->nkey == 0) {
		ndjson_null(j, "key");
		return;
	}
	ndjson_open(j, "key", '{');
	for (uint32_t i = 0; i < v->nkey; i++)
		S_json_cell(j, v->key[i].name, &v->key[i].value);
	ndjson_close(j, '}');
}

static void
S_json_detail(struct ndjson *j, const struct violation *v)
{
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	if (to)
		S_detail(to, v);
	if (to && fclose(to) == 0)
		ndjson_bytes(j, "detail", text, n);
	else
		ndjson_text(j, "detail", v->detail);
	free(text);
}

/* false: nothing gave it a value. */
static bool
S_bound(const struct policy_bind *b, struct cell *c)
{
	const unsigned char *at = b->cell;
	struct fault f = FAULT_INIT;

	return b->cell && !cell_get(&at, b->cell + b->len, c, &f);
}

static void
S_json_bind(struct ndjson *j, const struct policy *p,
	    const struct policy_bind *b)
{
	char pointer[JSON_POINTER_MAX];
	struct cell c;

	ndjson_open(j, NULL, '{');
	ndjson_text(j, "name", b->name);
	ndjson_bool(j, "given", b->given);
	if (S_bound(b, &c))
		ndjson_cell(j, "value", &c);
	if (b->bound_at) {
		json_pointer(&p->json, b->bound_at, pointer);
		ndjson_text(j, "pointer", pointer);
	}
	ndjson_close(j, '}');
}

static void
S_json_violation(struct ndjson *j, const struct violation *v)
{
	ndjson_open(j, NULL, '{');
	ndjson_text(j, "rule", violation_rule_name(v->rule));
	ndjson_shown(j, "table", v->table);
	S_json_key(j, v);
	ndjson_text(j, "pointer", v->pointer);
	ndjson_shown(j, "column", v->column);
	S_json_cell(j, "before", &v->before);
	S_json_cell(j, "after", &v->after);
	S_json_detail(j, v);
	ndjson_u64(j, "more", v->more);
	ndjson_close(j, '}');
}

void
verdict_json(FILE *out, const struct verdict *v)
{
	const struct violations *all = v->violations;
	struct ndjson j = NDJSON_INIT(out);

	changes_json_summary(&j, v->run, v->changes, all->total == 0,
			     v->sha256);
	ndjson_open(&j, "exempt", '[');
	for (size_t i = 0; i < v->policy->ntable; i++)
		if (v->policy->table[i].any)
			ndjson_text(&j, NULL, v->policy->table[i].name);
	ndjson_close(&j, ']');
	ndjson_open(&j, "binds", '[');
	for (size_t i = 0; i < v->policy->nbind; i++)
		S_json_bind(&j, v->policy, &v->policy->bind[i]);
	ndjson_close(&j, ']');
	ndjson_open(&j, "violations", '[');
	for (size_t i = 0; i < all->n; i++)
		S_json_violation(&j, &all->item[i]);
	ndjson_close(&j, ']');
	ndjson_u64(&j, "violations_total", all->total);
	ndjson_notes(&j, &v->run->not_checked);
	ndjson_close(&j, '}');
	ndjson_line(&j);
}

static void
S_headline(FILE *out, const struct verdict *v)
{
	uint64_t n = v->violations->total;

	(void)fputs(n ? "fail: " : "pass: ", out);
	if (!v->sha256)
		(void)fputs(n ? "something changed where nothing may"
			      : "unchanged", out);
	else if (n)
		(void)fprintf(out, "the policy is broken %" PRIu64 " time%s",
			      n, plural_s(n));
	else
		(void)fputs("all that changed is what the policy says", out);
	if (v->run->not_checked.count > 0)
		(void)fputs(", as far as it was checked", out);
	(void)fputc('\n', out);
}

static void
S_evidence(FILE *out, const struct verdict *v, const char *what, size_t side)
{
	const char *id = evidence_id(v->run->evidence[side]);

	(void)fprintf(out, "%s ", what);
	escape_puts(out, v->args->operand[side]);
	(void)fprintf(out, "  %s\n", id ? id : "(a plain file, no packet)");
}

static void
S_policy(FILE *out, const struct verdict *v)
{
	char hex[DIGEST_HEX_BYTES];

	if (!v->sha256)
		return;
	digest_hex(v->sha256, hex);
	(void)fputs("policy ", out);
	escape_puts(out, v->args->policy);
	(void)fprintf(out, "  sha256 %s\n", hex);
}

/* "bind order = 41 (given)": what the verdict took from whom. */
static void
S_bind(FILE *out, const struct policy *p, const struct policy_bind *b)
{
	struct violation_cell value = { .there = false };
	char pointer[JSON_POINTER_MAX];

	(void)fputs("bind ", out);
	escape_puts(out, b->name);
	if (S_bound(b, &value.cell)) {
		(void)fputs(" = ", out);
		S_cell(out, &value);
	}
	if (b->given) {
		(void)fputs(" (given)\n", out);
	} else if (b->bound_at) {
		json_pointer(&p->json, b->bound_at, pointer);
		(void)fputs(" (free: from the row of ", out);
		escape_puts(out, pointer);
		(void)fputs(")\n", out);
	} else {
		(void)fputs(" (free: no row gave it a value)\n", out);
	}
}

static bool
S_exempt(const struct verdict *v, const char *table)
{
	for (size_t i = 0; i < v->policy->ntable; i++)
		if (v->policy->table[i].any &&
		    strcmp(v->policy->table[i].name, table) == 0)
			return true;
	return false;
}

/* Tables that differ, and those that may differ as they like. */
static void
S_tables(FILE *out, const struct verdict *v)
{
	for (size_t i = 0; i < v->changes->tables; i++) {
		const struct changes_total *t = &v->changes->table[i];
		bool exempt = S_exempt(v, t->name);

		if (t->n.added + t->n.removed + t->n.changed == 0 && !exempt)
			continue;
		(void)fputs("table ", out);
		escape_puts(out, t->name);
		(void)fprintf(out, ": %" PRIu64 " added, %" PRIu64
			      " removed, %" PRIu64 " changed%s\n", t->n.added,
			      t->n.removed, t->n.changed,
			      exempt ? " (exempt: any change is allowed)" : "");
	}
}

static void
S_key(FILE *out, const struct violation *v)
{
	for (uint32_t i = 0; i < v->nkey; i++) {
		(void)fputc(' ', out);
		escape_puts(out, v->key[i].name);
		(void)fputc('=', out);
		S_cell(out, &v->key[i].value);
	}
}

static void
S_violation(FILE *out, const struct violation *v)
{
	(void)fprintf(out, "rule %s", violation_rule_name(v->rule));
	if (*v->pointer) {
		(void)fputs(" at ", out);
		escape_puts(out, v->pointer);
	}
	(void)fputs(": ", out);
	if (v->table) {
		escape_puts(out, v->table);
		S_key(out, v);
		(void)fputs(": ", out);
	}
	S_detail(out, v);
	if (v->more)
		(void)fprintf(out, " (and %" PRIu64 " more like it)", v->more);
	(void)fputc('\n', out);
}

void
verdict_text(FILE *out, const struct verdict *v)
{
	const struct violations *all = v->violations;

	S_headline(out, v);
	S_evidence(out, v, "before", 0);
	S_evidence(out, v, "after ", 1);
	S_policy(out, v);
	for (size_t i = 0; i < v->policy->nbind; i++)
		S_bind(out, v->policy, &v->policy->bind[i]);
	S_tables(out, v);
	for (size_t i = 0; i < all->n; i++)
		S_violation(out, &all->item[i]);
	if (all->dropped)
		(void)fprintf(out, "and %" PRIu64 " violation%s more\n",
			      all->dropped, plural_s(all->dropped));
	summary_notes(out, &v->run->not_checked);
}
