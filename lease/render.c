/*
 * render.c - answers as lines for people
 */
#include "lease/render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "cli/escape.h"
#include "lease/render_json.h"

int
render_shown(const char *text, char **shown, struct fault *f)
{
	size_t n;
	FILE *to = open_memstream(shown, &n);

	if (to)
		escape_puts(to, text);
	if (!to || fclose(to))
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	return 0;
}

/* An epoch that is empty must be seen to be so. */
static void
S_put_epoch(FILE *out, const char *epoch)
{
	if (*epoch)
		escape_puts(out, epoch);
	else
		(void)fputs("\"\"", out);
}

static void
S_put_until(FILE *out, int64_t expires_utc, int64_t left)
{
	char utc[CLOCK_UTC_BYTES];

	clock_utc((uint64_t)(expires_utc > 0 ? expires_utc : 0), utc);
	(void)fprintf(out, "until %s (%" PRId64 " s left)", utc,
		      left / INSTANT_SECOND);
}

static void
S_put_busy(FILE *out, const struct answer *a)
{
	for (size_t i = 0; i < a->held.n; i++) {
		const struct leased *h = &a->held.at[i];

		(void)fputs("BUSY: ", out);
		escape_puts(out, h->resource);
		(void)fputs(" held by ", out);
		escape_puts(out, h->session);
		(void)fputs(" epoch ", out);
		S_put_epoch(out, h->epoch);
		(void)fprintf(out, " fence %" PRId64 " ", h->fence);
		S_put_until(out, h->expires_utc, h->expires - a->now.at);
		(void)fputc('\n', out);
	}
	if (a->held.more)
		(void)fputs("BUSY: and more\n", out);
}

int
render_acquire(FILE *out, bool json, const struct ops_acquire *q,
	       const struct answer *a, struct fault *f)
{
	if (json)
		return render_json_acquire(out, q, a, f);
	if (a->outcome == OUTCOME_BLOCKED) {
		S_put_busy(out, a);
		return 0;
	}
	(void)fprintf(out, "ACQUIRED %zu path(s) by ", a->count);
	escape_puts(out, q->session);
	(void)fprintf(out, " fence %" PRId64 "\n", a->fence);
	/* Paths that were held before may have another fence. */
	for (size_t i = 0; i < q->npaths; i++) {
		if (a->taken[i].fence == a->fence)
			continue;
		(void)fputs("KEPT ", out);
		escape_puts(out, q->paths[i]);
		(void)fprintf(out, " fence %" PRId64 "\n", a->taken[i].fence);
	}
	return 0;
}

int
render_renew(FILE *out, bool json, const struct answer *a, struct fault *f)
{
	if (json)
		return render_json_fence(out, "renew", a, f);
	if (a->outcome == OUTCOME_ACQUIRED) {
		(void)fprintf(out, "RENEWED %zu path(s) fence %" PRId64 " ",
			      a->count, a->fence);
		S_put_until(out, a->expires_utc, a->expires - a->now.at);
		(void)fputc('\n', out);
	} else if (a->outcome == OUTCOME_EPOCH_MISMATCH) {
		(void)fprintf(out, "LOST: fence %" PRId64
			      " is of another owner\n", a->fence);
	} else {
		(void)fprintf(out, "LOST: fence %" PRId64 ": ", a->fence);
		escape_puts(out, a->ended);
		(void)fputc('\n', out);
	}
	return 0;
}

int
render_release(FILE *out, bool json, const char *session, const char *epoch,
	       const struct answer *a, struct fault *f)
{
	if (json)
		return render_json_release(out, session, epoch, a, f);
	(void)fprintf(out, "RELEASED %zu\n", a->count);
	if (a->outcome == OUTCOME_ABSENT)
		(void)fputs("absent: this owner holds nothing\n", out);
	if (a->outcome == OUTCOME_EPOCH_MISMATCH) {
		(void)fputs("epoch-mismatch: held under epoch", out);
		for (size_t i = 0; i < a->nepochs; i++) {
			(void)fputc(' ', out);
			S_put_epoch(out, a->epochs[i]);
		}
		(void)fputc('\n', out);
	}
	return 0;
}

int
render_force(FILE *out, bool json, const struct answer *a, struct fault *f)
{
	if (json)
		return render_json_fence(out, "force-release", a, f);
	if (a->outcome != OUTCOME_RELEASED) {
		(void)fprintf(out, "LOST: fence %" PRId64 ": ", a->fence);
		escape_puts(out, a->ended);
		(void)fputc('\n', out);
		return 0;
	}
	(void)fprintf(out, "FORCED %zu path(s) of ", a->count);
	escape_puts(out, a->session);
	(void)fputs(" epoch ", out);
	S_put_epoch(out, a->epoch);
	(void)fprintf(out, " fence %" PRId64 "\n", a->fence);
	return 0;
}

int
render_check(FILE *out, bool json, const char *path, int64_t fence,
	     const struct answer *a, struct fault *f)
{
	if (json || a->held.n > 0)
		return render_json_check(out, json, path, fence, a, f);
	(void)fputs("FREE\n", out);
	return 0;
}

int
render_reap(FILE *out, bool json, const struct answer *a, struct fault *f)
{
	if (json)
		return render_json_reap(out, a, f);
	(void)fprintf(out, "REAPED %zu\n", a->reaped);
	return 0;
}

enum { STATUS_COLUMNS = 7 };

/* The cells of one row, each the caller's. */
static int
S_cells(const struct leased *h, const struct answer *a,
	char *cell[STATUS_COLUMNS], struct fault *f)
{
	const char *text[] = {
		h->resource, h->session, *h->epoch ? h->epoch : "\"\"", "",
		h->agent ? h->agent : "", "", h->note ? h->note : "",
	};
	int64_t left = (h->expires - a->now.at) / INSTANT_SECOND;
	char number[2][32];
	int rc = 0;

	(void)snprintf(number[0], sizeof(number[0]), "%" PRId64, h->fence);
	(void)snprintf(number[1], sizeof(number[1]),
		       "%" PRId64 ":%02" PRId64 ":%02" PRId64, left / 3600,
		       left / 60 % 60, left % 60);
	text[3] = number[0];
	text[5] = number[1];
	for (size_t i = 0; !rc && i < STATUS_COLUMNS; i++)
		rc = render_shown(text[i], &cell[i], f);
	return rc;
}

static void
S_put_row(FILE *out, const char *const cell[STATUS_COLUMNS],
	  const int width[STATUS_COLUMNS])
{
	int last = STATUS_COLUMNS - 1;

	while (last > 0 && !*cell[last])
		last--;
	for (int i = 0; i < last; i++)
		(void)fprintf(out, i == 3 || i == 5 ? "%*s  " : "%-*s  ",
			      width[i], cell[i]);
	(void)fprintf(out, "%s\n", cell[last]);
}

int
render_status(FILE *out, bool json, const struct answer *a, struct fault *f)
{
	static const char *const head[STATUS_COLUMNS] = {
		"PATH", "SESSION", "EPOCH", "FENCE", "AGENT", "LEFT", "NOTE",
	};
	int width[STATUS_COLUMNS], rc = 0;
	OWN_MEM(char *, cells);

	if (json)
		return render_json_status(out, a, f);
	if (a->held.n == 0) {
		(void)fputs("Nothing is held.\n", out);
		return 0;
	}
	cells = calloc(a->held.n * STATUS_COLUMNS, sizeof(*cells));
	if (!cells)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	for (size_t i = 0; i < STATUS_COLUMNS; i++)
		width[i] = (int)strlen(head[i]);
	for (size_t i = 0; !rc && i < a->held.n; i++) {
		char **cell = cells + i * STATUS_COLUMNS;

		rc = S_cells(&a->held.at[i], a, cell, f);
		for (size_t k = 0; !rc && k < STATUS_COLUMNS; k++)
			if ((int)strlen(cell[k]) > width[k])
				width[k] = (int)strlen(cell[k]);
	}
	if (!rc)
		S_put_row(out, head, width);
	for (size_t i = 0; !rc && i < a->held.n; i++)
		S_put_row(out, (const char *const *)cells +
			       i * STATUS_COLUMNS, width);
	for (size_t i = 0; i < a->held.n * STATUS_COLUMNS; i++)
		free(cells[i]);
	return rc;
}

int
render_event(FILE *out, bool json, const struct ops_event *e, struct fault *f)
{
	char utc[CLOCK_UTC_BYTES];

	if (json)
		return render_json_event(out, e, f);
	clock_utc((uint64_t)(e->at_utc > 0 ? e->at_utc : 0), utc);
	(void)fprintf(out, "%" PRId64 " %s %s %s", e->seq, utc, e->verb,
		      e->kind);
	if (e->fence)
		(void)fprintf(out, " fence %" PRId64 " ", e->fence);
	if (e->resource)
		escape_puts(out, e->resource);
	if (e->session) {
		(void)fputs(" of ", out);
		escape_puts(out, e->session);
		(void)fputs(" epoch ", out);
		S_put_epoch(out, e->epoch);
	}
	if (!e->fence)
		(void)fprintf(out, " up to %" PRId64, e->expires);
	if (e->actor) {
		(void)fputs(" by ", out);
		escape_puts(out, e->actor);
	}
	if (e->reason) {
		(void)fputs(": ", out);
		escape_puts(out, e->reason);
	}
	(void)fputc('\n', out);
	return 0;
}

void
render_fault(FILE *to, const struct fault *what)
{
	(void)fputs("holdfast: ", to);
	escape_puts(to, what->text);
	if (what->hint[0]) {
		(void)fputs("\n  ", to);
		escape_puts(to, what->hint);
	}
	(void)fputc('\n', to);
}
