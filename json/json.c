/*
 * json.c - strict reading of JSON around cJSON
 */
#include "json/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "json/base64.h"
#include "json/scan.h"

#define KEY64_MAX 64u
#define JSON_SENTENCE_MAX 512u

struct pointer {
	char text[JSON_POINTER_MAX];	/* cut short where it would be longer */
	size_t len;
};

static void
S_pointer_byte(struct pointer *p, char c)
{
	if (p->len + 1 < sizeof(p->text))
		p->text[p->len++] = c;
	p->text[p->len] = '\0';
}

/* RFC 6901's escapes; control characters as JSON spells them. */
static void
S_pointer_push(struct pointer *p, const char *key)
{
	char spelled[8];

	S_pointer_byte(p, '/');
	for (; *key; key++) {
		unsigned char c = (unsigned char)*key;

		if (c == '~' || c == '/')
			(void)snprintf(spelled, sizeof(spelled), "~%d",
				       c == '/');
		else if (c < 0x20 || c == 0x7f)
			(void)snprintf(spelled, sizeof(spelled), "\\u%04x", c);
		else
			(void)snprintf(spelled, sizeof(spelled), "%c", c);
		for (const char *s = spelled; *s; s++)
			S_pointer_byte(p, *s);
	}
}

/* Down the tree to item; p is left as it came where item is not below. */
static bool
S_pointer_find(const cJSON *from, const cJSON *item, struct pointer *p)
{
	size_t len = p->len;
	unsigned i = 0;
	const cJSON *c;
	char index[16];

	if (from == item)
		return true;
	for (c = from->child; c; c = c->next, i++) {
		(void)snprintf(index, sizeof(index), "%u", i);
		S_pointer_push(p, cJSON_IsObject(from) ? c->string : index);
		if (S_pointer_find(c, item, p))
			return true;
		p->len = len;
		p->text[len] = '\0';
	}
	return false;
}

void
json_pointer(const struct json *j, const cJSON *item,
	     char text[JSON_POINTER_MAX])
{
	struct pointer p = { .len = 0 };

	if (j->root && item)
		(void)S_pointer_find(j->root, item, &p);
	(void)strcpy(text, p.text);
}

int
json_fault(const struct json *j, const cJSON *item, const char *key,
	   struct fault *f, const char *fmt, ...)
{
	struct pointer p = { .len = 0 };
	char what[JSON_SENTENCE_MAX];
	va_list ap;

	if (j->root && item)
		(void)S_pointer_find(j->root, item, &p);
	if (key)
		S_pointer_push(&p, key);
	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return fault_set(f, j->code, "%s: %s", p.len ? p.text : "the top",
			 what);
}

static int
S_compare_keys(const void *a, const void *b)
{
	const cJSON *const *x = a, *const *y = b;

	return strcmp((*x)->string, (*y)->string);
}

/* Sorted, so that an object of many keys costs no more than it should. */
static int
S_check_object(const struct json *j, const cJSON *obj, struct fault *f)
{
	OWN_MEM(const cJSON *, all);
	size_t n = 0;
	const cJSON *c;

	for (c = obj->child; c; c = c->next)
		n++;
	if (n < 2)
		return 0;
	all = calloc(n, sizeof(*all));
	if (!all)
		return fault_set(f, FAULT_TROUBLE, "out of memory: JSON");
	n = 0;
	for (c = obj->child; c; c = c->next)
		all[n++] = c;
	qsort(all, n, sizeof(*all), S_compare_keys);
	for (size_t i = 1; i < n; i++)
		if (strcmp(all[i - 1]->string, all[i]->string) == 0)
			return json_fault(j, all[i], NULL, f,
					  "the key is there twice");
	return 0;
}

static int
S_check_keys(const struct json *j, const cJSON *item, struct fault *f)
{
	int rc = cJSON_IsObject(item) ? S_check_object(j, item, f) : 0;

	for (const cJSON *c = item->child; rc == 0 && c; c = c->next)
		rc = S_check_keys(j, c, f);
	return rc;
}

int
json_parse(struct json *j, const void *bytes, size_t n,
	   const struct json_rules *rules, struct fault *f)
{
	OWN_JSON(got);
	int rc = scan_json(bytes, n, rules, f);

	if (rc)
		return rc;
	got.code = rules->code;
	got.root = cJSON_ParseWithLength(bytes, n);
	if (!got.root)
		return fault_set(f, FAULT_TROUBLE, "out of memory: JSON");
	rc = S_check_keys(&got, got.root, f);
	if (rc)
		return rc;
	*j = got;
	got.root = NULL;
	return 0;
}

void
json_free(struct json *j)
{
	cJSON_Delete(j->root);
	j->root = NULL;
}

const cJSON *
json_find(const cJSON *obj, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(obj, key);
}

int
json_as_object(const struct json *j, const cJSON *item, struct fault *f)
{
	if (!cJSON_IsObject(item))
		return json_fault(j, item, NULL, f, "must be an object");
	return 0;
}

int
json_get(const struct json *j, const cJSON *obj, const char *key,
	 const cJSON **item, struct fault *f)
{
	const cJSON *got = json_find(obj, key);

	if (!got)
		return json_fault(j, obj, key, f, "is missing");
	*item = got;
	return 0;
}

static int
S_get_kind(const struct json *j, const cJSON *obj, const char *key,
	   cJSON_bool (*is)(const cJSON *), const char *kind,
	   const cJSON **item, struct fault *f)
{
	const cJSON *got = NULL;
	int rc = json_get(j, obj, key, &got, f);

	if (rc)
		return rc;
	if (!is(got))
		return json_fault(j, got, NULL, f, "must be %s", kind);
	*item = got;
	return 0;
}

int
json_get_object(const struct json *j, const cJSON *obj, const char *key,
		const cJSON **item, struct fault *f)
{
	return S_get_kind(j, obj, key, cJSON_IsObject, "an object", item, f);
}

int
json_get_array(const struct json *j, const cJSON *obj, const char *key,
	       const cJSON **item, struct fault *f)
{
	return S_get_kind(j, obj, key, cJSON_IsArray, "an array", item, f);
}

int
json_get_text(const struct json *j, const cJSON *obj, const char *key,
	      const char **text, struct fault *f)
{
	const cJSON *item = NULL;
	int rc = S_get_kind(j, obj, key, cJSON_IsString, "a string", &item, f);

	if (rc == 0)
		*text = item->valuestring;
	return rc;
}

int
json_get_bool(const struct json *j, const cJSON *obj, const char *key,
	      bool *v, struct fault *f)
{
	const cJSON *item = NULL;
	int rc = S_get_kind(j, obj, key, cJSON_IsBool, "true or false", &item,
			    f);

	if (rc == 0)
		*v = cJSON_IsTrue(item);
	return rc;
}

int
json_get_int(const struct json *j, const cJSON *obj, const char *key,
	     int64_t min, int64_t max, int64_t *v, struct fault *f)
{
	const cJSON *item = NULL;
	int rc = S_get_kind(j, obj, key, cJSON_IsNumber, "a number", &item, f);
	double d;

	if (rc)
		return rc;
	d = item->valuedouble;
	if (!(d >= (double)-JSON_INT_MAX && d <= (double)JSON_INT_MAX)
	    || d != (double)(int64_t)d)
		return json_fault(j, item, NULL, f, "must be an integer");
	if ((int64_t)d < min || (int64_t)d > max)
		return json_fault(j, item, NULL, f,
				  "must be from %lld to %lld", (long long)min,
				  (long long)max);
	*v = (int64_t)d;
	return 0;
}

/* 0, or 1: not the one decimal spelling of a number below 2^64. */
static int
S_u64(const char *text, uint64_t *v)
{
	uint64_t n = 0;

	if (!*text || (text[0] == '0' && text[1]))
		return 1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9'
		    || __builtin_mul_overflow(n, 10u, &n)
		    || __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n))
			return 1;
	}
	*v = n;
	return 0;
}

int
json_get_u64_text(const struct json *j, const cJSON *obj, const char *key,
		  uint64_t *v, struct fault *f)
{
	const char *text = NULL;
	int rc = json_get_text(j, obj, key, &text, f);

	if (rc == 0 && S_u64(text, v))
		rc = json_fault(j, obj, key, f,
				"must be a whole number in a string");
	return rc;
}

int
json_get_digest(const struct json *j, const cJSON *obj, const char *key,
		unsigned char raw[DIGEST_BYTES], struct fault *f)
{
	const char *text = NULL;
	int rc = json_get_text(j, obj, key, &text, f);

	if (rc == 0 && digest_unhex(text, raw))
		rc = json_fault(j, obj, key, f,
				"must be 64 lower-case hexadecimal digits");
	return rc;
}

int
json_get_name(const struct json *j, const cJSON *obj, const char *key,
	      char **bytes, size_t *n, struct fault *f)
{
	const char *text = NULL;
	unsigned char *raw = NULL;
	char key64[KEY64_MAX];
	int rc;

	MUST(strlen(key) + 3 <= sizeof(key64));
	(void)snprintf(key64, sizeof(key64), "%s64", key);
	if (!json_find(obj, key64)) {
		rc = json_get_text(j, obj, key, &text, f);
		if (rc)
			return rc;
		*bytes = strdup(text);
		if (!*bytes)
			return fault_set(f, FAULT_TROUBLE,
					 "out of memory: JSON");
		*n = strlen(text);
		return 0;
	}
	if (json_find(obj, key))
		return json_fault(j, obj, key64, f,
				  "stands beside %s: one of the two", key);
	rc = json_get_text(j, obj, key64, &text, f);
	if (rc)
		return rc;
	rc = base64_decode(text, &raw, n, f);
	if (rc == 1)
		return json_fault(j, obj, key64, f, "must be base64");
	if (rc == 0)
		*bytes = (char *)raw;
	return rc;
}

/* "a, b, c", cut short where it would be longer. */
static void
S_join(const char *const *words, char *text, size_t room)
{
	size_t n = 0;

	text[0] = '\0';
	for (; *words && n < room; words++)
		n += (size_t)snprintf(text + n, room - n, "%s%s",
				      n ? ", " : "", *words);
}

int
json_only(const struct json *j, const cJSON *obj, const char *const *keys,
	  struct fault *f)
{
	char known[JSON_SENTENCE_MAX / 2];

	for (const cJSON *c = obj->child; c; c = c->next) {
		const char *const *k = keys;

		while (*k && strcmp(*k, c->string) != 0)
			k++;
		if (*k)
			continue;
		S_join(keys, known, sizeof(known));
		return json_fault(j, c, NULL, f, "no such key is known here,"
				  " only %s", known);
	}
	return 0;
}
