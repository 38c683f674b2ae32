/*
 * op_bind.c - which sidecar belongs to which main, by their content
 */
#include "helper/ops.h"
#include "recover/binding.h"

static int
S_match(void *arg, const struct binding_match *m, struct fault *f)
{
	const uint32_t cells[] = { m->sidecar, m->main, m->compared, m->equal,
				   m->distinctive };
	struct wire *w = arg;
	int rc = wire_begin(w, WIRE_MATCH, f);

	for (size_t i = 0; !rc && i < sizeof(cells) / sizeof(cells[0]); i++)
		rc = cell_put_int(&w->buf, cells[i], f);
	return rc ? rc : wire_end(w, f);
}

int
op_bind(struct op *o, struct fault *f)
{
	return binding_run(o->ask, S_match, o->wire, f);
}
