/*
 * json.h - strict reading of JSON around cJSON
 *
 * cJSON takes trailing text and a byte order mark, keeps duplicate keys,
 * ends a string at \u0000 and keeps no positions. So the bytes are scanned
 * first against RFC 8259 (json/scan.h), and the tree is checked after.
 *
 * Trust: the bytes may be the attacker's. Size, depth and number of values
 * are capped before the tree is built.
 *
 * Lifecycle: json_parse, the getters, json_free. Items are borrowed from
 * the tree. Messages name the place: line and column (in bytes, from 1) for
 * syntax, a JSON Pointer (RFC 6901) for meaning.
 */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"

struct json_rules {
	size_t bytes;		/* the whole text */
	unsigned depth;		/* arrays and objects inside one another */
	size_t values;		/* of all kinds: bounds the tree's memory */
	bool integers;		/* no number has a fraction or an exponent */
	enum fault_code code;	/* of every fault about the text itself */
};

struct json {
	cJSON *root;		/* owned */
	enum fault_code code;
};

#define JSON_INIT { .root = NULL, .code = FAULT_USAGE }

/* Integers beyond this are not exact in a double: they travel as text. */
#define JSON_INT_MAX 9007199254740991ll

/*
 * One value, strictly; rules->code for anything wrong with the text,
 * FAULT_TROUBLE out of memory. j is empty before and after a failure.
 */
int
json_parse(struct json *j, const void *bytes, size_t n,
	   const struct json_rules *rules, struct fault *f);
void
json_free(struct json *j);

/*
 * The getters: j->code where the key is missing or its value is of another
 * kind or range. obj must be an object (json_as_object checks).
 */
int
json_as_object(const struct json *j, const cJSON *item, struct fault *f);
int
json_get(const struct json *j, const cJSON *obj, const char *key,
	 const cJSON **item, struct fault *f);
int
json_get_object(const struct json *j, const cJSON *obj, const char *key,
		const cJSON **item, struct fault *f);
int
json_get_array(const struct json *j, const cJSON *obj, const char *key,
	       const cJSON **item, struct fault *f);
int
json_get_text(const struct json *j, const cJSON *obj, const char *key,
	      const char **text, struct fault *f);
int
json_get_bool(const struct json *j, const cJSON *obj, const char *key,
	      bool *v, struct fault *f);
/* A number without a fraction, within [min, max] and JSON_INT_MAX. */
int
json_get_int(const struct json *j, const cJSON *obj, const char *key,
	     int64_t min, int64_t max, int64_t *v, struct fault *f);
/* "123": decimal digits in a string, no sign, no leading zero. */
int
json_get_u64_text(const struct json *j, const cJSON *obj, const char *key,
		  uint64_t *v, struct fault *f);
/* 64 lower-case hexadecimal digits. */
int
json_get_digest(const struct json *j, const cJSON *obj, const char *key,
		unsigned char raw[DIGEST_BYTES], struct fault *f);
/*
 * What json_add_name wrote: text under key, or base64 under key64; exactly
 * one of the two. *bytes is the caller's, with a NUL behind its *n bytes.
 */
int
json_get_name(const struct json *j, const cJSON *obj, const char *key,
	      char **bytes, size_t *n, struct fault *f);

/* NULL where there is none. Case counts. */
const cJSON *
json_find(const cJSON *obj, const char *key);

/* j->code where obj has a key that is not in the NULL-terminated list, which
   the fault names. */
int
json_only(const struct json *j, const cJSON *obj, const char *const *keys,
	  struct fault *f);

#define JSON_POINTER_MAX 512u

/* The JSON Pointer of an item of the tree, "" for its root; cut short where it
   would be longer. */
void
json_pointer(const struct json *j, const cJSON *item,
	     char text[JSON_POINTER_MAX]);

/*
 * A fault of j->code about item (or about its key, unless NULL): the JSON
 * Pointer, ": ", and the sentence.
 */
int
json_fault(const struct json *j, const cJSON *item, const char *key,
	   struct fault *f, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

static inline void
own_json_free(struct json *j)
{
	json_free(j);
}

#define OWN_JSON(name) \
	struct json name __attribute__((cleanup(own_json_free))) = JSON_INIT

#endif
