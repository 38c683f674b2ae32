/*
 * literal.c - a cell as JSON spells it
 */
#include "policy/literal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cell.h"
#include "base/own.h"
#include "json/base64.h"

#define LITERAL_REAL_MAX 400u	/* bytes of any spelling worth reading */
/* A cell is not larger than the document it stands in. */
#define POLICY_LITERAL_MAX (16u << 20)

static int
S_not_a_cell(const struct json *j, const cJSON *item, struct fault *f)
{
	return json_fault(j, item, NULL, f, "must be a cell: null or"
			  " [\"int|real|text|text64|text16|blob\", ...]");
}

/* 0, or 1: not the one decimal spelling of a 64-bit integer. */
static int
S_int64(const char *text, int64_t *v)
{
	const char *digits = text + (*text == '-');
	char *end;

	if (*digits < '0' || *digits > '9' || (digits[0] == '0' &&
	    (digits[1] || digits != text)))
		return 1;
	errno = 0;
	*v = strtoll(text, &end, 10);
	return *end || errno;
}

/* 0, or 1: no real. Decimal or hexadecimal, "inf", "-inf". */
static int
S_double(const char *text, double *v)
{
	size_t n = strlen(text);
	char *end;

	if (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0) {
		*v = text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
		return 0;
	}
	if (n == 0 || n > LITERAL_REAL_MAX ||
	    strspn(text, "0123456789abcdefABCDEFxXpP.+-") != n)
		return 1;
	errno = 0;
	*v = strtod(text, &end);
	return *end || (errno == ERANGE && !isfinite(*v));
}

static int
S_put_base64(const struct json *j, const cJSON *item, bool utf16,
	     struct buf *b, struct fault *f)
{
	OWN_MEM(unsigned char, raw);
	struct cell c = { .tag = CELL_TEXT16 };
	size_t n;
	int rc = base64_decode(item->valuestring, &raw, &n, f);

	if (rc == 1)
		return json_fault(j, item, NULL, f, "must be base64");
	if (rc)
		return rc;
	if (!utf16)
		return cell_put_utf8(b, raw, n, f);
	if (n % 2)
		return json_fault(j, item, NULL, f, "half a UTF-16 unit");
	c.bytes = raw;
	c.len = n;
	return cell_put(b, &c, f);
}

static int
S_put_blob(const struct json *j, const cJSON *item, struct buf *b,
	   struct fault *f)
{
	static const char *const keys[] = { "bytes", "sha256", NULL };
	unsigned char sum[DIGEST_BYTES];
	struct cell c = { .tag = CELL_BLOBSUM, .bytes = sum,
			  .len = DIGEST_BYTES };
	int rc = json_as_object(j, item, f);

	if (!rc)
		rc = json_only(j, item, keys, f);
	if (!rc)
		rc = json_get_int(j, item, "bytes", 0, JSON_INT_MAX,
				  &c.integer, f);
	if (!rc)
		rc = json_get_digest(j, item, "sha256", sum, f);
	return rc ? rc : cell_put(b, &c, f);
}

static int
S_put_string(const struct json *j, const char *type, const cJSON *value,
	     struct buf *b, struct fault *f)
{
	const char *text = value->valuestring;
	int64_t i;
	double d;

	if (strcmp(type, "text") == 0)
		return cell_put_text(b, text, f);
	if (strcmp(type, "text64") == 0)
		return S_put_base64(j, value, false, b, f);
	if (strcmp(type, "text16") == 0)
		return S_put_base64(j, value, true, b, f);
	if (strcmp(type, "int") == 0)
		return S_int64(text, &i)
		       ? json_fault(j, value, NULL, f,
				    "must be a 64-bit integer in a string")
		       : cell_put_int(b, i, f);
	if (strcmp(type, "real") == 0)
		return S_double(text, &d)
		       ? json_fault(j, value, NULL, f,
				    "must be a real in a string")
		       : cell_put_real(b, d, f);
	return 1;
}

int
literal_put(const struct json *j, const cJSON *item, struct buf *b,
	    struct fault *f)
{
	const cJSON *type = item->child;
	const cJSON *value = type ? type->next : NULL;
	int rc = 1;

	if (cJSON_IsNull(item))
		return cell_put_null(b, f);
	if (!cJSON_IsArray(item) || !cJSON_IsString(type) || !value ||
	    value->next)
		return S_not_a_cell(j, item, f);
	if (strcmp(type->valuestring, "blob") == 0)
		return S_put_blob(j, value, b, f);
	if (cJSON_IsString(value))
		rc = S_put_string(j, type->valuestring, value, b, f);
	return rc == 1 ? S_not_a_cell(j, item, f) : rc;
}

/* The cell of a literal that must have this tag; 1: it has another. */
static int
S_tagged(const struct json *j, const cJSON *item, enum cell_tag tag,
	 struct cell *c, struct fault *f)
{
	struct buf b = BUF_INIT(POLICY_LITERAL_MAX);
	const unsigned char *at;
	int rc = literal_put(j, item, &b, f);

	if (!rc) {
		at = b.data;
		rc = cell_get(&at, b.data + b.len, c, f);
	}
	if (!rc && c->tag != tag)
		rc = 1;
	buf_free(&b);
	return rc;
}

int
literal_int(const struct json *j, const cJSON *item, int64_t *v,
	    struct fault *f)
{
	struct cell c;
	double d = item->valuedouble;
	int rc = 0;

	if (cJSON_IsNumber(item)) {
		if (!(d >= -(double)JSON_INT_MAX && d <= (double)JSON_INT_MAX))
			rc = 1;
		c.integer = rc ? 0 : (int64_t)d;
	} else {
		rc = S_tagged(j, item, CELL_INT, &c, f);
	}
	if (rc == 1)
		return json_fault(j, item, NULL, f, "must be an integer, one"
				  " past 2^53 as [\"int\",\"...\"]");
	if (rc == 0)
		*v = c.integer;
	return rc;
}

int
literal_real(const struct json *j, const cJSON *item, double *v,
	     struct fault *f)
{
	struct cell c = { .real = item->valuedouble };
	int rc = cJSON_IsNumber(item) ? 0
				      : S_tagged(j, item, CELL_REAL, &c, f);

	if (rc == 1)
		return json_fault(j, item, NULL, f,
				  "must be a real, as [\"real\",\"1.5\"]");
	if (rc == 0)
		*v = c.real;
	return rc;
}
