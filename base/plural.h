/*
 * plural.h - "1 row", "2 rows"
 */
#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

#include <stdint.h>

/* What stands behind a noun of which there are n. */
static inline const char *
plural_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
