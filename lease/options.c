/*
 * options.c - the words of "holdfast lease …": one table parses and explains
 */
#include "lease/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lease/instant.h"
#include "lease/limits.h"
#include "lease/owner.h"

enum option_id {
	OPT_SESSION,
	OPT_EPOCH,
	OPT_AGENT,
	OPT_CWD,
	OPT_TTL,
	OPT_NOTE,
	OPT_FENCE,
	OPT_REASON,
	OPT_SINCE,
	OPT_PRUNE,
	OPT_DB,
	OPT_JSON,
	OPT_HELP,
	OPT_COUNT
};

#define BIT(id) (1u << (id))
#define OWNER (BIT(OPT_SESSION) | BIT(OPT_EPOCH))
#define TAKES (OWNER | BIT(OPT_AGENT) | BIT(OPT_CWD) | BIT(OPT_TTL) | \
	       BIT(OPT_NOTE))
#define ALWAYS (BIT(OPT_DB) | BIT(OPT_JSON) | BIT(OPT_HELP))

static const struct {
	const char *name, *value;
	const char *help;
} S_option[OPT_COUNT] = {
[OPT_SESSION] = { "session", "S", "who asks; of force-release: who forces" },
[OPT_EPOCH] = { "epoch", "E", "with the session, the owner (empty)" },
[OPT_AGENT] = { "agent", "A", "a name to show" },
[OPT_CWD] = { "cwd", "D", "where relative paths begin (here)" },
[OPT_TTL] = { "ttl-sec", "N", "how long the lease lasts (900)" },
[OPT_NOTE] = { "note", "T", "a text to show" },
[OPT_FENCE] = { "fence", "F", "the number that acquire gave" },
[OPT_REASON] = { "reason", "T", "why it is forced; kept in the events" },
[OPT_SINCE] = { "since", "N", "only events behind number N" },
[OPT_PRUNE] = { "prune", "N", "drop events up to N that no lease needs" },
[OPT_DB] = { "db", "FILE", "the lease database" },
[OPT_JSON] = { "json", NULL, "JSON, one object a line, and nothing else" },
[OPT_HELP] = { "help", NULL, "this text" },
};

static const struct {
	const char *name;
	const char *usage;	/* lines of at most 80 columns */
	unsigned takes, needs;
	bool paths;		/* operands: at least one */
} S_verb[VERB_COUNT] = {
[VERB_ACQUIRE] = { "acquire",
	"acquire --session S [--epoch E] [--agent A] [--cwd D]\n"
	"               [--ttl-sec N] [--note T] [--db FILE] [--json] PATH...",
	TAKES, BIT(OPT_SESSION), true },
[VERB_RENEW] = { "renew",
	"renew --fence F [--session S [--epoch E]] [--ttl-sec N]\n"
	"               [--db FILE] [--json]",
	OWNER | BIT(OPT_FENCE) | BIT(OPT_TTL), BIT(OPT_FENCE), false },
[VERB_RELEASE] = { "release-session",
	"release-session --session S [--epoch E] [--db FILE]\n"
	"               [--json]",
	OWNER, BIT(OPT_SESSION), false },
[VERB_FORCE] = { "force-release",
	"force-release --fence F --reason T [--session S]\n"
	"               [--db FILE] [--json]",
	BIT(OPT_FENCE) | BIT(OPT_REASON) | BIT(OPT_SESSION),
	BIT(OPT_FENCE) | BIT(OPT_REASON), false },
[VERB_CHECK] = { "check",
	"check [--fence F] [--cwd D] [--db FILE] [--json] PATH",
	BIT(OPT_FENCE) | BIT(OPT_CWD), 0, true },
[VERB_STATUS] = { "status", "status [--db FILE] [--json]", 0, 0, false },
[VERB_REAP] = { "reap", "reap [--db FILE] [--json]", 0, 0, false },
[VERB_EVENTS] = { "events",
	"events [--since N] [--prune N] [--db FILE] [--json]",
	BIT(OPT_SINCE) | BIT(OPT_PRUNE), 0, false },
[VERB_RUN] = { "run",
	"run --session S [--epoch E] [--agent A] [--cwd D]\n"
	"               [--ttl-sec N] [--note T] [--db FILE] [--json] PATH...\n"
	"               -- CMD [ARG]...",
	TAKES, BIT(OPT_SESSION), true },
};

void
options_help(FILE *to)
{
	char spelt[32];

	for (size_t i = 0; i < VERB_COUNT; i++)
		(void)fprintf(to, "%s holdfast lease %s\n",
			      i ? "      " : "usage:", S_verb[i].usage);
	(void)fputs("\nSay who may write a path on this machine.\n\n"
		    "options:\n", to);
	for (size_t i = 0; i < OPT_COUNT; i++) {
		(void)snprintf(spelt, sizeof(spelt), "%s--%s%s%s",
			       i == OPT_HELP ? "-h, " : "", S_option[i].name,
			       S_option[i].value ? " " : "",
			       S_option[i].value ? S_option[i].value : "");
		(void)fprintf(to, "  %-25s  %s\n", spelt, S_option[i].help);
	}
	(void)fputs("\nexit status:\n"
		    "  0  acquired, renewed, released, free\n"
		    "  1  no: that fence is not held (any more)\n"
		    "  2  the command line is wrong\n"
		    "  3  refused: the database is not ours alone\n"
		    "  4  the database is damaged\n"
		    "  5  trouble: rights, I/O, no turn in time\n"
		    "  7  busy: another owner holds it\n"
		    "run gives the status of CMD; its own failures are 125.\n"
		    "\nexample:\n"
		    "  holdfast lease acquire --session ada --epoch 1 src\n",
		    to);
}

/* A whole number: from 1 on, or of --since from 0 on. */
static int
S_number(enum option_id id, const char *text, int64_t max, int64_t *v,
	 struct fault *f)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || n > max ||
	    (n == 0 && id != OPT_SINCE))
		return fault_set(f, FAULT_USAGE,
				 "--%s %s: not a whole number from %d to %lld",
				 S_option[id].name, text, id != OPT_SINCE,
				 (long long)max);
	*v = n;
	return 0;
}

static int
S_text(enum option_id id, const char *value, size_t max, const char **to,
       struct fault *f)
{
	char what[32];

	(void)snprintf(what, sizeof(what), "--%s", S_option[id].name);
	*to = value;
	return owner_text(what, value, max, f);
}

static int
S_take(struct options *o, enum option_id id, const char *value,
       struct fault *f)
{
	int rc;

	switch (id) {
	case OPT_SESSION:
		o->session = value;
		return 0;
	case OPT_EPOCH:
		return S_text(id, value, OWNER_NAME_MAX, &o->epoch, f);
	case OPT_AGENT:
		return S_text(id, value, OWNER_NAME_MAX, &o->agent, f);
	case OPT_NOTE:
		return S_text(id, value, OWNER_NOTE_MAX, &o->note, f);
	case OPT_REASON:
		if (!*value)
			return fault_set(f, FAULT_USAGE,
					 "--reason says nothing");
		return S_text(id, value, OWNER_NOTE_MAX, &o->reason, f);
	case OPT_CWD:
		o->cwd = value;
		return 0;
	case OPT_TTL:
		rc = S_number(id, value, LIMITS_TTL_MAX_S, &o->ttl, f);
		o->ttl *= INSTANT_SECOND;
		return rc;
	case OPT_FENCE:
		return S_number(id, value, INT64_MAX, &o->fence, f);
	case OPT_SINCE:
		return S_number(id, value, INT64_MAX, &o->since, f);
	case OPT_PRUNE:
		return S_number(id, value, INT64_MAX, &o->prune, f);
	case OPT_DB:
		o->db = value;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_HELP:
		return 1;
	case OPT_COUNT:
		break;
	}
	fault_must_failed("every option has an id", __FILE__, __LINE__);
}

static int
S_check(const struct options *o, unsigned given, struct fault *f)
{
	unsigned takes = S_verb[o->verb].takes | ALWAYS;
	unsigned lacks = S_verb[o->verb].needs & ~given;
	const char *name = S_verb[o->verb].name;

	for (size_t i = 0; i < OPT_COUNT; i++) {
		if (given & ~takes & BIT(i))
			return fault_set(f, FAULT_USAGE, "%s takes no --%s",
					 name, S_option[i].name);
		if (lacks & BIT(i))
			return fault_set(f, FAULT_USAGE, "%s needs --%s %s",
					 name, S_option[i].name,
					 S_option[i].value);
	}
	if (S_verb[o->verb].paths && o->npaths == 0)
		return fault_set(f, FAULT_USAGE, "%s needs a path", name);
	if (o->npaths > (o->verb == VERB_CHECK ? 1 :
			 S_verb[o->verb].paths ? INT_MAX : 0))
		return fault_set(f, FAULT_USAGE, "too many arguments: %s",
				 o->paths[o->npaths - 1]);
	if (o->verb == VERB_RUN && (!o->command || !o->command[0]))
		return fault_set(f, FAULT_USAGE, "run needs -- and a command");
	return 0;
}

static int
S_words(int argc, char **argv, struct options *o, struct fault *f)
{
	struct option lng[OPT_COUNT + 1] = { { .name = NULL } };
	unsigned given = 0;
	int got, rc;

	for (int i = 0; i < OPT_COUNT; i++)
		lng[i] = (struct option){
			.name = S_option[i].name,
			.has_arg = S_option[i].value ? required_argument
						     : no_argument,
			.val = 256 + i,
		};
	opterr = 0;
	optind = 0;
	while ((got = getopt_long(argc, argv, ":h", lng, NULL)) != -1) {
		if (got == ':')
			return fault_set(f, FAULT_USAGE, "%s lacks its value",
					 argv[optind - 1]);
		if (got == '?')
			return fault_set(f, FAULT_USAGE,
					 "%s: there is no such option",
					 argv[optind - 1]);
		got = got == 'h' ? OPT_HELP : got - 256;
		rc = S_take(o, (enum option_id)got, optarg, f);
		if (rc)
			return rc;
		given |= BIT(got);
	}
	o->paths = argv + optind;
	o->npaths = argc - optind;
	return S_check(o, given, f);
}

int
options_parse(int argc, char **argv, struct options *o, struct fault *f)
{
	bool json;
	int rc, n = 1;

	*o = (struct options){ .verb = VERB_COUNT, .epoch = "" };
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		o->json = o->json || strcmp(argv[i], "--json") == 0;
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 ||
			 strcmp(argv[1], "-h") == 0))
		return 1;
	for (size_t i = 0; argc > 1 && i < VERB_COUNT; i++)
		if (strcmp(argv[1], S_verb[i].name) == 0)
			o->verb = (enum options_verb)i;
	if (o->verb == VERB_COUNT) {
		(void)fault_set(f, FAULT_USAGE, "lease: %s%s",
				argc > 1 ? "there is no command "
					 : "which command?",
				argc > 1 ? argv[1] : "");
		return fault_hint(f, "try 'holdfast lease --help'");
	}
	/* What stands behind -- is the command's, options and all. */
	while (n < argc && !(o->verb == VERB_RUN && !strcmp(argv[n], "--")))
		n++;
	if (n < argc)
		o->command = argv + n + 1;
	/* It may have been another option's value: only a fault goes by it. */
	json = o->json;
	o->json = false;
	rc = S_words(n - 1, argv + 1, o, f);
	if (rc < 0)
		o->json = json;
	if (rc < 0 && f->code == FAULT_USAGE)
		(void)fault_hint(f, "try 'holdfast lease --help'");
	return rc;
}
