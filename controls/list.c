/*
 * list.c - what the controls are
 */
#include <getopt.h>
#include <stdio.h>

#include "controls/needs.h"
#include "controls/registry.h"
#include "controls/report.h"
#include "controls/verbs.h"

static void
S_text(const struct control *c)
{
	char words[128];

	needs_words(c->needs, words, sizeof(words));
	(void)printf("%s\n  %s\n  attack       %s\n  predecessor  %s\n"
		     "  symptom      %s\n  expected     %s\n"
		     "  inverse      %s\n  needs        %s\n",
		     c->id, c->title, c->attack, c->predecessor, c->symptom,
		     c->expected, c->inverse, words);
}

static void
S_json(const struct control *c)
{
	report_print_json(report_control_json(c), stdout);
}

static void
S_markdown(const struct control *c)
{
	char words[128];

	needs_words(c->needs, words, sizeof(words));
	(void)printf("\n## %s\n\n%s.\n\n"
		     "- **attack:** %s\n- **predecessor:** %s\n"
		     "- **symptom:** %s\n- **Holdfast:** %s\n"
		     "- **attack off:** %s\n- **needs:** %s\n",
		     c->id, c->title, c->attack, c->predecessor, c->symptom,
		     c->expected, c->inverse, words);
}

static const char S_head[] =
"# Controls\n\n"
"Written by `holdfast controls list --markdown`; a test compares the two.\n\n"
"Each control attacks twice: a *predecessor*, which is a stock program or a\n"
"script that imitates a named tool or habit, and Holdfast. The predecessor\n"
"must be fooled by the named symptom, and Holdfast must not be. Without the\n"
"attack both must be right. A control whose predecessor is not fooled, or is\n"
"fooled otherwise, is broken, and so is the run.\n";

int
list_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "markdown", no_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	void (*show)(const struct control *c) = S_text;
	int option;

	while ((option = getopt_long(argc, argv, "+h", options, NULL)) >= 0) {
		if (option == 'h')
			return verbs_help();
		if (option == '?')
			return VERBS_USAGE;
		if (show != S_text)
			return verbs_fail(VERBS_USAGE,
					  "one of --json, --markdown");
		show = option == 'j' ? S_json : S_markdown;
	}
	if (optind < argc)
		return verbs_fail(VERBS_USAGE, "list takes no operands");
	if (show == S_markdown)
		(void)fputs(S_head, stdout);
	for (size_t i = 0; i < registry_count(); i++)
		show(registry_at(i));
	return VERBS_YES;
}
