/*
 * f_policy.c - fuzzes policy/'s reader, and its judge of schema texts
 *
 * What stands behind the first NUL is the old text of a table, behind the
 * second one the new text.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "policy/judge.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void
S_judge(struct policy *p, char *before, char *after)
{
	static char type[] = "table", name[] = "t";
	struct changes_object o = {
		.change = WIRE_CHANGED, .type = type, .name = name,
		.table = name, .before = before, .after = after,
	};
	struct fault f = FAULT_INIT;
	struct changes_sink sink;
	OWN_JUDGE(j);

	MUST(judge_new(&j, p, &f) == 0);
	sink = judge_sink(j);
	MUST(sink.object(j, &o, &f) == 0);
	MUST(judge_end(j, &f) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fault f = FAULT_INIT;
	size_t len, old;
	OWN_MEM(char, text);
	OWN_POLICY(p);
	int rc;

	text = calloc(1, n + 3);
	MUST(text);
	memcpy(text, bytes, n);
	len = strlen(text);
	old = len < n ? strlen(text + len + 1) : 0;
	rc = policy_parse(&p, text, len, NULL, 0, &f);
	MUST(rc == 0 || rc == -FAULT_USAGE);
	if (rc == 0 && len + 1 + old < n)
		S_judge(p, text + len + 1, text + len + old + 2);
	return 0;
}
