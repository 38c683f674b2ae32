/*
 * parse.c - a policy out of its document, strictly
 */
#include "policy/parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "policy/literal.h"

static const struct json_rules S_rules = {
	.bytes = POLICY_BYTES_MAX,
	.depth = POLICY_DEPTH_MAX,
	.values = POLICY_VALUES_MAX,
	.integers = true,
	.code = FAULT_USAGE,
};

int
parse_no_memory(struct fault *f)
{
	return fault_set(f, FAULT_TROUBLE, "out of memory: policy");
}

static int
S_check_name(const struct policy *p, const cJSON *item, const char *key,
	     const char *name, struct fault *f)
{
	if (!*name)
		return json_fault(&p->json, item, key, f, "must not be empty");
	if (strlen(name) > POLICY_NAME_MAX)
		return json_fault(&p->json, item, key, f,
				  "a name of more than %u bytes",
				  POLICY_NAME_MAX);
	return 0;
}

int
parse_name(const struct policy *p, const cJSON *obj, const char *key,
	   const char **name, struct fault *f)
{
	int rc = json_get_text(&p->json, obj, key, name, f);

	return rc ? rc : S_check_name(p, obj, key, *name, f);
}

int
parse_key_name(const struct policy *p, const cJSON *item, struct fault *f)
{
	return S_check_name(p, item, NULL, item->string, f);
}

/* max of {"min":…} is without bound. */
static int
S_range_object(const struct policy *p, const cJSON *obj, int64_t *min,
	       int64_t *max, struct fault *f)
{
	static const char *const keys[] = { "min", "max", NULL };
	int rc = json_only(&p->json, obj, keys, f);

	*min = 0;
	*max = INT64_MAX;
	if (!rc && json_find(obj, "min"))
		rc = json_get_int(&p->json, obj, "min", 0, JSON_INT_MAX, min,
				  f);
	if (!rc && json_find(obj, "max"))
		rc = json_get_int(&p->json, obj, "max", 0, JSON_INT_MAX, max,
				  f);
	if (!rc && !obj->child)
		rc = json_fault(&p->json, obj, NULL, f,
				"must have min or max");
	if (!rc && *min > *max)
		rc = json_fault(&p->json, obj, NULL, f,
				"min is more than max");
	return rc;
}

int
parse_range(const struct policy *p, const cJSON *item, uint64_t *min,
	    uint64_t *max, struct fault *f)
{
	int64_t low = -1, high;
	int rc;

	if (cJSON_IsObject(item)) {
		rc = S_range_object(p, item, &low, &high, f);
	} else {
		rc = cJSON_IsNumber(item) ? literal_int(&p->json, item, &low,
							f) : 0;
		high = low;
		if (!rc && low < 0)
			rc = json_fault(&p->json, item, NULL, f,
					"must be a whole number from 0, or"
					" {\"min\":...,\"max\":...}");
	}
	*min = (uint64_t)low;
	*max = (uint64_t)high;
	return rc;
}

static int
S_document(struct policy *p, struct fault *f)
{
	static const char *const keys[] = { "policy", "settings", "schema",
					    "tables", NULL };
	const cJSON *root = p->json.root, *part;
	const char *format;
	int rc = json_as_object(&p->json, root, f);

	if (!rc)
		rc = json_get_text(&p->json, root, "policy", &format, f);
	if (!rc && strcmp(format, POLICY_FORMAT))
		rc = json_fault(&p->json, root, "policy", f,
				"must be \"" POLICY_FORMAT "\"");
	if (!rc)
		rc = json_only(&p->json, root, keys, f);
	if (!rc && (part = json_find(root, "settings")))
		rc = parse_settings(p, part, f);
	if (!rc && (part = json_find(root, "schema")))
		rc = parse_schema(p, part, f);
	if (!rc && (part = json_find(root, "tables")))
		rc = parse_tables(p, part, f);
	return rc;
}

static int
S_bind_cell(struct policy_bind *b, const char *text, struct fault *f)
{
	struct buf cell = BUF_INIT(POLICY_BYTES_MAX + 64);
	OWN_JSON(j);
	int rc = json_parse(&j, text, strlen(text), &S_rules, f);

	if (!rc)
		rc = literal_put(&j, j.root, &cell, f);
	if (rc) {
		buf_free(&cell);
		return rc;
	}
	b->cell = cell.data;
	b->len = cell.len;
	return 0;
}

/* Which names there are: as many as a hint has room for. */
static int
S_no_such_bind(const struct policy *p, const char *word, size_t n,
	       struct fault *f)
{
	struct buf names = BUF_INIT(FAULT_HINT_MAX / 2);
	size_t i = 0;

	while (i < p->nbind && !buf_printf(&names, f, "%s%s", i ? ", " : "",
					   p->bind[i].name))
		i++;
	(void)fault_set(f, FAULT_USAGE, "--bind %.*s: no pattern of the policy"
			" uses this name", (int)n, word);
	if (i == 0)
		(void)fault_hint(f, "the policy has %s", p->nbind
				 ? "other names" : "no names");
	else if (i == p->nbind)
		(void)fault_hint(f, "the policy's names: %.*s",
				 (int)names.len, names.data);
	else
		(void)fault_hint(f, "the policy's names: %.*s and %zu more",
				 (int)names.len, names.data, p->nbind - i);
	buf_free(&names);
	return -FAULT_USAGE;
}

static int
S_bind(struct policy *p, const char *word, struct fault *f)
{
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : 0;
	struct policy_bind *b = p->bind;
	int rc;

	if (n == 0)
		return fault_set(f, FAULT_USAGE, "--bind %s: not NAME=CELL",
				 word);
	while (b < p->bind + p->nbind &&
	       (strlen(b->name) != n || memcmp(b->name, word, n)))
		b++;
	if (b == p->bind + p->nbind)
		return S_no_such_bind(p, word, n, f);
	if (b->given)
		return fault_set(f, FAULT_USAGE, "--bind %.*s: given twice",
				 (int)n, word);
	b->given = true;
	rc = S_bind_cell(b, equals + 1, f);
	if (rc == -FAULT_USAGE) {
		(void)fault_wrap(f, "--bind %.*s", (int)n, word);
		(void)fault_hint(f, "a cell is written as in the policy:"
				 " --bind '%.*s=[\"int\",\"7\"]'", (int)n,
				 word);
	}
	return rc;
}

/* The rows of an "each" are not kept, so what it compares with is known. */
static int
S_check_each(const struct policy *p, struct fault *f)
{
	for (size_t i = 0; i < p->nbind; i++)
		if (p->bind[i].each_at && !p->bind[i].given)
			return json_fault(&p->json, p->bind[i].each_at, NULL,
					  f, "a name in \"each\" needs"
					  " --bind %s=CELL", p->bind[i].name);
	return 0;
}

int
policy_parse(struct policy **p, const void *bytes, size_t n,
	     const char *const *bind, size_t nbind, struct fault *f)
{
	OWN_POLICY(got);
	int rc;

	got = calloc(1, sizeof(*got));
	if (!got)
		return parse_no_memory(f);
	rc = json_parse(&got->json, bytes, n, &S_rules, f);
	if (!rc)
		rc = S_document(got, f);
	for (size_t i = 0; rc == 0 && i < nbind; i++)
		rc = S_bind(got, bind[i], f);
	if (!rc)
		rc = S_check_each(got, f);
	if (rc)
		return rc;
	*p = got;
	got = NULL;
	return 0;
}

int
policy_empty(struct policy **p, struct fault *f)
{
	static const char text[] = "{\"policy\":\"" POLICY_FORMAT "\"}";

	return policy_parse(p, text, sizeof(text) - 1, NULL, 0, f);
}

void
policy_free(struct policy *p)
{
	if (!p)
		return;
	parse_tables_free(p);
	for (int i = 0; i < POLICY_OBJECT_LISTS; i++)
		free(p->object[i]);
	for (int i = 0; i < POLICY_COLUMN_LISTS; i++)
		free(p->column[i]);
	for (size_t i = 0; i < p->nbind; i++)
		free(p->bind[i].cell);
	free(p->bind);
	free(p->setting);
	free(p->rename);
	renames_free(&p->renames);
	json_free(&p->json);
	free(p);
}
