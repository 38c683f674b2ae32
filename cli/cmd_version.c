/*
 * cmd_version.c - the version, and those of the libraries
 */
#include <cjson/cJSON.h>
#include <openssl/opensslv.h>

#include "cli/cli.h"
#include "cli/ndjson.h"

static const enum args_id S_takes[] = { ARGS_JSON, ARGS_HELP, ARGS_END };

const struct args_usage version_usage = {
	.name = "version",
	.summary = "Show the version and those of the libraries",
	.takes = S_takes,
	.operands = "",
	.statuses = "  0  shown\n",
	.example = "holdfast version",
};

int
cmd_version(const struct args *a, FILE *out, enum cli_status *status,
	    struct fault *f)
{
	struct ndjson j = NDJSON_INIT(out);

	(void)f;
	*status = CLI_YES;
	if (!a->json) {
		(void)fprintf(out, "holdfast %s (cJSON %s, %s)\n",
			      HOLDFAST_VERSION, cJSON_Version(),
			      OPENSSL_VERSION_TEXT);
		return 0;
	}
	ndjson_open(&j, NULL, '{');
	ndjson_text(&j, "version", HOLDFAST_VERSION);
	ndjson_text(&j, "cjson", cJSON_Version());
	ndjson_text(&j, "openssl", OPENSSL_VERSION_TEXT);
	ndjson_close(&j, '}');
	ndjson_line(&j);
	return 0;
}
