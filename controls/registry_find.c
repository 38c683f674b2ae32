/*
 * registry_find.c - controls by number and by id
 */
#include <string.h>

#include "controls/registry.h"

const struct control *
registry_at(size_t n)
{
	for (const struct control *const *g = registry_groups; *g; g++)
		for (const struct control *c = *g; c->id; c++)
			if (n-- == 0)
				return c;
	return NULL;
}

size_t
registry_count(void)
{
	size_t n = 0;

	while (registry_at(n))
		n++;
	return n;
}

const struct control *
registry_find(const char *id)
{
	const struct control *c;

	for (size_t i = 0; (c = registry_at(i)); i++)
		if (strcmp(c->id, id) == 0)
			return c;
	return NULL;
}
