/*
 * instant.c - now, as leases count it
 */
#include "lease/instant.h"

#include <string.h>

static int
S_read(void *arg, struct instant *now, struct fault *f)
{
	const struct instant_system *s = arg;

	(void)f;
	now->at = (int64_t)clock_boot_ns();
	now->utc = (int64_t)clock_real_ns();
	memcpy(now->boot, s->boot, sizeof(now->boot));
	return 0;
}

int
instant_system(struct instant_system *s, struct instant_source *source,
	       struct fault *f)
{
	if (clock_boot_id(s->boot)) {
		(void)fault_set(f, FAULT_TROUBLE,
				"the kernel shows no boot id");
		return fault_hint(f, "/proc must be mounted");
	}
	*source = (struct instant_source){ .read = S_read, .arg = s };
	return 0;
}
