/*
 * result.c - what a hold tells the caller of a capture
 */
#include "capture/result.h"

#include <stdlib.h>
#include <string.h>

int
result_fill(struct capture_result *r, struct hold *h, const char *database,
	    struct fault *f)
{
	r->database = strdup(database);
	r->writers = calloc(1, sizeof(*r->writers));
	if (!r->database || !r->writers)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	r->pause_ns = h->pause_ns;
	r->attempts = 1;
	r->authority = h->authority;
	r->binding = h->binding;
	r->displaced = h->displaced;
	for (enum role k = 0; k < ROLE_COUNT; k++) {
		r->file[k].present = h->held[k].fd >= 0;
		if (!r->file[k].present)
			continue;
		r->file[k].bytes = (uint64_t)h->held[k].st.st_size;
		r->file[k].dev = h->held[k].st.st_dev;
		r->file[k].ino = h->held[k].st.st_ino;
	}
	*r->writers = h->writers;
	h->writers = (struct writers){ .writer = NULL, .count = 0 };
	r->not_checked = h->notes;
	h->notes = (struct notes)NOTES_INIT;
	return 0;
}

void
capture_result_free(struct capture_result *r)
{
	free(r->packet);
	free(r->database);
	if (r->writers)
		writers_free(r->writers);
	free(r->writers);
	notes_free(&r->not_checked);
	memset(r, 0, sizeof(*r));
}
