/*
 * report_json.c - controls and a run as lines of JSON
 */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "controls/needs.h"
#include "controls/report.h"

static void
S_text(cJSON *o, const char *key, const char *text)
{
	(void)cJSON_AddStringToObject(o, key, text);
}

cJSON *
report_control_json(const struct control *c)
{
	cJSON *o = cJSON_CreateObject();
	char words[128];

	needs_words(c->needs, words, sizeof(words));
	S_text(o, "kind", "control");
	S_text(o, "id", c->id);
	S_text(o, "title", c->title);
	S_text(o, "attack", c->attack);
	S_text(o, "predecessor", c->predecessor);
	S_text(o, "symptom", c->symptom);
	S_text(o, "expected", c->expected);
	S_text(o, "inverse", c->inverse);
	S_text(o, "needs", words);
	return o;
}

void
report_print_json(cJSON *o, FILE *out)
{
	char *line = cJSON_PrintUnformatted(o);

	if (!line)
		abort();
	(void)fprintf(out, "%s\n", line);
	(void)fflush(out);
	cJSON_free(line);
	cJSON_Delete(o);
}

static const char *const S_sides[FINDINGS_SIDES] = {
	[FINDINGS_PREDECESSOR] = "predecessor_showed",
	[FINDINGS_PRODUCT] = "product_did",
	[FINDINGS_INVERSE_PREDECESSOR] = "predecessor_without",
	[FINDINGS_INVERSE_PRODUCT] = "product_without",
};

static void
S_side(cJSON *o, const char *key, const struct findings_side *s)
{
	cJSON *side = s->told ? cJSON_AddObjectToObject(o, key)
			      : cJSON_AddNullToObject(o, key);

	if (!s->told)
		return;
	(void)cJSON_AddBoolToObject(side, "as_expected", s->good);
	if (s->symptom[0])
		S_text(side, "symptom", s->symptom);
	S_text(side, "text", s->text);
}

static void
S_list(cJSON *o, const char *key, const char *(*at)(const void *, size_t),
       const void *arg, size_t n)
{
	cJSON *list = cJSON_AddArrayToObject(o, key);

	for (size_t i = 0; i < n; i++)
		(void)cJSON_AddItemToArray(list,
					   cJSON_CreateString(at(arg, i)));
}

static const char *
S_reason_at(const void *verdict, size_t i)
{
	return ((const struct verdict *)verdict)->reason[i];
}

static const char *
S_left_at(const void *findings, size_t i)
{
	return ((const struct findings *)findings)->left[i];
}

static void
S_show(const struct report_run *run, const struct report_row *r, FILE *out)
{
	cJSON *o = report_control_json(r->control);
	size_t nleft = r->findings.nleft;

	(void)run;
	S_text(o, "outcome", findings_outcome_name[r->verdict.outcome]);
	for (int i = 0; i < FINDINGS_SIDES; i++)
		S_side(o, S_sides[i], &r->findings.side[i]);
	(void)cJSON_AddNumberToObject(o, "examined",
				      (double)r->findings.examined);
	S_list(o, "reasons", S_reason_at, &r->verdict, r->verdict.nreasons);
	S_list(o, "left", S_left_at, &r->findings,
	       nleft < FINDINGS_LEFT_MAX ? nleft : FINDINGS_LEFT_MAX);
	(void)cJSON_AddNumberToObject(o, "seconds", r->seconds);
	report_print_json(o, out);
}

static void
S_begin(const struct report_run *run, FILE *out)
{
	(void)run;
	(void)out;
}

static void
S_end(const struct report_run *run, FILE *out)
{
	cJSON *o = cJSON_CreateObject();

	S_text(o, "kind", "summary");
	S_text(o, "verdict", run->failed ? "fail" : "pass");
	S_text(o, "version", HOLDFAST_VERSION);
	S_text(o, "product", run->product);
	(void)cJSON_AddNumberToObject(o, "controls", (double)run->planned);
	(void)cJSON_AddNumberToObject(o, "held",
				      (double)run->count[OUTCOME_HELD]);
	(void)cJSON_AddNumberToObject(o, "fooled",
				      (double)run->count[OUTCOME_FOOLED]);
	(void)cJSON_AddNumberToObject(o, "broken",
				      (double)run->count[OUTCOME_BROKEN]);
	(void)cJSON_AddNumberToObject(o, "skipped",
				      (double)run->count[OUTCOME_SKIPPED]);
	(void)cJSON_AddNumberToObject(o, "examined", (double)run->examined);
	report_print_json(o, out);
}

const struct report_form report_json = { S_begin, S_show, S_end };
