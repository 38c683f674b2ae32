/*
 * writers.c - the processes that hold a database, and what each holds
 */
#include "packet/writers.h"

#include <stdlib.h>

void
writers_free(struct writers *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->writer[i].exe);
	free(w->writer);
	*w = (struct writers){ .writer = NULL, .count = 0 };
}
