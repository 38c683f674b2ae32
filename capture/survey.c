/*
 * survey.c - who holds a database, and how it would be captured
 *
 * Nobody is paused: what is seen may be old when it is read.
 */
#include "capture/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "capture/hold.h"
#include "capture/result.h"

#define SAMPLE_BYTES (8u << 20)

/* Two reads and a write, for each byte that is read once. */
#define PASSES 3.0

/* Bounds the look at the content, where one is needed. */
#define LOOK_NS (5 * CLOCK_NS_PER_SEC)

static uint64_t
S_bytes(const struct hold *h)
{
	uint64_t total = 0;

	for (enum role k = 0; k < ROLE_COUNT; k++)
		if (h->held[k].fd >= 0)
			total += (uint64_t)h->held[k].st.st_size;
	return total;
}

/* What the reads of all files would take, from one read of a sample. */
static int
S_expect(const struct hold *h, uint64_t looked_ns, uint64_t *pause_ns,
	 struct fault *f)
{
	OWN_MEM(char, sample);
	uint64_t began;
	size_t got;
	int rc;

	*pause_ns = 0;
	if (h->nprocs == 0)
		return 0;
	sample = malloc(SAMPLE_BYTES);
	if (!sample)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	memset(sample, 1, SAMPLE_BYTES);
	began = clock_mono_ns();
	rc = io_pread(h->held[ROLE_MAIN].fd, sample, SAMPLE_BYTES, 0, &got, f);
	if (rc)
		return rc;
	*pause_ns = looked_ns;
	if (got > 0)
		*pause_ns += (uint64_t)(PASSES * (double)S_bytes(h) *
					(double)(clock_mono_ns() - began) /
					(double)got);
	return 0;
}

int
capture_survey(const struct capture_request *q, struct capture_result *out,
	       struct fault *f)
{
	const struct hold_rules rules = {
		.pids = q->pids,
		.npids = q->npids,
		.displaced = q->displaced,
		.accept_names = q->accept_names,
		.survey = true,
		.stop_ns = LOOK_NS,
	};
	uint64_t began = clock_mono_ns(), looked, pause_ns;
	OWN_SELECTION(s);
	OWN_HOLD(h);
	int rc;

	memset(out, 0, sizeof(*out));
	hold_init(&h);
	rc = selection_make(q->db, q->displaced, &s, f);
	if (!rc)
		rc = selection_no_sidecar(q->db, f);
	if (!rc)
		rc = hold_look(&h, &s, &rules, f);
	if (rc == 0)
		rc = hold_live(&h, &s, &rules, f);
	else if (rc == 1)
		rc = hold_stopped(&h, &s, &rules, f);
	looked = clock_mono_ns() - began;
	if (!rc)
		rc = S_expect(&h, looked, &pause_ns, f);
	if (!rc)
		rc = hold_describe(&h, f);
	if (!rc)
		rc = result_fill(out, &h, s.base, f);
	if (rc) {
		capture_result_free(out);
		return fault_wrap(f, "capture --check %s", q->db);
	}
	out->pause_ns = pause_ns;
	return 0;
}
