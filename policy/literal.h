/*
 * literal.h - a cell as JSON spells it
 *
 * Format (docs/POLICY.md, "Cells"): null, ["int","42"], ["real","0x1.8p+0"],
 * ["text","…"], ["text64","…"], ["text16","…"],
 * ["blob",{"bytes":n,"sha256":"…"}].
 */
#ifndef POLICY_LITERAL_H
#define POLICY_LITERAL_H

#include "base/buf.h"
#include "base/fault.h"
#include "json/json.h"

/* One encoded cell (base/cell.h) at the end of b. */
int
literal_put(const struct json *j, const cJSON *item, struct buf *b,
	    struct fault *f);

/* An integer: a JSON number, or ["int","…"]. */
int
literal_int(const struct json *j, const cJSON *item, int64_t *v,
	    struct fault *f);
/* A real: a JSON integer, or ["real","…"]. */
int
literal_real(const struct json *j, const cJSON *item, double *v,
	     struct fault *f);

#endif
