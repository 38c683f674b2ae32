/*
 * parse_schema.c - what may happen to settings and schema, out of the document
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy/parse.h"

static const char *const S_objects[POLICY_OBJECT_LISTS] = {
	[POLICY_ADD_LIST] = "add",
	[POLICY_DROP] = "drop",
	[POLICY_CHANGE] = "change",
};

static const char *const S_columns[POLICY_COLUMN_LISTS] = {
	[POLICY_ADD_COLUMN] = "add_column",
	[POLICY_DROP_COLUMN] = "drop_column",
};

static int
S_setting_value(const struct policy *p, const cJSON *obj, const char *key,
		int64_t *v, const char **text, struct fault *f)
{
	if (strcmp(obj->string, "encoding") == 0)
		return json_get_text(&p->json, obj, key, text, f);
	return json_get_int(&p->json, obj, key, INT32_MIN, INT32_MAX, v, f);
}

static int
S_setting(const struct policy *p, const cJSON *obj, struct policy_setting *s,
	  struct fault *f)
{
	static const char *const keys[] = { "from", "to", NULL };
	int rc = json_as_object(&p->json, obj, f);

	*s = (struct policy_setting){ .name = obj->string, .at = obj };
	if (!rc)
		rc = json_only(&p->json, obj, keys, f);
	if (!rc)
		rc = S_setting_value(p, obj, "from", &s->from, &s->from_text,
				     f);
	if (!rc)
		rc = S_setting_value(p, obj, "to", &s->to, &s->to_text, f);
	if (!rc && (s->to_text ? strcmp(s->from_text, s->to_text) == 0
			       : s->from == s->to))
		rc = json_fault(&p->json, obj, NULL, f,
				"from and to are the same: that is no change");
	return rc;
}

int
parse_settings(struct policy *p, const cJSON *obj, struct fault *f)
{
	static const char *const keys[] = {
		"user_version", "application_id", "auto_vacuum", "page_size",
		"encoding", NULL,
	};
	int rc = json_as_object(&p->json, obj, f);

	if (!rc)
		rc = json_only(&p->json, obj, keys, f);
	if (rc)
		return rc;
	p->settings_at = obj;
	p->setting = calloc((size_t)cJSON_GetArraySize(obj) + 1,
			    sizeof(*p->setting));
	if (!p->setting)
		return parse_no_memory(f);
	for (const cJSON *c = obj->child; rc == 0 && c; c = c->next)
		rc = S_setting(p, c, &p->setting[p->nsetting++], f);
	return rc;
}

/* The items of a list of objects, as an array of size'd elements. */
static int
S_list(struct policy *p, const cJSON *schema, const char *key, size_t size,
       void *array, const cJSON **first, struct fault *f)
{
	const cJSON *list = NULL;
	void *got;
	int rc;

	*first = NULL;
	if (!json_find(schema, key))
		return 0;
	rc = json_get_array(&p->json, schema, key, &list, f);
	for (const cJSON *c = list ? list->child : NULL; rc == 0 && c;
	     c = c->next)
		rc = json_as_object(&p->json, c, f);
	if (rc)
		return rc;
	got = calloc((size_t)cJSON_GetArraySize(list) + 1, size);
	if (!got)
		return parse_no_memory(f);
	memcpy(array, &got, sizeof(got));
	*first = list->child;
	return 0;
}

static int
S_order_objects(const void *a, const void *b)
{
	const struct policy_object *x = a, *y = b;
	int d = strcmp(x->type, y->type);

	return d ? d : strcasecmp(x->name, y->name);
}

static int
S_object(const struct policy *p, const cJSON *obj, bool has_sql,
	 struct policy_object *o, struct fault *f)
{
	static const char *const plain[] = { "type", "name", NULL };
	static const char *const with_sql[] = { "type", "name", "sql", NULL };
	static const char *const types[] = { "table", "index", "view",
					     "trigger" };
	bool known = false;
	int rc = json_only(&p->json, obj, has_sql ? with_sql : plain, f);

	o->at = obj;
	if (!rc)
		rc = json_get_text(&p->json, obj, "type", &o->type, f);
	for (size_t i = 0; rc == 0 && i < 4; i++)
		known |= strcmp(o->type, types[i]) == 0;
	if (!rc && !known)
		rc = json_fault(&p->json, obj, "type", f,
				"must be table, index, view or trigger");
	if (!rc)
		rc = parse_name(p, obj, "name", &o->name, f);
	if (!rc && json_find(obj, "sql"))
		rc = json_get_text(&p->json, obj, "sql", &o->sql, f);
	return rc;
}

static int
S_object_list(struct policy *p, const cJSON *schema,
	      enum policy_object_list which, struct fault *f)
{
	struct policy_object *o;
	const cJSON *c;
	size_t n = 0;
	int rc = S_list(p, schema, S_objects[which], sizeof(*o),
			&p->object[which], &c, f);

	o = p->object[which];
	for (; rc == 0 && c; c = c->next)
		rc = S_object(p, c, which != POLICY_DROP, &o[n++], f);
	if (rc || n == 0)
		return rc;
	p->nobject[which] = n;
	qsort(o, n, sizeof(*o), S_order_objects);
	for (size_t i = 1; i < n; i++)
		if (S_order_objects(&o[i - 1], &o[i]) == 0)
			return json_fault(&p->json, o[i].at, NULL, f,
					  "the object stands there twice");
	return 0;
}

static int
S_column(const struct policy *p, const cJSON *obj, bool added,
	 struct policy_column *c, struct fault *f)
{
	static const char *const plain[] = { "table", "name", NULL };
	static const char *const full[] = { "table", "name", "type",
					    "notnull", "default", NULL };
	int rc = json_only(&p->json, obj, added ? full : plain, f);

	c->at = obj;
	c->type = "";
	if (!rc)
		rc = parse_name(p, obj, "table", &c->table, f);
	if (!rc)
		rc = parse_name(p, obj, "name", &c->name, f);
	if (!rc && json_find(obj, "type"))
		rc = json_get_text(&p->json, obj, "type", &c->type, f);
	if (!rc && json_find(obj, "notnull"))
		rc = json_get_bool(&p->json, obj, "notnull", &c->notnull, f);
	if (!rc && json_find(obj, "default"))
		rc = json_get_text(&p->json, obj, "default", &c->dflt, f);
	return rc;
}

static int
S_order_columns(const void *a, const void *b)
{
	const struct policy_column *x = a, *y = b;
	int d = strcasecmp(x->table, y->table);

	return d ? d : strcasecmp(x->name, y->name);
}

static int
S_column_list(struct policy *p, const cJSON *schema,
	      enum policy_column_list which, struct fault *f)
{
	struct policy_column *col;
	const cJSON *c;
	size_t n = 0;
	int rc = S_list(p, schema, S_columns[which], sizeof(*col),
			&p->column[which], &c, f);

	col = p->column[which];
	for (; rc == 0 && c; c = c->next)
		rc = S_column(p, c, which == POLICY_ADD_COLUMN, &col[n++], f);
	if (rc || n == 0)
		return rc;
	p->ncolumn[which] = n;
	qsort(col, n, sizeof(*col), S_order_columns);
	for (size_t i = 1; i < n; i++)
		if (S_order_columns(&col[i - 1], &col[i]) == 0)
			return json_fault(&p->json, col[i].at, NULL, f,
					  "the column stands there twice");
	return 0;
}

/* Another rename has the same old or the same new name. */
static bool
S_clashes(const struct policy *p, const struct policy_rename *one)
{
	for (size_t i = 0; i < p->nrename; i++) {
		const struct policy_rename *r = &p->rename[i];

		if (!r->table != !one->table ||
		    (r->table && strcasecmp(r->table, one->table)))
			continue;
		if (strcasecmp(r->from, one->from) == 0 ||
		    strcasecmp(r->to, one->to) == 0)
			return true;
	}
	return false;
}

static int
S_rename(struct policy *p, const cJSON *obj, bool column, struct fault *f)
{
	static const char *const plain[] = { "from", "to", NULL };
	static const char *const full[] = { "table", "from", "to", NULL };
	struct policy_rename r = { .at = obj };
	int rc = json_only(&p->json, obj, column ? full : plain, f);

	if (!rc && column)
		rc = parse_name(p, obj, "table", &r.table, f);
	if (!rc)
		rc = parse_name(p, obj, "from", &r.from, f);
	if (!rc)
		rc = parse_name(p, obj, "to", &r.to, f);
	if (!rc && strcmp(r.from, r.to) == 0)
		rc = json_fault(&p->json, obj, NULL, f,
				"from and to are the same");
	if (!rc && S_clashes(p, &r))
		rc = json_fault(&p->json, obj, NULL, f,
				"another rename has one of these names");
	if (rc)
		return rc;
	p->rename[p->nrename++] = r;
	rc = renames_add(&p->renames, r.table, r.from, r.to, f);
	return rc == -FAULT_CAP ? json_fault(&p->json, obj, NULL, f,
					     "more than %u renames",
					     RENAMES_MAX) : rc;
}

/* Does AFTER have something else by the old name, as the policy says? */
static bool
S_is_used_again(const struct policy *p, const struct policy_rename *r)
{
	for (size_t i = 0; i < p->nrename; i++) {
		const struct policy_rename *o = &p->rename[i];

		if (o != r && !o->table == !r->table &&
		    (!r->table || strcasecmp(o->table, r->table) == 0) &&
		    strcasecmp(o->to, r->from) == 0)
			return true;
	}
	for (size_t i = 0; r->table && i < p->ncolumn[POLICY_ADD_COLUMN]; i++) {
		const struct policy_column *c =
			&p->column[POLICY_ADD_COLUMN][i];

		if (strcasecmp(c->table, r->table) == 0 &&
		    strcasecmp(c->name, r->from) == 0)
			return true;
	}
	for (size_t i = 0; !r->table && i < p->nobject[POLICY_ADD_LIST]; i++)
		if (strcasecmp(p->object[POLICY_ADD_LIST][i].name,
			       r->from) == 0)
			return true;
	return false;
}

/*
 * A text that stays as it is would mean another column or table by the same
 * word, and what does not differ never comes before the judge.
 */
static int
S_check_old_names(const struct policy *p, struct fault *f)
{
	for (size_t i = 0; i < p->nrename; i++)
		if (S_is_used_again(p, &p->rename[i]))
			return json_fault(&p->json, p->rename[i].at, "from", f,
					  "the old name is in use again: what"
					  " unchanged text means by it can't be"
					  " told; capture between the two"
					  " steps");
	return 0;
}

static int
S_rename_lists(struct policy *p, const cJSON *schema, struct fault *f)
{
	const cJSON *tables, *columns;
	struct policy_rename *grown, *scrap = NULL;
	int n, rc;

	rc = S_list(p, schema, "rename_table", sizeof(*scrap), &scrap,
		    &tables, f);
	free(scrap);
	scrap = NULL;
	if (!rc)
		rc = S_list(p, schema, "rename_column", sizeof(*scrap),
			    &scrap, &columns, f);
	free(scrap);
	if (rc)
		return rc;
	n = cJSON_GetArraySize(json_find(schema, "rename_table")) +
	    cJSON_GetArraySize(json_find(schema, "rename_column"));
	grown = calloc((size_t)n + 1, sizeof(*grown));
	if (!grown)
		return parse_no_memory(f);
	p->rename = grown;
	for (; rc == 0 && tables; tables = tables->next)
		rc = S_rename(p, tables, false, f);
	for (; rc == 0 && columns; columns = columns->next)
		rc = S_rename(p, columns, true, f);
	return rc;
}

int
parse_schema(struct policy *p, const cJSON *obj, struct fault *f)
{
	static const char *const keys[] = {
		"add", "drop", "change", "add_column", "drop_column",
		"rename_column", "rename_table", NULL,
	};
	int rc = json_as_object(&p->json, obj, f);

	if (!rc)
		rc = json_only(&p->json, obj, keys, f);
	p->schema_at = obj;
	for (int i = 0; rc == 0 && i < POLICY_OBJECT_LISTS; i++)
		rc = S_object_list(p, obj, (enum policy_object_list)i, f);
	for (int i = 0; rc == 0 && i < POLICY_COLUMN_LISTS; i++)
		rc = S_column_list(p, obj, (enum policy_column_list)i, f);
	if (!rc)
		rc = S_rename_lists(p, obj, f);
	return rc ? rc : S_check_old_names(p, f);
}
