/*
 * cmd_capture.c - takes one packet, and says from whom and how
 */
#include <inttypes.h>
#include <string.h>

#include "base/plural.h"
#include "capture/capture.h"
#include "capture/signals.h"
#include "cli/cli.h"
#include "cli/escape.h"
#include "cli/ndjson.h"
#include "cli/progress.h"
#include "cli/summary.h"

static const enum args_id S_takes[] = {
	ARGS_PID, ARGS_CHECK, ARGS_JOURNAL, ARGS_TIMEOUT, ARGS_MAX_PAUSE,
	ARGS_DISPLACED, ARGS_ACCEPT_NAMES, ARGS_OUTPUT, ARGS_FORCE, ARGS_JSON,
	ARGS_HELP, ARGS_END,
};

const struct args_usage capture_usage = {
	.name = "capture",
	.summary = "Pause the writers of a database and take one packet",
	.takes = S_takes,
	.operands = "DB",
	.min_operands = 1,
	.max_operands = 1,
	.statuses = "  0  captured\n"
		    "  2  the command line is wrong\n"
		    "  3  refused: the evidence can't be established\n"
		    "  4  the evidence is damaged or not supported\n"
		    "  5  trouble: rights, I/O, a limit, the sandbox\n"
		    "  6  captured, but something was not examined\n",
	.example = "holdfast capture -o app.holdfast /var/lib/app/app.db",
};

static void
S_json_writers(struct ndjson *j, const char *key, const struct writers *w,
	       bool paused)
{
	ndjson_open(j, key, '[');
	for (size_t i = 0; w && i < w->count; i++) {
		const struct writer *one = &w->writer[i];

		if (one->paused != paused)
			continue;
		ndjson_open(j, NULL, '{');
		ndjson_int(j, "pid", one->pid);
		ndjson_u64(j, "start_time", one->start_time);
		ndjson_name(j, "exe", one->exe);
		ndjson_int(j, "uid", one->uid);
		ndjson_bool(j, "was_stopped", one->was_stopped);
		ndjson_int(j, "threads", one->threads);
		ndjson_int(j, "descriptors", one->descriptors);
		ndjson_close(j, '}');
	}
	ndjson_close(j, ']');
}

static void
S_json_files(struct ndjson *j, const struct capture_result *r)
{
	ndjson_open(j, "files", '[');
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct capture_file *file = &r->file[role];

		if (!file->present)
			continue;
		ndjson_open(j, NULL, '{');
		ndjson_text(j, "role", role_name((enum role)role));
		ndjson_u64(j, "bytes", file->bytes);
		ndjson_text(j, "sha256", file->sha256[0] ? file->sha256 : NULL);
		ndjson_u64(j, "dev", file->dev);
		ndjson_u64(j, "ino", file->ino);
		ndjson_close(j, '}');
	}
	ndjson_close(j, ']');
}

static void
S_json(FILE *out, const struct args *a, const struct capture_result *r)
{
	struct ndjson j = NDJSON_INIT(out);

	ndjson_open(&j, NULL, '{');
	ndjson_bool(&j, "check", a->check);
	ndjson_name(&j, "packet", r->packet);
	ndjson_text(&j, "id", r->id[0] ? r->id : NULL);
	ndjson_name(&j, "database", r->database);
	ndjson_u64(&j, "pause_ns", r->pause_ns);
	ndjson_int(&j, "attempts", r->attempts);
	ndjson_text(&j, "authority", r->authority);
	ndjson_text(&j, "binding", r->binding);
	ndjson_bool(&j, "displaced", r->displaced);
	S_json_writers(&j, "writers", r->writers, true);
	S_json_writers(&j, "holders", r->writers, false);
	S_json_files(&j, r);
	ndjson_notes(&j, &r->not_checked);
	ndjson_close(&j, '}');
	ndjson_line(&j);
}

/* "python3 (pid 17, 4 threads), app (pid 18, 1 thread)" */
static void
S_list_writers(FILE *out, const struct writers *w, bool paused)
{
	const char *before = "";

	for (size_t i = 0; w && i < w->count; i++) {
		const struct writer *one = &w->writer[i];
		const char *slash = strrchr(one->exe, '/');

		if (one->paused != paused)
			continue;
		(void)fputs(before, out);
		escape_puts(out, slash ? slash + 1 : one->exe);
		(void)fprintf(out, " (pid %d", (int)one->pid);
		/* A survey counts no threads. */
		if (one->threads > 0)
			(void)fprintf(out, ", %u thread%s", one->threads,
				      plural_s(one->threads));
		if (one->was_stopped)
			(void)fputs(", stopped before and still so", out);
		(void)fputc(')', out);
		before = ", ";
	}
}

static size_t
S_count(const struct writers *w, bool paused)
{
	size_t n = 0;

	for (size_t i = 0; w && i < w->count; i++)
		n += w->writer[i].paused == paused;
	return n;
}

static void
S_list_files(FILE *out, const struct capture_result *r)
{
	const char *before = "";

	for (int role = 0; role < ROLE_COUNT; role++) {
		if (!r->file[role].present)
			continue;
		(void)fprintf(out, "%s%s %" PRIu64 " byte%s", before,
			      role_name((enum role)role), r->file[role].bytes,
			      plural_s(r->file[role].bytes));
		before = ", ";
	}
}

static void
S_print_binding(FILE *out, const struct capture_result *r, bool check)
{
	if (strcmp(r->binding, "none") == 0)
		(void)fputs("no WAL, SHM or journal to bind", out);
	else
		(void)fprintf(out, "%s %s", check ? "to be bound:" :
			      "bound:", r->binding);
	if (r->displaced)
		(void)fputs(", displaced: the names show other files", out);
}

static void
S_text(FILE *out, const struct args *a, const struct capture_result *r)
{
	bool stopped = S_count(r->writers, true) == 0;

	(void)fputs(a->check ? "would capture " : "captured ", out);
	escape_puts(out, r->database);
	(void)fputs(!stopped ? " from " : r->not_checked.count > 0 ?
		    ", which nobody that we can see has open for writing" :
		    ", which nobody has open for writing", out);
	S_list_writers(out, r->writers, true);
	(void)fputs(": ", out);
	S_list_files(out, r);
	(void)fputs("; ", out);
	S_print_binding(out, r, a->check);
	if (!stopped)
		(void)fprintf(out, a->check ? "; pause by guess at most "
					      "%.1f ms" : "; paused %.1f ms",
			      (double)r->pause_ns / 1e6);
	if (r->attempts > 1)
		(void)fprintf(out, " in the last of %u attempts", r->attempts);
	(void)fputs(".\n", out);
	if (S_count(r->writers, false) > 0) {
		(void)fputs("also held, not for writing, by ", out);
		S_list_writers(out, r->writers, false);
		(void)fputc('\n', out);
	}
	if (r->packet) {
		(void)fputs("packet ", out);
		escape_puts(out, r->packet);
		(void)fprintf(out, "\nid     %s\n", r->id);
	}
	summary_notes(out, &r->not_checked);
}

int
cmd_capture(const struct args *a, FILE *out, enum cli_status *status,
	    struct fault *f)
{
	struct capture_result r
		__attribute__((cleanup(capture_result_free))) = { .id = "" };
	struct progress progress;
	const struct capture_request q = {
		.db = a->operand[0],
		.pids = a->pids,
		.npids = a->npids,
		.output = a->output,
		.force = a->force,
		.refuse_journal = a->refuse_journal,
		.displaced = a->displaced,
		.accept_names = a->accept_names,
		.timeout_s = a->timeout_s,
		.max_pause_s = a->max_pause_s,
		.progress = progress_step,
		.progress_arg = &progress,
	};
	OWN_SIGNALS(held);
	int rc;

	signals_block(&held);
	progress_init(&progress, stderr);
	rc = a->check ? capture_survey(&q, &r, f) : capture_run(&q, &r, f);
	progress_end(&progress);
	if (rc < 0)
		return rc;
	signals_drop(&held);
	if (a->json)
		S_json(out, a, &r);
	else
		S_text(out, a, &r);
	*status = summary_status(&r.not_checked);
	return 0;
}
