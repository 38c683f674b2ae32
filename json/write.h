/*
 * write.h - building JSON with cJSON, with its failures as faults
 *
 * Every json_add_* gives FAULT_TROUBLE out of memory and nothing else. The
 * object keeps what was added; the caller frees the root (OWN_CJSON).
 */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fault.h"

/* A new root; the caller owns it. */
int
json_new_object(cJSON **root, struct fault *f);

/* Each puts a new child into obj; *child is borrowed. */
int
json_add_object(cJSON *obj, const char *key, cJSON **child, struct fault *f);
int
json_add_array(cJSON *obj, const char *key, cJSON **child, struct fault *f);
int
json_append_object(cJSON *array, cJSON **child, struct fault *f);

/* text: valid UTF-8 that we chose. For other bytes: json_add_name. */
int
json_add_text(cJSON *obj, const char *key, const char *text, struct fault *f);
int
json_add_bool(cJSON *obj, const char *key, bool v, struct fault *f);
int
json_add_null(cJSON *obj, const char *key, struct fault *f);
/* -JSON_INT_MAX to JSON_INT_MAX */
int
json_add_int(cJSON *obj, const char *key, int64_t v, struct fault *f);
/* 64-bit integers travel as text: "18446744073709551615" */
int
json_add_u64(cJSON *obj, const char *key, uint64_t v, struct fault *f);
int
json_add_i64(cJSON *obj, const char *key, int64_t v, struct fault *f);
/*
 * Raw bytes: text under key where they are valid UTF-8 without NUL, else
 * base64 under key64. json_get_name reads it back.
 */
int
json_add_name(cJSON *obj, const char *key, const void *bytes, size_t n,
	      struct fault *f);

/* Appends the text to b: in one line, or indented. No newline behind. */
int
json_print(const cJSON *root, bool indented, struct buf *b, struct fault *f);

static inline void
own_cjson_free(cJSON **c)
{
	cJSON_Delete(*c);
	*c = NULL;
}

#define OWN_CJSON(name) \
	cJSON *name __attribute__((cleanup(own_cjson_free))) = NULL

#endif
