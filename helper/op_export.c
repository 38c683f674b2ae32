/*
 * op_export.c - the recovered state as the pages of one plain file
 */
#include "base/own.h"
#include "helper/ops.h"

#define EXPORT_STRETCH (1u << 20)	/* a multiple of every page size */

static int
S_pages(struct wire *w, uint64_t offset, const void *bytes, size_t n,
	struct fault *f)
{
	int rc = wire_begin(w, WIRE_PAGES, f);

	if (!rc)
		rc = cell_put_int(&w->buf, (int64_t)offset, f);
	if (!rc)
		rc = cell_put_blob(&w->buf, bytes, n, f);
	return rc ? rc : wire_end(w, f);
}

int
op_export(struct op *o, struct fault *f)
{
	const struct state_facts *s;
	uint64_t bytes, at = 0;
	int rc;
	OWN_MEM(unsigned char, stretch);
	OWN_STATE(state);

	stretch = malloc(EXPORT_STRETCH);
	if (!stretch)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	rc = op_open(o, 0, &state, f);
	if (rc)
		return rc;
	s = state_facts(state);
	bytes = (uint64_t)s->page_size * s->page_count;
	rc = wire_fact_int(o->wire, 0, "page_size", s->page_size, f);
	if (!rc)
		rc = wire_fact_int(o->wire, 0, "page_count", s->page_count,
				   f);
	while (!rc && at < bytes) {
		size_t n = bytes - at < EXPORT_STRETCH ? (size_t)(bytes - at)
						       : EXPORT_STRETCH;

		rc = state_pages(state, at, stretch, n, f);
		if (!rc)
			rc = S_pages(o->wire, at, stretch, n, f);
		at += n;
	}
	return rc ? rc : state_finish(state, f);
}
