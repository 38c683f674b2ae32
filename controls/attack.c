/*
 * attack.c - other files under a command's very opens
 *
 * Lifecycle: the folders are held and the journals locked; the command's
 * process is forked and waits; the guardian is forked; only then does the
 * command run. At the end all descendants are dead before the guardian and
 * the journals go.
 */
#include "controls/attack.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "controls/attack_account.h"
#include "controls/attack_guardian.h"
#include "controls/attack_journal.h"
#include "controls/attack_launch.h"
#include "controls/attack_supervise.h"
#include "controls/verbs.h"

#define ATTACK_SWAPS_MAX 16
#define ATTACK_SECONDS 60
#define ATTACK_SECONDS_MAX 86400

static const char S_text[] =
"usage: holdfast controls attack --swap NAME=SUBSTITUTE...\n"
"               [--mode rename|inject] [--at N | --every] [--deadline SEC]\n"
"               [--report FILE] -- COMMAND [ARG]...\n"
"\n"
"Run a command and show it SUBSTITUTE where it opens NAME. All names are as\n"
"before when it looks again.\n"
"\n"
"options:\n"
"  --swap NAME=SUBSTITUTE     two files; - as SUBSTITUTE: no file\n"
"  --mode rename|inject       exchange the names, or hand over a descriptor\n"
"                             (rename)\n"
"  --every                    at every open of each NAME (the default)\n"
"  --at N                     only at the Nth open of each NAME\n"
"  --deadline SEC             end the command after that time; 0: never (60)\n"
"  --report FILE              every open that was seen, as JSON lines\n"
"  -h, --help                 this text\n"
"\n"
"exit status: that of COMMAND, 128 + N when it died of signal N, or\n"
"  96   this system has no seccomp user notification for us\n"
"  97   COMMAND ended, and a NAME was not attacked\n"
"  124  the deadline is over\n"
"  125  the command line is wrong, or trouble\n"
"  126  COMMAND could not be run\n"
"  127  there is no COMMAND\n"
"\n"
"example:\n"
"  holdfast controls attack --swap app.db=evil.db -- sqlite3 app.db .dump\n";

struct attack {
	struct plan plan;
	struct swap swaps[ATTACK_SWAPS_MAX];
	const char *report;
	struct account account;
	struct launch launch;
	struct filter_listener listener;
	struct guardian guardian;
	struct outcome outcome;
};

void
attack_say(const char *text, ...)
{
	va_list ap;

	(void)fputs("holdfast-controls attack: ", stderr);
	va_start(ap, text);
	(void)vfprintf(stderr, text, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
}

/* 0, or -1: said why. */
static int
S_number(const char *option, const char *text, unsigned long least,
	 unsigned long most, unsigned long *v)
{
	char *end;

	errno = 0;
	*v = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && !errno &&
	    *v >= least && *v <= most)
		return 0;
	attack_say("--%s %s: a number from %lu to %lu is expected", option,
		   text, least, most);
	return -1;
}

/* What is found out only with all options read. 0, or -1: said why. */
static int
S_swaps(struct attack *a, char *const *args)
{
	struct plan *p = &a->plan;

	for (size_t i = 0; i < p->nswaps; i++) {
		if (swap_open(&a->swaps[i], args[i], !p->inject))
			return -1;
		for (size_t j = 0; j < i; j++)
			if (a->swaps[j].dir_dev == a->swaps[i].dir_dev &&
			    a->swaps[j].dir_ino == a->swaps[i].dir_ino &&
			    !strcmp(a->swaps[j].c.name, a->swaps[i].c.name)) {
				attack_say("%s is named twice",
					   a->swaps[i].c.name);
				return -1;
			}
	}
	return 0;
}

static int
S_option(struct attack *a, int option, char **args)
{
	struct plan *p = &a->plan;

	switch (option) {
	case 's':
		if (p->nswaps == ATTACK_SWAPS_MAX) {
			attack_say("too many --swap");
			return -1;
		}
		args[p->nswaps++] = optarg;
		return 0;
	case 'm':
		p->inject = !strcmp(optarg, "inject");
		if (p->inject || !strcmp(optarg, "rename"))
			return 0;
		attack_say("--mode %s: rename or inject", optarg);
		return -1;
	case 'a':
		return S_number("at", optarg, 1, ~0UL, &p->at);
	case 'e':
		p->every = true;
		return 0;
	case 'd':
		return S_number("deadline", optarg, 0, ATTACK_SECONDS_MAX,
				&p->seconds);
	case 'r':
		a->report = optarg;
		return 0;
	default:
		return -1;
	}
}

/* 0; 1: help was printed; -1: said why. The command begins at optind. */
static int
S_options(struct attack *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "swap", required_argument, NULL, 's' },
		{ "mode", required_argument, NULL, 'm' },
		{ "at", required_argument, NULL, 'a' },
		{ "every", no_argument, NULL, 'e' },
		{ "deadline", required_argument, NULL, 'd' },
		{ "report", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	char *args[ATTACK_SWAPS_MAX];
	int c;

	a->plan = (struct plan){ .swaps = a->swaps,
				 .seconds = ATTACK_SECONDS };
	optind = 1;
	while ((c = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
		if (c == 'h')
			return fputs(S_text, stdout) < 0 ? -1 : 1;
		if (S_option(a, c, args))
			return -1;
	}
	if (!a->plan.nswaps || optind == argc) {
		attack_say("%s is missing; try 'holdfast controls attack "
			   "--help'", a->plan.nswaps ? "the command" :
			   "--swap NAME=SUBSTITUTE");
		return -1;
	}
	if (a->plan.every && a->plan.at) {
		attack_say("--at and --every exclude each other");
		return -1;
	}
	/* Many programs look into a file before they open it in earnest. */
	a->plan.every = !a->plan.at;
	return S_swaps(a, args);
}

static cJSON *
S_summary(const struct attack *a, int status, char *const *command)
{
	cJSON *o = cJSON_CreateObject(), *list;

	cJSON_AddStringToObject(o, "kind", "summary");
	cJSON_AddStringToObject(o, "mode",
				a->plan.inject ? "inject" : "rename");
	list = cJSON_AddArrayToObject(o, "command");
	for (; *command; command++) {
		cJSON *word = cJSON_CreateObject();

		account_text(word, "w", *command);
		cJSON_AddItemToArray(list, cJSON_DetachItemFromObject(word,
								      "w"));
		cJSON_Delete(word);
	}
	cJSON_AddNumberToObject(o, "opens", (double)a->account.opens);
	cJSON_AddStringToObject(o, "signals", a->listener.killable ?
				"held off" : "may restart a call");
	list = cJSON_AddArrayToObject(o, "swaps");
	for (size_t i = 0; i < a->plan.nswaps; i++) {
		const struct swap *s = &a->swaps[i];
		cJSON *one = cJSON_CreateObject();

		account_text(one, "name", s->c.name);
		account_text(one, "substitute",
			     s->absent ? "-" : s->c.other);
		cJSON_AddNumberToObject(one, "opens", (double)s->opens);
		cJSON_AddNumberToObject(one, "attacks", (double)s->attacks);
		cJSON_AddItemToArray(list, one);
	}
	cJSON_AddNumberToObject(o, "status", status);
	return o;
}

static void
S_never(const struct plan *p, const struct swap *s)
{
	char at[64] = "", paths[256] = "";

	if (!p->every)
		(void)snprintf(at, sizeof(at),
			       ", and it was to be at number %lu", p->at);
	if (s->paths)
		(void)snprintf(paths, sizeof(paths), "; %lu with O_PATH, which "
			       "--mode inject can't answer, since the kernel "
			       "passes no such descriptor on: --mode rename "
			       "attacks it", s->paths);
	attack_say("the attack on %s never took place: %lu open%s by that "
		   "name%s%s", s->c.name, s->opens, s->opens == 1 ? "" : "s",
		   at, paths);
}

/* True: each name was attacked; else it is said which was not. */
static bool
S_took_place(const struct attack *a)
{
	bool all = true;

	for (size_t i = 0; i < a->plan.nswaps; i++) {
		if (a->swaps[i].attacks)
			continue;
		all = false;
		S_never(&a->plan, &a->swaps[i]);
	}
	return all;
}

/* 0 and the command runs, or an exit status. */
static int
S_start(struct attack *a, char *const *command)
{
	struct plan *p = &a->plan;
	sigset_t ours, old;
	int rc;

	for (size_t i = 0; i < p->nswaps && !p->inject; i++)
		if (journal_open(&a->swaps[i]))
			return ATTACK_TROUBLE;
	if (account_start(&a->account, a->report))
		return ATTACK_TROUBLE;
	supervise_signals(&ours);
	sigprocmask(SIG_BLOCK, &ours, &old);
	signal(SIGPIPE, SIG_IGN);
	if (launch_fork(&a->launch, command, !p->inject, &old))
		return ATTACK_TROUBLE;
	if (!p->inject && guardian_start(&a->guardian, p->swaps, p->nswaps,
					 a->launch.pid))
		return ATTACK_TROUBLE;
	rc = launch_listener(&a->launch, &a->listener);
	if (rc)
		return rc;
	return launch_go(&a->launch) ? ATTACK_TROUBLE : 0;
}

/* The guardian goes last: until then a kill of ours is put right. */
static int
S_end(struct attack *a, int status)
{
	launch_end(&a->launch, a->guardian.pid);
	for (size_t i = 0; i < a->plan.nswaps; i++)
		if (!a->swaps[i].crossed)
			journal_remove(&a->swaps[i]);
	guardian_dismiss(&a->guardian);
	for (size_t i = 0; i < a->plan.nswaps; i++)
		swap_close(&a->swaps[i]);
	if (a->listener.fd >= 0)
		close(a->listener.fd);
	return status;
}

int
attack_main(int argc, char **argv)
{
	struct attack a = {
		.launch = { .pid = -1, .socket = -1 },
		.listener = { .fd = -1 },
		.guardian = { .pid = -1, .pipe = -1 },
	};
	int failed = 0, status, rc = S_options(&a, argc, argv);

	if (rc)
		return rc > 0 ? VERBS_YES : ATTACK_TROUBLE;
	status = S_start(&a, argv + optind);
	if (!status) {
		supervise_run(&a.plan, &a.launch, &a.listener, &a.account,
			      &a.outcome);
		status = a.outcome.status;
		failed = launch_failed(&a.launch, argv[optind]);
	}
	if (failed)
		status = failed;
	else if (a.outcome.ended && !S_took_place(&a))
		status = ATTACK_NEVER;
	status = S_end(&a, status);
	if (account_end(&a.account, a.account.f ?
			S_summary(&a, status, argv + optind) : NULL))
		status = ATTACK_TROUBLE;
	return status;
}
