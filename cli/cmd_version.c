/*
 * cmd_version.c - the version, and those of the libraries
 */
#include <cjson/cJSON.h>
#include <openssl/opensslv.h>

#include "cli/cli.h"
#include "cli/escape.h"
#include "cli/ndjson.h"
#include "warden/warden.h"

static const enum args_id S_takes[] = { ARGS_JSON, ARGS_HELP, ARGS_END };

const struct args_usage version_usage = {
	.name = "version",
	.summary = "Show the version and those of the libraries",
	.takes = S_takes,
	.operands = "",
	.statuses = "  0  shown\n"
		    "  5  SQLite's is not known: its program did not start\n",
	.example = "holdfast version",
};

/* SQLite is linked by the helper alone, which greets with its version. */
static int
S_ask_helper(struct warden **helper, struct fault *f)
{
	int rc = warden_begin(helper, NULL, 0, NULL, f);

	if (!rc)
		rc = warden_ready(*helper, f);
	return rc ? fault_wrap(f, "SQLite's version is not known") : 0;
}

static void
S_json(FILE *out, const struct warden_seen *said)
{
	struct ndjson j = NDJSON_INIT(out);

	ndjson_open(&j, NULL, '{');
	ndjson_text(&j, "version", HOLDFAST_VERSION);
	ndjson_text(&j, "cjson", cJSON_Version());
	ndjson_text(&j, "openssl", OPENSSL_VERSION_TEXT);
	ndjson_text(&j, "sqlite", said ? said->sqlite : NULL);
	ndjson_text(&j, "sqlite_source", said ? said->sqlite_source : NULL);
	ndjson_close(&j, '}');
	ndjson_line(&j);
}

int
cmd_version(const struct args *a, FILE *out, enum cli_status *status,
	    struct fault *f)
{
	const struct warden_seen *said = NULL;
	OWN_WARDEN(helper);
	int rc = S_ask_helper(&helper, f);

	if (!rc)
		said = warden_seen(helper);
	*status = CLI_YES;
	if (a->json) {
		S_json(out, said);
		return rc;
	}
	(void)fprintf(out, "holdfast %s (cJSON %s, %s)\n", HOLDFAST_VERSION,
		      cJSON_Version(), OPENSSL_VERSION_TEXT);
	if (said) {
		(void)fputs("SQLite ", out);
		escape_puts(out, said->sqlite);
		(void)fputs(", ", out);
		escape_puts(out, said->sqlite_source);
		(void)fputs("\n", out);
	}
	return rc;
}
