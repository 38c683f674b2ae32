/*
 * skipped.h - a case that can't run here says why; tests/run shows it
 */
#ifndef TESTS_UNIT_SKIPPED_H
#define TESTS_UNIT_SKIPPED_H

#include <stdio.h>

#define SKIP(why)				\
	do {					\
		(void)puts(why);		\
		skip();				\
	} while (0)

#endif
