/*
 * args.c - the options of all commands: one table, and how it is parsed
 */
#include "cli/args.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "cli/args_table.h"

#define ARGS_TIMEOUT_S 5.0
#define ARGS_MAX_PAUSE_S 30.0
#define ARGS_SECONDS_MAX 86400.0
#define ARGS_MIB_MAX (1u << 24)
#define ARGS_PIDS_MAX 4096u
#define ARGS_BINDS_MAX 4096u
/* getopt answers with the option's id from here on. */
#define ARGS_LONG 256

const struct args_option args_options[ARGS_COUNT] = {
[ARGS_PID] = { 0, "pid", "PID", true,
	"a process that holds DB (default: all are found)" },
[ARGS_CHECK] = { 0, "check", NULL, false,
	"say what a capture would do; pause nobody" },
[ARGS_JOURNAL] = { 0, "journal", "rollback|refuse", false,
	"of a hot rollback journal (rollback)" },
[ARGS_TIMEOUT] = { 0, "timeout", "SEC", false,
	"bound of stopping the writers (5)" },
[ARGS_MAX_PAUSE] = { 0, "max-pause", "SEC", false,
	"bound of the whole pause (30)" },
[ARGS_DISPLACED] = { 0, "displaced", NULL, false,
	"take the writer's files, whatever the names show" },
[ARGS_POLICY] = { 0, "policy", "FILE", false,
	"what may differ (docs/POLICY.md)" },
[ARGS_BIND] = { 0, "bind", "NAME=CELL", true,
	"what a name of the policy stands for" },
[ARGS_UNCHANGED] = { 0, "unchanged", NULL, false,
	"nothing may differ" },
[ARGS_VIEW] = { 0, "view", "recovery|live", false,
	"as a fresh open sees it, or the writer (recovery)" },
[ARGS_FULL] = { 0, "full", NULL, false,
	"the unchanged cells of changed rows as well" },
[ARGS_IGNORE_ROWID] = { 0, "ignore-rowid", NULL, false,
	"compare tables without a key as multisets of rows" },
[ARGS_EXPECT_ID] = { 0, "expect-id", "ID", true,
	"it must be this packet; once for each, in order" },
[ARGS_ACCEPT_NAMES] = { 0, "accept-names", NULL, false,
	"trust names where others may write the folder" },
[ARGS_MEMORY_LIMIT] = { 0, "memory-limit", "MIB", false,
	"the helper's memory (1024, or 1/4 of what is free)" },
[ARGS_TIME_LIMIT] = { 0, "time-limit", "SEC", false,
	"the helper's processor time (900)" },
[ARGS_OUTPUT_LIMIT] = { 0, "output-limit", "MIB", false,
	"the helper's answer (65536)" },
[ARGS_OUTPUT] = { 'o', NULL, "FILE", false,
	"where to write" },
[ARGS_FORCE] = { 0, "force", NULL, false,
	"replace FILE" },
[ARGS_CSV] = { 0, "csv", NULL, false,
	"comma-separated values (RFC 4180)" },
[ARGS_JSON] = { 0, "json", NULL, false,
	"JSON, one object a line, and nothing else" },
[ARGS_HELP] = { 'h', "help", NULL, false,
	"this text" },
};

void
args_init(struct args *a)
{
	*a = (struct args){
		.timeout_s = ARGS_TIMEOUT_S,
		.max_pause_s = ARGS_MAX_PAUSE_S,
	};
}

void
args_free(struct args *a)
{
	free(a->pids);
	free(a->binds);
	args_init(a);
}

static int
S_value_fault(enum args_id id, const char *value, const char *want,
	      struct fault *f)
{
	return fault_set(f, FAULT_USAGE, "--%s %s: not %s",
			 args_options[id].name, value, want);
}

static int
S_range_fault(enum args_id id, const char *value, const char *want,
	      uint64_t max, struct fault *f)
{
	return fault_set(f, FAULT_USAGE, "--%s %s: not %s from 1 to %llu",
			 args_options[id].name, value, want,
			 (unsigned long long)max);
}

static int
S_empty_value(enum args_id id, struct fault *f)
{
	char spelt[ARGS_SPELT_BYTES];

	args_spell(&args_options[id], spelt);
	return fault_set(f, FAULT_USAGE, "%s: the value is empty", spelt);
}

static int
S_whole(enum args_id id, const char *text, uint64_t max, const char *want,
	uint64_t *v, struct fault *f)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || n == 0 ||
	    n > max)
		return S_range_fault(id, text, want, max, f);
	*v = n;
	return 0;
}

static int
S_seconds(enum args_id id, const char *text, double *v, struct fault *f)
{
	char *end;
	double s = strtod(text, &end);

	if (text[0] < '.' || text[0] > '9' || *end ||
	    !(s > 0 && s <= ARGS_SECONDS_MAX))
		return S_value_fault(id, text, "a number of seconds above 0 "
				     "and up to a day", f);
	*v = s;
	return 0;
}

static int
S_choice(enum args_id id, const char *text, const char *no, const char *yes,
	 bool *v, struct fault *f)
{
	if (strcmp(text, no) && strcmp(text, yes))
		return fault_set(f, FAULT_USAGE, "--%s %s: neither %s nor %s",
				 args_options[id].name, text, no, yes);
	*v = strcmp(text, yes) == 0;
	return 0;
}

static int
S_pid(struct args *a, const char *text, struct fault *f)
{
	pid_t *grown;
	uint64_t pid;
	int rc = S_whole(ARGS_PID, text, INT_MAX, "a process id", &pid, f);

	if (rc)
		return rc;
	if (a->npids == ARGS_PIDS_MAX)
		return fault_set(f, FAULT_USAGE, "more than %u times --pid",
				 ARGS_PIDS_MAX);
	grown = reallocarray(a->pids, a->npids + 1, sizeof(*grown));
	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	a->pids = grown;
	a->pids[a->npids++] = (pid_t)pid;
	return 0;
}

static int
S_bind(struct args *a, const char *text, struct fault *f)
{
	const char **grown;

	if (a->nbinds == ARGS_BINDS_MAX)
		return fault_set(f, FAULT_USAGE, "more than %u times --bind",
				 ARGS_BINDS_MAX);
	grown = reallocarray(a->binds, a->nbinds + 1, sizeof(*grown));
	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	a->binds = grown;
	a->binds[a->nbinds++] = text;
	return 0;
}

static int
S_expect_id(struct args *a, const char *text, struct fault *f)
{
	unsigned char raw[DIGEST_BYTES];

	if (digest_unhex(text, raw))
		return S_value_fault(ARGS_EXPECT_ID, text,
				     "64 lower-case hexadecimal digits", f);
	if (a->nexpected == ASK_SIDES)
		return fault_set(f, FAULT_USAGE,
				 "--expect-id more often than packets");
	a->expect_id[a->nexpected++] = text;
	return 0;
}

static int
S_mib(enum args_id id, const char *text, uint64_t *bytes, struct fault *f)
{
	int rc = S_whole(id, text, ARGS_MIB_MAX, "a number of MiB", bytes, f);

	*bytes <<= 20;
	return rc;
}

static int
S_cpu(struct args *a, const char *text, struct fault *f)
{
	uint64_t s = 0;
	int rc = S_whole(ARGS_TIME_LIMIT, text, (uint64_t)ARGS_SECONDS_MAX,
			 "a whole number of seconds", &s, f);

	a->cpu_seconds = (uint32_t)s;
	return rc;
}

static int
S_take(struct args *a, enum args_id id, const char *value, struct fault *f)
{
	if (value && !*value)
		return S_empty_value(id, f);
	switch (id) {
	case ARGS_PID:
		return S_pid(a, value, f);
	case ARGS_JOURNAL:
		return S_choice(id, value, "rollback", "refuse",
				&a->refuse_journal, f);
	case ARGS_VIEW:
		return S_choice(id, value, "recovery", "live", &a->live, f);
	case ARGS_TIMEOUT:
		return S_seconds(id, value, &a->timeout_s, f);
	case ARGS_MAX_PAUSE:
		return S_seconds(id, value, &a->max_pause_s, f);
	case ARGS_EXPECT_ID:
		return S_expect_id(a, value, f);
	case ARGS_MEMORY_LIMIT:
		return S_mib(id, value, &a->memory_limit, f);
	case ARGS_OUTPUT_LIMIT:
		return S_mib(id, value, &a->output_limit, f);
	case ARGS_TIME_LIMIT:
		return S_cpu(a, value, f);
	case ARGS_CHECK:
		a->check = true;
		return 0;
	case ARGS_DISPLACED:
		a->displaced = true;
		return 0;
	case ARGS_UNCHANGED:
		a->unchanged = true;
		return 0;
	case ARGS_FULL:
		a->full = true;
		return 0;
	case ARGS_IGNORE_ROWID:
		a->ignore_rowid = true;
		return 0;
	case ARGS_ACCEPT_NAMES:
		a->accept_names = true;
		return 0;
	case ARGS_FORCE:
		a->force = true;
		return 0;
	case ARGS_CSV:
		a->csv = true;
		return 0;
	case ARGS_JSON:
		a->json = true;
		return 0;
	case ARGS_POLICY:
		if (a->policy)
			return fault_set(f, FAULT_USAGE,
					 "--policy is given once");
		a->policy = value;
		return 0;
	case ARGS_BIND:
		return S_bind(a, value, f);
	case ARGS_OUTPUT:
		a->output = value;
		return 0;
	case ARGS_HELP:
		return 1;
	case ARGS_END:
	case ARGS_COUNT:
		break;
	}
	fault_must_failed("every option has an id", __FILE__, __LINE__);
}

/* The command's options as getopt_long wants them. */
static void
S_getopt_tables(const struct args_usage *u, struct option lng[ARGS_COUNT],
		char letters[2 * ARGS_COUNT + 2])
{
	size_t n = 0, k = 0;

	letters[k++] = ':';
	for (const enum args_id *id = u->takes; *id != ARGS_END; id++) {
		const struct args_option *o = &args_options[*id];

		if (o->letter) {
			letters[k++] = o->letter;
			if (o->value)
				letters[k++] = ':';
		}
		if (o->name)
			lng[n++] = (struct option){
				.name = o->name,
				.has_arg = o->value ? required_argument
						    : no_argument,
				.val = ARGS_LONG + (int)*id,
			};
	}
	letters[k] = '\0';
	lng[n] = (struct option){ .name = NULL };
}

static enum args_id
S_id(const struct args_usage *u, int got)
{
	const enum args_id *id = u->takes;

	if (got >= ARGS_LONG)
		return (enum args_id)(got - ARGS_LONG);
	while (args_options[*id].letter != got)
		id++;
	return *id;
}

static int
S_bad_option(const struct args_usage *u, int got, const char *word,
	     struct fault *f)
{
	if (got == ':')
		return fault_set(f, FAULT_USAGE, "%s lacks its value", word);
	if (strncmp(word, "--", 2) == 0)
		return fault_set(f, FAULT_USAGE,
				 "%s: %s has no such option, or takes no value"
				 " with it", word, u->name);
	return fault_set(f, FAULT_USAGE, "-%c: %s has no such option", optopt,
			 u->name);
}

static bool
S_given(const struct args *a, enum args_id id)
{
	return id == ARGS_END || (id == ARGS_OUTPUT && a->output) ||
	       (id == ARGS_UNCHANGED && a->unchanged) ||
	       (id == ARGS_POLICY && a->policy);
}

/* One of two that a command can't do without, and not both. */
static int
S_check_choice(const struct args_usage *u, const struct args *a,
	       struct fault *f)
{
	bool one = S_given(a, u->required), other = S_given(a, u->or_else);

	if (one && other)
		return fault_set(f, FAULT_USAGE,
				 "--%s and --%s exclude each other",
				 args_options[u->required].name,
				 args_options[u->or_else].name);
	if (!one && !other)
		return fault_set(f, FAULT_USAGE, "%s needs --%s or --%s",
				 u->name, args_options[u->required].name,
				 args_options[u->or_else].name);
	if (a->nbinds && !a->policy)
		return fault_set(f, FAULT_USAGE, "--bind is for a --policy");
	return 0;
}

static int
S_check(const struct args_usage *u, const struct args *a, struct fault *f)
{
	const struct args_option *need = &args_options[u->required];

	if (a->noperands < u->min_operands)
		return fault_set(f, FAULT_USAGE, "%s needs %s", u->name,
				 u->operands);
	if (a->noperands > u->max_operands)
		return fault_set(f, FAULT_USAGE, "too many arguments: %s",
				 a->operand[u->max_operands]);
	for (int i = 0; i < a->noperands; i++)
		if (!*a->operand[i])
			return fault_set(f, FAULT_USAGE, "an empty argument, "
					 "where %s is wanted", u->operands);
	if (u->or_else != ARGS_END)
		return S_check_choice(u, a, f);
	if (!S_given(a, u->required) && need->name)
		return fault_set(f, FAULT_USAGE, "%s needs --%s", u->name,
				 need->name);
	if (!S_given(a, u->required))
		return fault_set(f, FAULT_USAGE, "%s needs -%c %s", u->name,
				 need->letter, need->value);
	if (a->json && a->csv)
		return fault_set(f, FAULT_USAGE,
				 "--json and --csv exclude each other");
	return 0;
}

int
args_parse(const struct args_usage *u, int argc, char **argv, struct args *a,
	   struct fault *f)
{
	struct option lng[ARGS_COUNT];
	char letters[2 * ARGS_COUNT + 2];
	int got, rc;

	S_getopt_tables(u, lng, letters);
	opterr = 0;
	optind = 0;
	while ((got = getopt_long(argc, argv, letters, lng, NULL)) != -1) {
		if (got == '?' || got == ':')
			rc = S_bad_option(u, got, argv[optind - 1], f);
		else
			rc = S_take(a, S_id(u, got), optarg, f);
		if (rc)
			break;
	}
	if (got == -1) {
		a->operand = argv + optind;
		a->noperands = argc - optind;
		rc = S_check(u, a, f);
	}
	if (rc < 0 && f->code == FAULT_USAGE)
		(void)fault_hint(f, "try 'holdfast %s --help'", u->name);
	return rc;
}

bool
args_want_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}
