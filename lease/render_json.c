/*
 * render_json.c - answers as JSON
 */
#include "lease/render_json.h"

#include <string.h>

#include "base/buf.h"
#include "base/own.h"
#include "json/write.h"
#include "lease/render.h"

#define RENDER_LINE_MAX (64u << 20)

static int
S_print(FILE *out, const cJSON *o, struct fault *f)
{
	struct buf b = BUF_INIT(RENDER_LINE_MAX);
	int rc = json_print(o, false, &b, f);

	if (!rc) {
		(void)fwrite(b.data, 1, b.len, out);
		(void)fputc('\n', out);
	}
	buf_free(&b);
	return rc;
}

static int
S_name(cJSON *o, const char *key, const char *text, struct fault *f)
{
	return text ? json_add_name(o, key, text, strlen(text), f)
		    : json_add_null(o, key, f);
}

static int
S_utc(cJSON *o, const char *key, int64_t utc, struct fault *f)
{
	char text[CLOCK_UTC_BYTES];

	clock_utc((uint64_t)(utc > 0 ? utc : 0), text);
	return json_add_text(o, key, text, f);
}

static int
S_expiry(cJSON *o, int64_t expires, int64_t expires_utc,
	 const struct answer *a, struct fault *f)
{
	int rc = S_utc(o, "expires", expires_utc, f);

	if (!rc)
		rc = json_add_i64(o, "expires_ns", expires, f);
	if (!rc)
		rc = json_add_int(o, "left_sec",
				  (expires - a->now.at) / INSTANT_SECOND, f);
	return rc;
}

static int
S_process(cJSON *o, const struct owner_process *p, struct fault *f)
{
	int rc;

	if (p->pid == 0)
		return json_add_null(o, "pid", f);
	rc = json_add_int(o, "pid", p->pid, f);
	if (!rc)
		rc = json_add_int(o, "pid_start", p->start, f);
	if (!rc)
		rc = json_add_int(o, "pid_ns", p->ns, f);
	return rc ? rc : json_add_text(o, "pid_boot", p->boot, f);
}

static int
S_row(cJSON *o, const struct leased *h, const struct answer *a,
      struct fault *f)
{
	int rc = S_name(o, "resource", h->resource, f);

	if (!rc)
		rc = S_name(o, "session", h->session, f);
	if (!rc)
		rc = S_name(o, "epoch", h->epoch, f);
	if (!rc)
		rc = json_add_int(o, "fence", h->fence, f);
	if (!rc)
		rc = S_expiry(o, h->expires, h->expires_utc, a, f);
	if (!rc)
		rc = S_utc(o, "acquired", h->acquired_utc, f);
	if (!rc)
		rc = json_add_i64(o, "acquired_ns", h->acquired, f);
	if (!rc)
		rc = json_add_i64(o, "renewed_ns", h->renewed, f);
	if (!rc)
		rc = json_add_text(o, "origin",
				   h->legacy ? "legacy" : "native", f);
	if (!rc)
		rc = S_name(o, "agent", h->agent, f);
	if (!rc)
		rc = S_name(o, "host", h->host, f);
	if (!rc)
		rc = S_name(o, "cwd", h->cwd, f);
	if (!rc)
		rc = S_name(o, "note", h->note, f);
	return rc ? rc : S_process(o, &h->process, f);
}

static int
S_rows(cJSON *o, const struct answer *a, struct fault *f)
{
	cJSON *rows, *row;
	int rc = json_add_array(o, "held", &rows, f);

	for (size_t i = 0; !rc && i < a->held.n; i++) {
		rc = json_append_object(rows, &row, f);
		if (!rc)
			rc = S_row(row, &a->held.at[i], a, f);
	}
	return rc ? rc : json_add_bool(o, "more", a->held.more, f);
}

static int
S_head(cJSON **o, const char *kind, const struct answer *a, struct fault *f)
{
	int rc = json_new_object(o, f);

	if (!rc)
		rc = json_add_text(*o, "kind", kind, f);
	return rc ? rc : json_add_text(*o, "outcome",
				       outcome_name(a->outcome), f);
}

static int
S_taken(cJSON *o, const struct ops_acquire *q, const struct answer *a,
	struct fault *f)
{
	cJSON *rows, *row;
	int rc = json_add_int(o, "fence", a->fence, f);

	if (!rc)
		rc = S_expiry(o, a->expires, a->expires_utc, a, f);
	if (!rc)
		rc = json_add_array(o, "resources", &rows, f);
	for (size_t i = 0; !rc && i < q->npaths; i++) {
		rc = json_append_object(rows, &row, f);
		if (!rc)
			rc = S_name(row, "resource", q->paths[i], f);
		if (!rc)
			rc = json_add_int(row, "fence", a->taken[i].fence, f);
		if (!rc)
			rc = json_add_bool(row, "kept", a->taken[i].kept, f);
	}
	return rc;
}

int
render_json_acquire(FILE *out, const struct ops_acquire *q,
		    const struct answer *a, struct fault *f)
{
	OWN_CJSON(o);
	int rc = S_head(&o, "acquire", a, f);

	if (!rc)
		rc = S_name(o, "session", q->session, f);
	if (!rc)
		rc = S_name(o, "epoch", q->epoch, f);
	if (!rc)
		rc = json_add_int(o, "count", (int64_t)a->count, f);
	if (!rc)
		rc = json_add_int(o, "reaped", (int64_t)a->reaped, f);
	if (!rc)
		rc = a->outcome == OUTCOME_ACQUIRED ? S_taken(o, q, a, f)
						    : S_rows(o, a, f);
	return rc ? rc : S_print(out, o, f);
}

int
render_json_fence(FILE *out, const char *kind, const struct answer *a,
		  struct fault *f)
{
	OWN_CJSON(o);
	int rc = S_head(&o, kind, a, f);

	if (!rc)
		rc = json_add_int(o, "fence", a->fence, f);
	if (!rc)
		rc = S_name(o, "session", a->session, f);
	if (!rc)
		rc = S_name(o, "epoch", a->epoch, f);
	if (!rc)
		rc = json_add_int(o, "count", (int64_t)a->count, f);
	if (!rc && a->outcome == OUTCOME_ACQUIRED)
		rc = S_expiry(o, a->expires, a->expires_utc, a, f);
	if (!rc && a->outcome != OUTCOME_ACQUIRED)
		rc = S_name(o, "ended", a->ended, f);
	return rc ? rc : S_print(out, o, f);
}

int
render_json_release(FILE *out, const char *session, const char *epoch,
		    const struct answer *a, struct fault *f)
{
	cJSON *epochs;
	OWN_CJSON(o);
	int rc = S_head(&o, "release-session", a, f);

	if (!rc)
		rc = S_name(o, "session", session, f);
	if (!rc)
		rc = S_name(o, "epoch", epoch, f);
	if (!rc)
		rc = json_add_int(o, "count", (int64_t)a->count, f);
	if (!rc)
		rc = json_add_array(o, "held_epochs", &epochs, f);
	for (size_t i = 0; !rc && i < a->nepochs; i++) {
		cJSON *item = cJSON_CreateString(a->epochs[i]);

		if (!item || !cJSON_AddItemToArray(epochs, item)) {
			cJSON_Delete(item);
			rc = fault_set(f, FAULT_TROUBLE, "out of memory");
		}
	}
	return rc ? rc : S_print(out, o, f);
}

int
render_json_check(FILE *out, bool whole, const char *path, int64_t fence,
		  const struct answer *a, struct fault *f)
{
	size_t shown = 0;
	OWN_CJSON(o);
	int rc;

	if (whole) {
		rc = S_head(&o, "check", a, f);
		if (!rc)
			rc = S_name(o, "path", path, f);
		if (!rc)
			rc = S_rows(o, a, f);
		return rc ? rc : S_print(out, o, f);
	}
	for (size_t i = 0; i < a->held.n; i++)
		if (a->held.at[i].fence == fence)
			shown = i;
	rc = json_new_object(&o, f);
	if (!rc)
		rc = S_row(o, &a->held.at[shown], a, f);
	return rc ? rc : S_print(out, o, f);
}

int
render_json_reap(FILE *out, const struct answer *a, struct fault *f)
{
	OWN_CJSON(o);
	int rc = json_new_object(&o, f);

	if (!rc)
		rc = json_add_text(o, "kind", "reap", f);
	if (!rc)
		rc = json_add_int(o, "reaped", (int64_t)a->reaped, f);
	return rc ? rc : S_print(out, o, f);
}

int
render_json_status(FILE *out, const struct answer *a, struct fault *f)
{
	OWN_CJSON(end);
	int rc = 0;

	for (size_t i = 0; !rc && i < a->held.n; i++) {
		OWN_CJSON(o);

		rc = json_new_object(&o, f);
		if (!rc)
			rc = json_add_text(o, "kind", "lease", f);
		if (!rc)
			rc = S_row(o, &a->held.at[i], a, f);
		if (!rc)
			rc = S_print(out, o, f);
	}
	if (!rc)
		rc = json_new_object(&end, f);
	if (!rc)
		rc = json_add_text(end, "kind", "summary", f);
	if (!rc)
		rc = json_add_int(end, "leases", (int64_t)a->held.n, f);
	return rc ? rc : S_print(out, end, f);
}

int
render_json_event(FILE *out, const struct ops_event *e, struct fault *f)
{
	OWN_CJSON(o);
	int rc = json_new_object(&o, f);

	if (!rc)
		rc = json_add_text(o, "kind", "event", f);
	if (!rc)
		rc = json_add_int(o, "seq", e->seq, f);
	if (!rc)
		rc = json_add_int(o, "op", e->op, f);
	if (!rc)
		rc = S_name(o, "verb", e->verb, f);
	if (!rc)
		rc = S_name(o, "event", e->kind, f);
	if (!rc)
		rc = json_add_int(o, "fence", e->fence, f);
	if (!rc)
		rc = S_name(o, "resource", e->resource, f);
	if (!rc)
		rc = S_name(o, "session", e->session, f);
	if (!rc)
		rc = S_name(o, "epoch", e->epoch, f);
	if (!rc)
		rc = S_name(o, "actor", e->actor, f);
	if (!rc)
		rc = S_name(o, "reason", e->reason, f);
	if (!rc)
		rc = S_name(o, "boot", e->boot, f);
	if (!rc)
		rc = json_add_i64(o, "at_ns", e->at, f);
	if (!rc)
		rc = S_utc(o, "at", e->at_utc, f);
	if (!rc)
		rc = json_add_i64(o, "expires_ns", e->expires, f);
	return rc ? rc : S_print(out, o, f);
}

int
render_events_end(FILE *out, uint64_t events, int64_t last, size_t pruned,
		  struct fault *f)
{
	OWN_CJSON(o);
	int rc = json_new_object(&o, f);

	if (!rc)
		rc = json_add_text(o, "kind", "summary", f);
	if (!rc)
		rc = json_add_int(o, "events", (int64_t)events, f);
	if (!rc)
		rc = json_add_int(o, "last", last, f);
	if (!rc)
		rc = json_add_int(o, "pruned", (int64_t)pruned, f);
	return rc ? rc : S_print(out, o, f);
}

void
render_fault_json(FILE *to, const struct fault *what, int status)
{
	struct fault ignored = FAULT_INIT;
	OWN_MEM(char, text);
	OWN_MEM(char, hint);
	OWN_CJSON(o);

	if (render_shown(what->text, &text, &ignored) ||
	    render_shown(what->hint, &hint, &ignored) ||
	    json_new_object(&o, &ignored) ||
	    json_add_text(o, "kind", "error", &ignored) ||
	    json_add_int(o, "exit", status, &ignored) ||
	    json_add_text(o, "reason", fault_name(what->code), &ignored) ||
	    json_add_text(o, "message", text, &ignored) ||
	    json_add_text(o, "hint", hint, &ignored))
		return;
	(void)S_print(to, o, &ignored);
}
