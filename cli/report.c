/*
 * report.c - faults in words and in JSON, and the exit status that counts
 */
#include "cli/report.h"

#include <errno.h>

#include "cli/escape.h"
#include "cli/ndjson.h"

enum cli_status
report_status(enum fault_code code)
{
	switch (code) {
	case FAULT_NONE:
		return CLI_YES;
	case FAULT_USAGE:
		return CLI_USAGE;
	case FAULT_REFUSED:
	case FAULT_AMBIGUOUS:
	case FAULT_UNSTABLE:
		return CLI_REFUSED;
	case FAULT_DAMAGED:
		return CLI_DAMAGED;
	case FAULT_TROUBLE:
	case FAULT_CAP:
	case FAULT_SANDBOX:
	case FAULT_INTERRUPTED:
		return CLI_TROUBLE;
	}
	return CLI_TROUBLE;
}

enum cli_status
report_worst(enum cli_status a, enum cli_status b)
{
	static const enum cli_status order[] = {
		CLI_USAGE, CLI_TROUBLE, CLI_REFUSED, CLI_DAMAGED, CLI_NO,
		CLI_UNCHECKED,
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return CLI_YES;
}

void
report_fault(FILE *to, const struct fault *what)
{
	(void)fputs("holdfast: ", to);
	escape_puts(to, what->text);
	if (what->hint[0]) {
		(void)fputs("\n  ", to);
		escape_puts(to, what->hint);
	}
	(void)fputc('\n', to);
}

void
report_fault_json(FILE *to, const struct fault *what)
{
	struct ndjson j = NDJSON_INIT(to);

	ndjson_open(&j, NULL, '{');
	ndjson_text(&j, "kind", "error");
	ndjson_int(&j, "exit", report_status(what->code));
	ndjson_text(&j, "reason", fault_name(what->code));
	ndjson_text(&j, "message", what->text);
	ndjson_text(&j, "hint", what->hint);
	ndjson_close(&j, '}');
	ndjson_line(&j);
}

int
report_written(FILE *out, struct fault *f)
{
	if (!ferror_unlocked(out))
		return 0;
	return fault_sys(f, FAULT_TROUBLE, errno, "write standard output");
}
