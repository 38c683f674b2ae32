/*
 * parse_rules.c - what a cell must be, out of the document
 */
#include <stdlib.h>
#include <string.h>

#include "policy/literal.h"
#include "policy/parse.h"

static const char *const S_type[POLICY_TYPES] = {
	[POLICY_INT] = "int",
	[POLICY_REAL] = "real",
	[POLICY_TEXT] = "text",
	[POLICY_BLOB] = "blob",
	[POLICY_NULL] = "null",
};

static int
S_cell(struct policy *p, const cJSON *item, struct policy_rule *r,
       struct fault *f)
{
	struct buf b = BUF_INIT(POLICY_BYTES_MAX + 64);
	int rc = literal_put(&p->json, item, &b, f);

	if (rc) {
		buf_free(&b);
		return rc;
	}
	r->kind = POLICY_CELL;
	r->cell = b.data;
	r->len = b.len;
	return 0;
}

static int
S_get_type(struct policy *p, const cJSON *item, struct policy_rule *r,
	   struct fault *f)
{
	const char *name;
	int rc = json_get_text(&p->json, item, "type", &name, f);

	if (rc)
		return rc;
	for (int i = 0; i < POLICY_TYPES; i++) {
		if (strcmp(name, S_type[i]) == 0) {
			r->type = (enum policy_type)i;
			return 0;
		}
	}
	return json_fault(&p->json, json_find(item, "type"), NULL, f,
			  "must be int, real, text, blob or null");
}

/* The keys that a matcher of this type may have. */
static int
S_check_keys(struct policy *p, const cJSON *item, enum policy_type type,
	     struct fault *f)
{
	static const char *const keys[POLICY_TYPES][5] = {
		[POLICY_INT] = { "type", "min", "max", NULL },
		[POLICY_REAL] = { "type", "min", "max", NULL },
		[POLICY_TEXT] = { "type", "length", "pattern", NULL },
		[POLICY_BLOB] = { "type", "length", NULL },
		[POLICY_NULL] = { "type", NULL },
	};

	return json_only(&p->json, item, keys[type], f);
}

static int
S_bound(struct policy *p, const cJSON *item, struct policy_rule *r,
	const char *key, bool *has, int64_t *i, double *d, struct fault *f)
{
	const cJSON *v = json_find(item, key);

	if (!v)
		return 0;
	*has = true;
	return r->type == POLICY_INT ? literal_int(&p->json, v, i, f)
				     : literal_real(&p->json, v, d, f);
}

static int
S_check_bounds(struct policy *p, const cJSON *item,
	       const struct policy_rule *r, struct fault *f)
{
	bool none;

	if (!r->has_min || !r->has_max)
		return 0;
	none = r->type == POLICY_INT ? r->min > r->max
				     : !(r->real_min <= r->real_max);
	return none ? json_fault(&p->json, item, NULL, f,
				 "min is more than max") : 0;
}

static int
S_typed(struct policy *p, const cJSON *item, struct policy_rule *r,
	struct fault *f)
{
	const cJSON *length;
	int rc = S_get_type(p, item, r, f);

	r->kind = POLICY_TYPE;
	if (!rc)
		rc = S_check_keys(p, item, r->type, f);
	if (!rc)
		rc = S_bound(p, item, r, "min", &r->has_min, &r->min,
			     &r->real_min, f);
	if (!rc)
		rc = S_bound(p, item, r, "max", &r->has_max, &r->max,
			     &r->real_max, f);
	if (!rc)
		rc = S_check_bounds(p, item, r, f);
	length = json_find(item, "length");
	if (!rc && length) {
		r->has_length = true;
		rc = parse_range(p, length, &r->length_min, &r->length_max, f);
	}
	if (!rc && json_find(item, "pattern"))
		rc = json_get_text(&p->json, item, "pattern", &r->pattern, f);
	if (!rc && r->pattern && strlen(r->pattern) > POLICY_GLOB_MAX)
		rc = json_fault(&p->json, item, "pattern", f,
				"longer than %u bytes", POLICY_GLOB_MAX);
	return rc;
}

static int
S_bind(struct policy *p, const cJSON *item, enum parse_place place,
       struct policy_rule *r, struct fault *f)
{
	static const char *const keys[] = { "bind", NULL };
	struct policy_bind *grown;
	const char *name;
	uint32_t i;
	int rc = json_only(&p->json, item, keys, f);

	if (!rc)
		rc = parse_name(p, item, "bind", &name, f);
	if (rc)
		return rc;
	if (strchr(name, '='))
		return json_fault(&p->json, item, "bind", f,
				  "must not hold '='");
	for (i = 0; i < p->nbind && strcmp(p->bind[i].name, name); i++)
		;
	if (i == p->nbind) {
		if (i == POLICY_BINDS_MAX)
			return json_fault(&p->json, item, NULL, f,
					  "more than %u names",
					  POLICY_BINDS_MAX);
		grown = reallocarray(p->bind, p->nbind + 1, sizeof(*grown));
		if (!grown)
			return parse_no_memory(f);
		p->bind = grown;
		p->bind[p->nbind++] = (struct policy_bind){ .name = name };
	}
	if (place == PARSE_EACH || place == PARSE_EACH_SET)
		p->bind[i].each_at = item;
	r->kind = POLICY_BIND;
	r->bind = i;
	return 0;
}

static int
S_add(struct policy *p, const cJSON *item, struct policy_rule *r,
      struct fault *f)
{
	static const char *const keys[] = { "add", NULL };
	int rc = json_only(&p->json, item, keys, f);

	r->kind = POLICY_ADD;
	return rc ? rc : literal_int(&p->json, json_find(item, "add"),
				     &r->add, f);
}

static int
S_same(struct policy *p, const cJSON *item, struct policy_rule *r,
       struct fault *f)
{
	static const char *const keys[] = { "same", NULL };
	int rc = json_only(&p->json, item, keys, f);

	r->kind = POLICY_SAME;
	if (!rc && !cJSON_IsTrue(json_find(item, "same")))
		rc = json_fault(&p->json, item, "same", f, "must be true");
	return rc;
}

static int
S_matcher(struct policy *p, const cJSON *item, enum parse_place place,
	  struct policy_rule *r, struct fault *f)
{
	bool changed = place == PARSE_SET || place == PARSE_EACH_SET;

	if (!cJSON_IsObject(item))
		return S_cell(p, item, r, f);
	if (json_find(item, "bind"))
		return S_bind(p, item, place, r, f);
	if (!changed && (json_find(item, "add") || json_find(item, "same")))
		return json_fault(&p->json, item, NULL, f,
				  "\"add\" and \"same\" are for what a changed"
				  " row becomes");
	if (json_find(item, "add"))
		return S_add(p, item, r, f);
	if (json_find(item, "same"))
		return S_same(p, item, r, f);
	if (json_find(item, "type"))
		return S_typed(p, item, r, f);
	return json_fault(&p->json, item, NULL, f, "no such matcher is known"
			  " here: it must be a cell, or have \"type\"%s",
			  changed ? ", \"bind\", \"add\" or \"same\""
				  : " or \"bind\"");
}

int
parse_rules(struct policy *p, const cJSON *obj, enum parse_place place,
	    struct policy_rules *rules, struct fault *f)
{
	int rc = json_as_object(&p->json, obj, f);

	if (rc)
		return rc;
	rules->item = calloc((size_t)cJSON_GetArraySize(obj) + 1,
			     sizeof(*rules->item));
	if (!rules->item)
		return parse_no_memory(f);
	for (const cJSON *c = obj->child; rc == 0 && c; c = c->next) {
		struct policy_rule *r = &rules->item[rules->n++];

		*r = (struct policy_rule){ .column = c->string, .at = c,
					   .index = -1 };
		rc = parse_key_name(p, c, f);
		if (!rc)
			rc = S_matcher(p, c, place, r, f);
	}
	return rc;
}

void
parse_rules_free(struct policy_rules *rules)
{
	for (uint32_t i = 0; i < rules->n; i++)
		free(rules->item[i].cell);
	free(rules->item);
	*rules = (struct policy_rules){ .item = NULL };
}
