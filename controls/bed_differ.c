/*
 * bed_differ.c - what stock commands and the product call a difference
 */
#include "controls/bed_differ.h"

#include <stdio.h>
#include <string.h>

#include "controls/needs.h"

static struct bed_shown
S_shown(bool same, const struct bed_run *why)
{
	return (struct bed_shown){ same ? BED_SAME : BED_DIFFERENT, why };
}

struct bed_shown
bed_differ_except(struct trial *t, const char *before, const char *after,
		  const char *table)
{
	const char *sql = bed_text(
		t, "attach '%s' as b; select case when exists (select * from"
		" main.%s except select * from b.%s) or exists (select * from"
		" b.%s except select * from main.%s) then '" BED_DIFFERENT
		"' else '" BED_SAME "' end", after, table, table, table,
		table);

	return bed_show_sqlite3(t, before, sql);
}

/* Both outputs, where both commands succeeded. */
static struct bed_shown
S_outputs(const struct bed_run *b, const struct bed_run *a)
{
	if (b->late || b->status)
		return (struct bed_shown){ NULL, b };
	if (a->late || a->status)
		return (struct bed_shown){ NULL, a };
	return S_shown(b->nout == a->nout &&
		       memcmp(b->out, a->out, a->nout) == 0, a);
}

struct bed_shown
bed_differ_output(struct trial *t, const char *before, const char *after,
		  const char *mode, const char *command)
{
	const char *file[] = { before, after };
	const struct bed_run *r[2];

	for (int i = 0; i < 2; i++)
		r[i] = bed_command(t, BED_ARGV("sqlite3", "-batch", "-init",
					       "/dev/null", mode, file[i],
					       command));
	return S_outputs(r[0], r[1]);
}

struct bed_shown
bed_differ_script(struct trial *t, const char *before, const char *after,
		  const char *script)
{
	const struct bed_run *b, *a;

	b = bed_command(t, BED_ARGV("sh", "-c", script, before));
	a = bed_command(t, BED_ARGV("sh", "-c", script, after));
	return S_outputs(b, a);
}

/* Its exit status is 0 whether there are differences or not. */
struct bed_shown
bed_differ_sqldiff(struct trial *t, const char *before, const char *after)
{
	const struct bed_run *r = bed_command(t, BED_ARGV("sqldiff", before,
							  after));

	if (r->late || r->status || r->nerr)
		return (struct bed_shown){ NULL, r };
	return S_shown(r->nout == 0, r);
}

/* Each table with a key gives a head, even if it has no changes. */
struct bed_shown
bed_differ_changeset(struct trial *t, const char *before, const char *after)
{
	const char *side[] = { before, after };
	const struct bed_run *r[2];

	for (int i = 0; i < 2; i++)
		r[i] = bed_command(t, BED_ARGV("sqldiff", "--changeset",
					       "/dev/stdout", before,
					       side[i]));
	return S_outputs(r[0], r[1]);
}

bool
bed_differ_has_sqldiff(void)
{
	char why[64];

	return !needs_lack(CONTROL_SQLDIFF, why, sizeof(why));
}

static const char *
S_word(const cJSON *o, const char *name)
{
	const char *word = cJSON_GetStringValue(cJSON_GetObjectItem(o, name));

	return word ? word : "";
}

/* id=7,name=x: a key's cells are [type, value]. */
static void
S_key(FILE *out, const cJSON *key)
{
	const cJSON *cell;
	bool first = true;

	if (!cJSON_IsObject(key))
		(void)fputs("a row", out);
	cJSON_ArrayForEach(cell, key) {
		const char *value = cJSON_GetStringValue(
			cJSON_GetArrayItem(cell, 1));

		(void)fprintf(out, "%s%s=%s", first ? "" : ",", cell->string,
			      value ? value : "");
		first = false;
	}
	(void)fputc('\n', out);
}

static void
S_difference(FILE *out, const cJSON *o)
{
	const char *kind = S_word(o, "kind");

	if (strcmp(kind, "setting") == 0)
		(void)fprintf(out, "%s differs\n", S_word(o, "name"));
	if (strcmp(kind, "schema") == 0)
		(void)fprintf(out, "%s %s %s\n", S_word(o, "type"),
			      S_word(o, "name"), S_word(o, "change"));
	if (strcmp(kind, "row") == 0) {
		(void)fprintf(out, "%s: %s ", S_word(o, "table"),
			      S_word(o, "change"));
		S_key(out, cJSON_GetObjectItem(o, "key"));
	}
}

static void
S_violations(FILE *out, const cJSON *o)
{
	const cJSON *v;

	cJSON_ArrayForEach(v, cJSON_GetObjectItem(o, "violations")) {
		(void)fprintf(out, "%s: %s ", S_word(v, "table"),
			      S_word(v, "rule"));
		S_key(out, cJSON_GetObjectItem(v, "key"));
	}
}

/* What tell writes of each line; `yes` where that is nothing. */
static struct bed_shown
S_verified(struct trial *t, const struct bed_run *r, const char *yes,
	   void (*tell)(FILE *out, const cJSON *o))
{
	const char *rest = r->out;
	char *text = NULL;
	const cJSON *o;
	FILE *out;
	size_t n;

	if (!bed_yes(r) && r->status != 1)
		return (struct bed_shown){ NULL, r };
	out = open_memstream(&text, &n);
	while (out && *rest) {
		o = bed_json_next(&rest);
		if (!o)
			trial_die(t, "no line of JSON: %s", bed_told(t, r));
		tell(out, o);
	}
	if (!out || fclose(out))
		trial_die(t, "no memory");
	if (bed_yes(r) != (n == 0))
		return (struct bed_shown){ NULL, r };
	if (n > 0)
		text[n - 1] = '\0';
	return (struct bed_shown){ n > 0 ? text : yes, r };
}

struct bed_shown
bed_show_verified(struct trial *t, const char *before, const char *after,
		  const char *option)
{
	const struct bed_run *r;

	r = bed_command_with(t, BED_ARGV(t->product, "verify", "--unchanged",
					 "--json"),
			     BED_ARGV(option), BED_ARGV(before, after));
	return S_verified(t, r, BED_UNCHANGED, S_difference);
}

struct bed_shown
bed_show_judged(struct trial *t, const char *policy, const char *before,
		const char *after)
{
	const struct bed_run *r;

	r = bed_product(t, BED_ARGV("verify", "--policy", policy, "--json",
				    before, after));
	return S_verified(t, r, BED_AS_DECLARED, S_violations);
}
