/*
 * main.c - the recover helper: shut in, then asked one question
 *
 * Lifecycle: set up what needs the system, jail, HELLO, read the ask, run
 * its operation, END or FAULT, exit. No argument, no environment variable
 * and no file says anything.
 *
 * Trust: the ask is the front end's. The evidence may be anybody's, and from
 * the first byte that is read of it this process may be in its hands.
 */
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/io.h"
#include "base/own.h"
#include "helper/ops.h"
#include "recover/filter.h"
#include "recover/jail.h"

/* Room beside SQLite's heap: code, stacks, the arenas, one reply frame and
   its copy on the way to a larger buffer, digests and indexes of frames. */
#define MAIN_MEMORY_SLACK (3ull << 30)

enum {
	MAIN_EXIT_FAULT = 1,	/* a FAULT frame went out */
	MAIN_EXIT_DUMB = 2,	/* not even that */
};

/* Never a switch that falls through: a row that is not here is not asked. */
static const struct {
	enum ask_op op;
	int (*run)(struct op *o, struct fault *f);
	uint32_t sides;
} ops[] = {
	{ ASK_RECOVER, op_recover, 1 },
	{ ASK_QUERY, op_query, 1 },
	{ ASK_EXPORT, op_export, 1 },
	{ ASK_DIFF, op_diff, 2 },
	{ ASK_INSPECT, op_inspect, 1 },
	{ ASK_BIND, op_bind, 0 },
};

int
op_open(const struct op *o, uint32_t side, struct state **s, struct fault *f)
{
	enum state_view view = o->ask->flags & ASK_LIVE_VIEW
			       ? STATE_VIEW_LIVE : STATE_VIEW_RECOVERY;

	return state_open(s, &o->ask->side[side], view, o->ask->memory_limit,
			  f);
}

static int
S_stand(struct worker **w, struct jail_report *jail, struct fault *f)
{
	int rc = digest_setup(f);

	if (!rc)
		rc = state_setup(f);
	if (!rc)
		rc = jail_drop(jail, f);
	if (!rc)
		rc = worker_start(w, f);
	return rc ? rc : jail_shut(f);
}

static int
S_hello(struct wire *w, int landlock, struct fault *f)
{
	int rc = wire_begin(w, WIRE_HELLO, f);

	if (!rc)
		rc = cell_put_int(&w->buf, WIRE_PROTOCOL, f);
	if (!rc)
		rc = cell_put_text(&w->buf, HOLDFAST_VERSION, f);
	if (!rc)
		rc = cell_put_int(&w->buf, landlock, f);
	if (!rc)
		rc = cell_put_text(&w->buf, sqlite3_libversion(), f);
	if (!rc)
		rc = cell_put_text(&w->buf, sqlite3_sourceid(), f);
	if (!rc)
		rc = wire_end(w, f);
	return rc ? rc : wire_flush(w, f);
}

static int
S_read_exactly(void *bytes, size_t n, struct fault *f)
{
	size_t got;
	int rc = io_read(ASK_FD, bytes, n, &got, f);

	if (!rc && got < n)
		rc = fault_set(f, FAULT_USAGE, "the ask is cut short");
	return rc;
}

/* *text is owned by the caller. */
static int
S_read_ask(struct ask *a, char **text, struct fault *f)
{
	int rc = S_read_exactly(a, sizeof(*a), f);

	if (!rc)
		rc = ask_check(a, f);
	if (rc)
		return rc;
	*text = calloc(1, (size_t)a->text_bytes + 1);
	if (!*text)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	rc = S_read_exactly(*text, a->text_bytes, f);
	if (!a->memory_limit)
		a->memory_limit = ASK_MEMORY_DEFAULT;
	if (!a->output_limit)
		a->output_limit = ASK_OUTPUT_DEFAULT;
	return rc;
}

static int
S_cap_memory(uint64_t limit, struct fault *f)
{
	if (limit > INT64_MAX - MAIN_MEMORY_SLACK)
		return fault_set(f, FAULT_USAGE,
				 "the memory limit is out of range");
	(void)sqlite3_hard_heap_limit64((sqlite3_int64)limit);
	return filter_cap_memory(limit + MAIN_MEMORY_SLACK, f);
}

static int
S_dispatch(struct op *o, struct fault *f)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (o->ask->op != ops[i].op)
			continue;
		if (o->ask->nsides != ops[i].sides)
			return fault_set(f, FAULT_USAGE,
					 "the ask has the wrong number of"
					 " sides");
		return ops[i].run(o, f);
	}
	return fault_set(f, FAULT_USAGE, "the ask is of no known kind");
}

static int
S_answer(struct wire *w, struct worker *worker, struct fault *f)
{
	static struct ask ask;
	struct op o = { .ask = &ask, .wire = w, .worker = worker };
	int rc;
	OWN_MEM(char, text);

	rc = S_read_ask(&ask, &text, f);
	if (rc)
		return rc;
	w->limit = ask.output_limit;
	o.text = text;
	rc = S_cap_memory(ask.memory_limit, f);
	if (!rc)
		rc = S_dispatch(&o, f);
	return rc ? rc : wire_finish(w, o.verdict, f);
}

/*
 * What has not gone out is dropped: the frame that was being written when
 * the operation failed, or those that would pass the output limit. A flush
 * ends with a whole frame, so the fault starts where a frame may.
 */
static int
S_say_fault(struct wire *w, const struct fault *why)
{
	struct fault ignored = FAULT_INIT;

	buf_reset(&w->buf);
	w->limit = UINT64_MAX;
	if (wire_fault(w, why, &ignored) || wire_flush(w, &ignored))
		return MAIN_EXIT_DUMB;
	return MAIN_EXIT_FAULT;
}

int
main(void)
{
	struct jail_report jail = { 0 };
	struct worker *worker = NULL;
	struct fault f = FAULT_INIT;
	struct wire w;
	int rc;

	wire_init(&w, REPLY_FD, ASK_OUTPUT_DEFAULT);
	rc = S_stand(&worker, &jail, &f);
	if (!rc)
		rc = S_hello(&w, jail.landlock, &f);
	if (!rc)
		rc = S_answer(&w, worker, &f);
	/* No handlers at exit, and no threads to join: the jail lets little
	   of that pass, and the kernel takes back all there is. */
	_exit(rc ? S_say_fault(&w, &f) : 0);
}
