/*
 * parse_tables.c - what may happen to rows, out of the document
 */
#include <stdlib.h>

#include "policy/parse.h"

static const char *const S_kind[POLICY_KINDS] = {
	[POLICY_ADDED] = "added",
	[POLICY_REMOVED] = "removed",
	[POLICY_CHANGED] = "changed",
};

static int
S_pattern(struct policy *p, const cJSON *item, enum policy_kind kind,
	  struct policy_pattern *to, struct fault *f)
{
	static const char *const keys[] = { "key", "set", NULL };
	const cJSON *part;
	int rc = json_as_object(&p->json, item, f);

	to->at = item;
	if (rc)
		return rc;
	if (++p->npattern > POLICY_PATTERNS_MAX)
		return json_fault(&p->json, item, NULL, f,
				  "more than %u patterns",
				  POLICY_PATTERNS_MAX);
	if (kind != POLICY_CHANGED)
		return parse_rules(p, item, PARSE_ROW, &to->cells, f);
	rc = json_only(&p->json, item, keys, f);
	part = json_find(item, "key");
	if (!rc && part)
		rc = parse_rules(p, part, PARSE_KEY, &to->key, f);
	if (!rc)
		rc = json_get(&p->json, item, "set", &part, f);
	return rc ? rc : parse_rules(p, part, PARSE_SET, &to->cells, f);
}

static int
S_rows(struct policy *p, const cJSON *obj, enum policy_kind kind,
       struct policy_section *s, struct fault *f)
{
	int rc = json_get_array(&p->json, obj, "rows", &s->rows_at, f);

	if (rc)
		return rc;
	s->pattern = calloc((size_t)cJSON_GetArraySize(s->rows_at) + 1,
			    sizeof(*s->pattern));
	if (!s->pattern)
		return parse_no_memory(f);
	for (const cJSON *c = s->rows_at->child; rc == 0 && c; c = c->next)
		rc = S_pattern(p, c, kind, &s->pattern[s->npattern++], f);
	return rc;
}

static int
S_columns(struct policy *p, const cJSON *obj, struct policy_section *s,
	  struct fault *f)
{
	int rc = json_get_array(&p->json, obj, "columns", &s->columns_at, f);

	if (rc)
		return rc;
	s->column = calloc((size_t)cJSON_GetArraySize(s->columns_at) + 1,
			   sizeof(*s->column));
	if (!s->column)
		return parse_no_memory(f);
	for (const cJSON *c = s->columns_at->child; c; c = c->next) {
		if (!cJSON_IsString(c) || !*c->valuestring)
			return json_fault(&p->json, c, NULL, f,
					  "must be a column's name");
		s->column[s->ncolumn++] = c->valuestring;
	}
	return 0;
}

static int
S_section(struct policy *p, const cJSON *obj, enum policy_kind kind,
	  struct policy_section *s, struct fault *f)
{
	static const char *const plain[] = { "count", "rows", "each", NULL };
	static const char *const changed[] = { "count", "rows", "each",
					       "columns", NULL };
	const cJSON *each = NULL;
	int rc = json_as_object(&p->json, obj, f);

	s->at = obj;
	if (!rc)
		rc = json_only(&p->json, obj,
			       kind == POLICY_CHANGED ? changed : plain, f);
	if (rc)
		return rc;
	s->count_at = json_find(obj, "count");
	if (s->count_at)
		rc = parse_range(p, s->count_at, &s->min, &s->max, f);
	if (!rc && json_find(obj, "rows"))
		rc = S_rows(p, obj, kind, s, f);
	if (!rc && json_find(obj, "columns"))
		rc = S_columns(p, obj, s, f);
	each = json_find(obj, "each");
	if (!rc && each)
		rc = parse_rules(p, each, kind == POLICY_CHANGED
				 ? PARSE_EACH_SET : PARSE_EACH, &s->each, f);
	return rc;
}

static int
S_table(struct policy *p, const cJSON *obj, struct policy_table *t,
	struct fault *f)
{
	static const char *const keys[] = { "any", "added", "removed",
					    "changed", NULL };
	const cJSON *any, *part;
	int rc = json_as_object(&p->json, obj, f);

	*t = (struct policy_table){ .name = obj->string, .at = obj };
	if (!rc)
		rc = parse_key_name(p, obj, f);
	if (!rc)
		rc = json_only(&p->json, obj, keys, f);
	if (rc)
		return rc;
	any = json_find(obj, "any");
	t->any = any != NULL;
	if (any && !cJSON_IsTrue(any))
		return json_fault(&p->json, any, NULL, f, "must be true");
	if (any && obj->child->next)
		return json_fault(&p->json, any, NULL, f,
				  "stands alone: it allows all");
	for (int i = 0; rc == 0 && i < POLICY_KINDS; i++) {
		part = json_find(obj, S_kind[i]);
		if (part)
			rc = S_section(p, part, (enum policy_kind)i,
				       &t->section[i], f);
	}
	return rc;
}

int
parse_tables(struct policy *p, const cJSON *obj, struct fault *f)
{
	int rc = json_as_object(&p->json, obj, f);

	if (rc)
		return rc;
	p->tables_at = obj;
	p->table = calloc((size_t)cJSON_GetArraySize(obj) + 1,
			  sizeof(*p->table));
	if (!p->table)
		return parse_no_memory(f);
	for (const cJSON *c = obj->child; rc == 0 && c; c = c->next)
		rc = S_table(p, c, &p->table[p->ntable++], f);
	return rc;
}

static void
S_section_free(struct policy_section *s)
{
	for (uint32_t i = 0; i < s->npattern; i++) {
		parse_rules_free(&s->pattern[i].key);
		parse_rules_free(&s->pattern[i].cells);
	}
	free(s->pattern);
	free(s->column);
	parse_rules_free(&s->each);
}

void
parse_tables_free(struct policy *p)
{
	for (size_t i = 0; i < p->ntable; i++)
		for (int k = 0; k < POLICY_KINDS; k++)
			S_section_free(&p->table[i].section[k]);
	free(p->table);
}
