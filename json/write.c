/*
 * write.c - building JSON with cJSON, with its failures as faults
 */
#include "json/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cell.h"
#include "base/own.h"
#include "json/base64.h"
#include "json/json.h"

static int
S_memory(struct fault *f)
{
	return fault_set(f, FAULT_TROUBLE, "out of memory: JSON");
}

static int
S_added(const cJSON *item, struct fault *f)
{
	return item ? 0 : S_memory(f);
}

int
json_new_object(cJSON **root, struct fault *f)
{
	*root = cJSON_CreateObject();
	return S_added(*root, f);
}

int
json_add_object(cJSON *obj, const char *key, cJSON **child, struct fault *f)
{
	*child = cJSON_AddObjectToObject(obj, key);
	return S_added(*child, f);
}

int
json_add_array(cJSON *obj, const char *key, cJSON **child, struct fault *f)
{
	*child = cJSON_AddArrayToObject(obj, key);
	return S_added(*child, f);
}

int
json_append_object(cJSON *array, cJSON **child, struct fault *f)
{
	OWN_CJSON(item);

	item = cJSON_CreateObject();
	if (!item || !cJSON_AddItemToArray(array, item))
		return S_memory(f);
	*child = item;
	item = NULL;
	return 0;
}

int
json_add_text(cJSON *obj, const char *key, const char *text, struct fault *f)
{
	MUST(cell_utf8_check(text, strlen(text)) == 0);
	return S_added(cJSON_AddStringToObject(obj, key, text), f);
}

int
json_add_bool(cJSON *obj, const char *key, bool v, struct fault *f)
{
	return S_added(cJSON_AddBoolToObject(obj, key, v), f);
}

int
json_add_null(cJSON *obj, const char *key, struct fault *f)
{
	return S_added(cJSON_AddNullToObject(obj, key), f);
}

int
json_add_int(cJSON *obj, const char *key, int64_t v, struct fault *f)
{
	char text[24];

	MUST(v >= -JSON_INT_MAX && v <= JSON_INT_MAX);
	/* cJSON prints doubles of more than 15 digits only nearly. */
	(void)snprintf(text, sizeof(text), "%" PRId64, v);
	return S_added(cJSON_AddRawToObject(obj, key, text), f);
}

int
json_add_u64(cJSON *obj, const char *key, uint64_t v, struct fault *f)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, v);
	return json_add_text(obj, key, text, f);
}

int
json_add_i64(cJSON *obj, const char *key, int64_t v, struct fault *f)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, v);
	return json_add_text(obj, key, text, f);
}

static int
S_add_base64(cJSON *obj, const char *key, const void *bytes, size_t n,
	     struct fault *f)
{
	OWN_MEM(char, key64);
	OWN_MEM(char, text);
	int rc = base64_encode(bytes, n, &text, f);

	if (rc)
		return rc;
	if (asprintf(&key64, "%s64", key) < 0) {
		key64 = NULL;
		return S_memory(f);
	}
	return json_add_text(obj, key64, text, f);
}

int
json_add_name(cJSON *obj, const char *key, const void *bytes, size_t n,
	      struct fault *f)
{
	OWN_MEM(char, text);

	if (cell_utf8_check(bytes, n) || memchr(bytes, '\0', n))
		return S_add_base64(obj, key, bytes, n, f);
	text = strndup(bytes, n);
	if (!text)
		return S_memory(f);
	return json_add_text(obj, key, text, f);
}

int
json_print(const cJSON *root, bool indented, struct buf *b, struct fault *f)
{
	char *text = indented ? cJSON_Print(root) : cJSON_PrintUnformatted(root);
	int rc;

	if (!text)
		return S_memory(f);
	rc = buf_append(b, text, strlen(text), f);
	cJSON_free(text);
	return rc;
}
