/*
 * run.c - runs the controls and says what each showed
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "controls/keeper.h"
#include "controls/registry.h"
#include "controls/report.h"
#include "controls/runner.h"
#include "controls/verbs.h"

struct options {
	const struct report_form *form;
	const char *junit, *product;
	bool allow_skip;
	char **ids;
	size_t nids;
};

static int
S_parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "tap", no_argument, NULL, 't' },
		{ "json", no_argument, NULL, 'j' },
		{ "junit", required_argument, NULL, 'u' },
		{ "product", required_argument, NULL, 'p' },
		{ "allow-skip", no_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	*o = (struct options){ .form = &report_table };
	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0)
		switch (option) {
		case 't':
		case 'j':
			if (o->form != &report_table)
				return verbs_fail(VERBS_USAGE,
						  "one of --tap, --json");
			o->form = option == 't' ? &report_tap : &report_json;
			break;
		case 'u':
			o->junit = optarg;
			break;
		case 'p':
			o->product = optarg;
			break;
		case 'a':
			o->allow_skip = true;
			break;
		case 'h':
			(void)verbs_help();
			exit(VERBS_YES);
		default:
			return VERBS_USAGE;
		}
	o->ids = argv + optind;
	o->nids = (size_t)(argc - optind);
	for (size_t i = 0; i < o->nids; i++)
		if (!registry_find(o->ids[i]))
			return verbs_fail(VERBS_USAGE,
					  "there is no control '%s'; try "
					  "'holdfast-controls list'",
					  o->ids[i]);
	return 0;
}

/* The one named, or the holdfast beside our own binary. */
static int
S_find_product(const char *named, char path[PATH_MAX])
{
	char exe[PATH_MAX];
	ssize_t n;

	if (named) {
		if (!realpath(named, path))
			return verbs_fail(VERBS_USAGE, "product %s: %s",
					  named, strerror(errno));
	} else {
		n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
		exe[n > 0 ? n : 0] = '\0';
		if (!strrchr(exe, '/') ||
		    snprintf(path, PATH_MAX, "%.*s/holdfast",
			     (int)(strrchr(exe, '/') - exe), exe) >= PATH_MAX)
			return verbs_fail(VERBS_TROUBLE,
					  "read /proc/self/exe: %s",
					  strerror(errno));
	}
	if (access(path, X_OK))
		return verbs_fail(VERBS_USAGE, "product %s: %s", path,
				  strerror(errno));
	return 0;
}

bool
report_fails(const struct report_run *run, const struct report_row *r)
{
	return r->verdict.outcome != OUTCOME_HELD &&
		(r->verdict.outcome != OUTCOME_SKIPPED || !run->allow_skip);
}

static double
S_seconds(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Runs the ith of the run into its row; a signal's number, or 0. */
static int
S_one(const struct options *o, struct runner *runner, struct report_run *run,
      size_t i, struct report_row *row)
{
	double start = S_seconds();

	row->control = o->nids ? registry_find(o->ids[i]) : registry_at(i);
	if (runner_run(runner, row->control, &row->findings))
		return runner->signo;
	findings_judge(row->control, &row->findings, &row->verdict);
	row->seconds = S_seconds() - start;
	run->done++;
	run->count[row->verdict.outcome]++;
	run->examined += row->findings.examined;
	run->failed = run->failed || report_fails(run, row);
	o->form->row(run, row, stdout);
	return 0;
}

static int
S_finish(const struct options *o, struct report_run *run,
	 const struct report_row *rows, int signo)
{
	if (o->junit && report_junit(o->junit, run, rows))
		return verbs_fail(VERBS_TROUBLE, "write %s: %s", o->junit,
				  strerror(errno));
	if (signo) {
		sigset_t mask;

		(void)fprintf(stderr, "holdfast-controls: ended by a signal"
			      " after %zu of %zu controls\n", run->done,
			      run->planned);
		(void)fflush(stdout);
		(void)signal(signo, SIG_DFL);
		(void)sigemptyset(&mask);
		(void)sigaddset(&mask, signo);
		(void)raise(signo);
		(void)sigprocmask(SIG_UNBLOCK, &mask, NULL);
	}
	/* Where nothing could run nothing was shown, whatever is allowed. */
	run->failed = run->failed || run->count[OUTCOME_HELD] == 0;
	o->form->end(run, stdout);
	return run->failed ? VERBS_NO : VERBS_YES;
}

int
run_main(int argc, char **argv)
{
	char product[PATH_MAX];
	struct report_run run;
	struct report_row *rows;
	struct runner runner;
	struct options o;
	int status = S_parse(argc, argv, &o), signo = 0;

	if (!status)
		status = S_find_product(o.product, product);
	if (status)
		return status;
	run = (struct report_run){
		.product = product, .allow_skip = o.allow_skip,
		.planned = o.nids ? o.nids : registry_count() };
	rows = calloc(run.planned, sizeof(*rows));
	if (!rows || runner_init(&runner, product, KEEPER_SECONDS)) {
		free(rows);
		return verbs_fail(VERBS_TROUBLE, "%s", strerror(errno));
	}
	o.form->begin(&run, stdout);
	for (size_t i = 0; !signo && i < run.planned; i++)
		signo = S_one(&o, &runner, &run, i, &rows[i]);
	status = S_finish(&o, &run, rows, signo);
	for (size_t i = 0; i < run.done; i++)
		findings_release(&rows[i].verdict);
	free(rows);
	return status;
}
