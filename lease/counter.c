/*
 * counter.c - a line of JSON for each acquire, renew and release
 */
#include "lease/counter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "json/write.h"
#include "lease/render.h"

#define COUNTER_LINE_MAX (16u << 20)

static int
S_maybe(cJSON *to, const char *key, const char *text, struct fault *f)
{
	return text ? json_add_name(to, key, text, strlen(text), f)
		    : json_add_null(to, key, f);
}

/* Strings of an array, where bytes that are no UTF-8 are shown as \xNN. */
static int
S_append(cJSON *array, const char *text, struct fault *f)
{
	OWN_MEM(char, shown);
	int rc = render_shown(text, &shown, f);
	cJSON *item = rc ? NULL : cJSON_CreateString(shown);

	if (rc)
		return rc;
	if (!item || !cJSON_AddItemToArray(array, item)) {
		cJSON_Delete(item);
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	}
	return 0;
}

static int
S_lists(cJSON *to, const struct counter_line *l, struct fault *f)
{
	const struct answer *a = l->answer;
	cJSON *resources, *by, *epochs;
	int rc = json_add_array(to, "resources", &resources, f);

	for (size_t i = 0; !rc && i < l->npaths; i++)
		rc = S_append(resources, l->paths[i], f);
	if (!rc)
		rc = json_add_array(to, "held_by", &by, f);
	for (size_t i = 0; !rc && i < a->held.n; i++)
		rc = S_append(by, a->held.at[i].session, f);
	if (!rc)
		rc = json_add_array(to, "held_epochs", &epochs, f);
	for (size_t i = 0; !rc && i < a->held.n; i++)
		rc = S_append(epochs, a->held.at[i].epoch, f);
	for (size_t i = 0; !rc && i < a->nepochs; i++)
		rc = S_append(epochs, a->epochs[i], f);
	return rc;
}

static int
S_line(const struct counter_line *l, struct buf *b, struct fault *f)
{
	const struct answer *a = l->answer;
	char utc[CLOCK_UTC_BYTES];
	OWN_CJSON(to);
	int rc = json_new_object(&to, f);

	clock_utc(clock_real_ns(), utc);
	if (!rc)
		rc = json_add_text(to, "time", utc, f);
	if (!rc)
		rc = json_add_text(to, "op", l->op, f);
	if (!rc)
		rc = json_add_text(to, "outcome", outcome_name(a->outcome), f);
	if (!rc)
		rc = S_maybe(to, "session", l->session, f);
	if (!rc)
		rc = S_maybe(to, "epoch", l->epoch, f);
	if (!rc)
		rc = S_maybe(to, "agent", l->agent, f);
	if (!rc)
		rc = S_lists(to, l, f);
	if (!rc)
		rc = json_add_int(to, "ttl_sec", l->ttl / INSTANT_SECOND, f);
	if (!rc)
		rc = json_add_int(to, "reaped", (int64_t)a->reaped, f);
	if (!rc)
		rc = json_add_int(to, "count", (int64_t)a->count, f);
	if (!rc)
		rc = json_add_text(to, "scope", l->scope, f);
	if (!rc)
		rc = json_print(to, false, b, f);
	return rc ? rc : buf_append(b, "\n", 1, f);
}

void
counter_add(const struct counter_line *l)
{
	const char *path = getenv(COUNTER_VARIABLE);
	struct buf b = BUF_INIT(COUNTER_LINE_MAX);
	struct fault ignored = FAULT_INIT;
	struct stat st;
	OWN_FD(fd);

	if (!path || !*path)
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC |
			O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    S_line(l, &b, &ignored) == 0 &&
	    write(fd, b.data, b.len) < 0)
		errno = 0;
	buf_free(&b);
}
