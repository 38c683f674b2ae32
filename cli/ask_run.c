/*
 * ask_run.c - one question to the helper about one or two databases
 */
#include "cli/ask_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/own.h"

#define ASK_KEPT_MAX (32u << 20)
#define ASK_NOTES_MAX 10000u

int
ask_malformed(struct fault *f, const char *what)
{
	return fault_set(f, FAULT_SANDBOX,
			 "the helper's answer is malformed: %s", what);
}

static int
S_open_side(struct ask_run *r, const struct args *a, size_t side,
	    struct fault *f)
{
	const struct evidence_options o = {
		.expect_id = a->nexpected ? a->expect_id[side] : NULL,
		.accept_names = a->accept_names,
	};
	const char *path = a->operand[side];
	const struct notes *notes;
	int rc = evidence_open(path, &o, &r->evidence[side], f);

	if (rc)
		return rc;
	notes = evidence_notes(r->evidence[side]);
	for (size_t i = 0; i < notes->count; i++) {
		rc = notes_add(&r->not_checked, f, notes->note[i].what, "%s",
			       notes->note[i].why);
		if (rc)
			return rc;
	}
	return 0;
}

#define MEMORY_PART 4	/* of what is free */

static uint64_t
S_memory_limit(const struct args *a)
{
	uint64_t part = memory_available() / MEMORY_PART;

	if (a->memory_limit)
		return a->memory_limit;
	return part > ASK_MEMORY_DEFAULT ? part : ASK_MEMORY_DEFAULT;
}

/* One id must not stand for two packets, nor two for one. */
static int
S_check_ids(const struct args *a, size_t sides, struct fault *f)
{
	if (a->nexpected == 0 || a->nexpected == sides)
		return 0;
	if (sides == 1)
		return fault_set(f, FAULT_USAGE, "--expect-id is given twice, "
				 "and one packet is read");
	(void)fault_set(f, FAULT_USAGE, "--expect-id is given once, and two "
			"packets are compared");
	return fault_hint(f, "give it twice, in the order of the packets: "
			  "--expect-id ID-OF-BEFORE --expect-id ID-OF-AFTER");
}

int
ask_open(struct ask_run *r, const struct args *a, size_t sides,
	 struct fault *f)
{
	int rc;

	if (S_check_ids(a, sides, f))
		return -(int)f->code;
	ask_init(&r->ask, ASK_RECOVER);
	r->ask.flags = (a->live ? ASK_LIVE_VIEW : 0u) |
		       (a->ignore_rowid ? ASK_IGNORE_ROWID : 0u);
	r->ask.memory_limit = S_memory_limit(a);
	r->ask.output_limit = a->output_limit;
	r->limits = (struct warden_limits){
		.memory = r->ask.memory_limit,
		.output = a->output_limit,
		.cpu_seconds = a->cpu_seconds,
	};
	r->sides = sides;
	r->ask.nsides = (uint32_t)sides;
	for (size_t i = 0; i < sides; i++) {
		size_t n = 0;

		r->name[i] = a->operand[i];
		rc = S_open_side(r, a, i, f);
		if (rc)
			return rc;
		evidence_side(r->evidence[i], EVIDENCE_FD + (int)r->nfds,
			      r->fds + r->nfds, &n, &r->ask.side[i]);
		r->nfds += n;
		/*
		 * Of two sides each page is read once and in order: a copy
		 * in memory would cost more than it saves.
		 */
		r->ask.side[i].in_place = sides > 1;
	}
	return 0;
}

int
ask_start(struct ask_run *r, enum ask_op op, const char *text, struct fault *f)
{
	size_t n = text ? strlen(text) : 0;

	if (n > ASK_TEXT_MAX)
		return fault_set(f, FAULT_USAGE,
				 "the SQL is longer than %u bytes",
				 ASK_TEXT_MAX);
	warden_free(r->warden);
	r->warden = NULL;
	for (size_t i = 0; i < ASK_SIDES; i++)
		facts_free(&r->facts[i]);
	r->ask.op = (uint32_t)op;
	r->ask.text_bytes = (uint32_t)n;
	return warden_start(&r->warden, r->fds, r->nfds, &r->ask, text,
			    &r->limits, f);
}

static int
S_take_fact(struct ask_run *r, struct wire_frame *fr, struct fault *f)
{
	OWN_MEM(char, key);
	struct cell value;
	int64_t side;
	int rc = wire_get_int(fr, &side, f);

	if (!rc)
		rc = wire_get_text(fr, &key, f);
	if (!rc)
		rc = wire_get(fr, &value, f);
	if (!rc)
		rc = wire_get_done(fr, f);
	if (rc)
		return rc;
	if (side < 0 || side >= (int64_t)r->sides)
		return ask_malformed(f, "a fact about no side");
	return facts_take(&r->facts[side], key, &value, f);
}

static int
S_take_skip(struct ask_run *r, struct wire_frame *fr, struct fault *f)
{
	OWN_MEM(char, what);
	OWN_MEM(char, why);
	int rc = ask_keep_text(r, fr, &what, f);

	if (!rc)
		rc = ask_keep_text(r, fr, &why, f);
	if (!rc)
		rc = wire_get_done(fr, f);
	if (rc)
		return rc;
	if (r->not_checked.count >= ASK_NOTES_MAX)
		return fault_set(f, FAULT_CAP,
				 "more than %u things were not checked",
				 ASK_NOTES_MAX);
	return notes_add(&r->not_checked, f, what, "%s", why);
}

/* warden_next has read the count and found it right. */
static int
S_take_end(struct ask_run *r, struct wire_frame *fr, struct fault *f)
{
	int64_t verdict;
	int rc = wire_get_int(fr, &verdict, f);

	if (!rc)
		rc = wire_get_done(fr, f);
	if (rc)
		return rc;
	if (verdict != WIRE_YES && verdict != WIRE_NO)
		return ask_malformed(f, "it ends without a verdict");
	r->verdict = (enum wire_verdict)verdict;
	return 1;
}

/*
 * The helper knows no names; of two sides it says "before" or "after". What
 * is wrong with the SQL needs none.
 */
static int
S_named(const struct ask_run *r, struct fault *f)
{
	const char *name = r->sides == 1 ? r->name[0] :
		strncmp(f->text, "before: ", 8) == 0 ? r->name[0] :
		strncmp(f->text, "after: ", 7) == 0 ? r->name[1] : NULL;

	if (name && f->code != FAULT_USAGE)
		return fault_wrap(f, "%s", name);
	return -(int)f->code;
}

/*
 * Damage in a file that somebody wrote while it was read is no property of
 * that file: it is the change that counts.
 */
static int
S_failed(struct ask_run *r, struct fault *f)
{
	struct fault changed = FAULT_INIT;

	for (size_t i = 0; f->code == FAULT_DAMAGED && i < r->sides; i++) {
		if (!r->evidence[i] ||
		    !evidence_still(r->evidence[i], &changed))
			continue;
		*f = changed;
		return -(int)f->code;
	}
	return S_named(r, f);
}

int
ask_next(struct ask_run *r, struct wire_frame *fr, struct fault *f)
{
	int rc;

	for (;;) {
		rc = warden_next(r->warden, fr, f);
		if (rc < 0)
			return S_failed(r, f);
		if (rc == 1)
			return S_take_end(r, fr, f);
		if (fr->type == WIRE_FACT)
			rc = S_take_fact(r, fr, f);
		else if (fr->type == WIRE_SKIP)
			rc = S_take_skip(r, fr, f);
		else
			return 0;
		if (rc)
			return rc;
	}
}

int
ask_finish(struct ask_run *r, struct fault *f)
{
	int rc;

	for (size_t i = 0; i < r->sides; i++) {
		rc = facts_complete(&r->facts[i], (enum ask_op)r->ask.op, f);
		if (!rc && r->evidence[i])
			rc = evidence_still(r->evidence[i], f);
		if (rc)
			return rc;
	}
	return 0;
}

void
ask_free(struct ask_run *r)
{
	warden_free(r->warden);
	for (size_t i = 0; i < ASK_SIDES; i++) {
		facts_free(&r->facts[i]);
		evidence_free(r->evidence[i]);
	}
	notes_free(&r->not_checked);
	*r = (struct ask_run){ .sides = 0 };
}

int
ask_keep_text(struct ask_run *r, struct wire_frame *fr, char **text,
	      struct fault *f)
{
	int rc = wire_get_text(fr, text, f);

	if (rc)
		return rc;
	r->kept += strlen(*text) + sizeof(char *);
	if (r->kept > ASK_KEPT_MAX)
		return fault_set(f, FAULT_CAP,
				 "the answer's names and notes pass %u MiB",
				 ASK_KEPT_MAX >> 20);
	return 0;
}
