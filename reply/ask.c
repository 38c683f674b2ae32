/*
 * ask.c - what the front end asks of the recover helper
 */
#include "reply/ask.h"

#include <string.h>

void
ask_init(struct ask *a, enum ask_op op)
{
	memset(a, 0, sizeof(*a));
	a->magic = ASK_MAGIC;
	a->version = ASK_VERSION;
	a->size = sizeof(*a);
	a->op = (uint32_t)op;
	a->memory_limit = ASK_MEMORY_DEFAULT;
	a->output_limit = ASK_OUTPUT_DEFAULT;
}

int
ask_check(const struct ask *a, struct fault *f)
{
	if (a->magic != ASK_MAGIC || a->version != ASK_VERSION ||
	    a->size != sizeof(*a))
		return fault_set(f, FAULT_USAGE,
				 "the ask is not of this build");
	if (a->op < ASK_RECOVER || a->op > ASK_BIND ||
	    a->nsides > ASK_SIDES || a->nextras > ASK_EXTRAS ||
	    a->text_bytes > ASK_TEXT_MAX)
		return fault_set(f, FAULT_USAGE, "the ask is out of range");
	return 0;
}
