/*
 * manifest_read.c - a manifest from JSON, strictly
 *
 * Trust: the bytes may be the attacker's.
 */
#include "packet/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "json/json.h"
#include "packet/tar.h"

static const struct json_rules rules = {
	.bytes = MANIFEST_BYTES_MAX,
	.depth = 4,
	.values = 1u << 18,
	.code = FAULT_DAMAGED,
};

static const char *const authorities[] = { "writers", "stopped", NULL };
static const char *const bindings[] = { "sole", "content", "writer-memory",
					"supervised", "stopped", "none",
					NULL };

static int
S_get_word(const struct json *j, const cJSON *obj, const char *key,
	   char word[MANIFEST_WORD_MAX], struct fault *f)
{
	const char *text = NULL;
	int rc = json_get_text(j, obj, key, &text, f);

	if (rc)
		return rc;
	if (!*text || strlen(text) >= MANIFEST_WORD_MAX
	    || text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_.")])
		return json_fault(j, obj, key, f, "must be one short word");
	(void)strcpy(word, text);
	return 0;
}

static int
S_get_one_of(const struct json *j, const cJSON *obj, const char *key,
	     const char *const *known, char word[MANIFEST_WORD_MAX],
	     struct fault *f)
{
	int rc = S_get_word(j, obj, key, word, f);

	if (rc)
		return rc;
	while (*known && strcmp(*known, word) != 0)
		known++;
	return *known ? 0 : json_fault(j, obj, key, f, "no such word is "
				       "known here");
}

static int
S_get_u32(const struct json *j, const cJSON *obj, const char *key,
	  uint32_t *v, struct fault *f)
{
	int64_t n = 0;
	int rc = json_get_int(j, obj, key, 0, UINT32_MAX, &n, f);

	*v = (uint32_t)n;
	return rc;
}

/* A name or a note: bytes without NUL, the caller's. */
static int
S_get_bytes(const struct json *j, const cJSON *obj, const char *key,
	    char **bytes, struct fault *f)
{
	OWN_MEM(char, got);
	size_t n = 0;
	int rc = json_get_name(j, obj, key, &got, &n, f);

	if (rc)
		return rc;
	if (strlen(got) != n)
		return json_fault(j, obj, key, f, "holds a NUL");
	*bytes = TAKE_MEM(got);
	return 0;
}

static int
S_read_database(const struct json *j, const cJSON *root, struct manifest *m,
		struct fault *f)
{
	static const char *const keys[] = { "name", "name64", NULL };
	struct fault ignored = FAULT_INIT;
	const cJSON *o = NULL;
	OWN_MEM(char, name);
	int rc = json_get_object(j, root, "database", &o, f);

	if (rc == 0)
		rc = json_only(j, o, keys, f);
	if (rc == 0)
		rc = S_get_bytes(j, o, "name", &name, f);
	if (rc == 0 && manifest_name(m, name, &ignored))
		rc = json_fault(j, o, "name", f, "must be the plain name of a "
				"file");
	return rc;
}

static int
S_get_boot_id(const struct json *j, const cJSON *o, struct manifest *m,
	      struct fault *f)
{
	const char *text = NULL;
	int rc = json_get_text(j, o, "boot_id", &text, f);

	if (rc)
		return rc;
	if (*text && (strlen(text) != CLOCK_BOOT_ID_BYTES - 1
		      || text[strspn(text, "0123456789abcdef-")]))
		return json_fault(j, o, "boot_id", f, "must be a UUID or "
				  "empty");
	(void)strcpy(m->boot_id, text);
	return 0;
}

static int
S_read_time(const struct json *j, const cJSON *root, struct manifest *m,
	    struct fault *f)
{
	static const char *const keys[] = { "utc_ns", "utc", "boottime_ns",
					    "boot_id", NULL };
	char utc[CLOCK_UTC_BYTES];
	const char *text = NULL;
	const cJSON *o = NULL;
	int rc = json_get_object(j, root, "time", &o, f);

	if (rc == 0)
		rc = json_only(j, o, keys, f);
	if (rc == 0)
		rc = json_get_u64_text(j, o, "utc_ns", &m->utc_ns, f);
	if (rc == 0 && m->utc_ns / CLOCK_NS_PER_SEC > TAR_TIME_MAX)
		rc = json_fault(j, o, "utc_ns", f, "is too late for a header");
	if (rc == 0)
		rc = json_get_text(j, o, "utc", &text, f);
	if (rc)
		return rc;
	clock_utc(m->utc_ns, utc);
	if (strcmp(text, utc) != 0)
		return json_fault(j, o, "utc", f, "is not utc_ns: %s", utc);
	rc = json_get_u64_text(j, o, "boottime_ns", &m->boottime_ns, f);
	return rc ? rc : S_get_boot_id(j, o, m, f);
}

static int
S_read_process(const struct json *j, const cJSON *o,
	       struct manifest_processes *to, struct fault *f)
{
	static const char *const keys[] = {
		"pid", "start_time", "exe", "exe64", "uid", "paused",
		"was_stopped", "threads", "descriptors", NULL
	};
	struct writer w = { .pid = 0 };
	OWN_MEM(char, exe);
	int64_t pid = 0;
	int rc = json_as_object(j, o, f);

	if (rc == 0)
		rc = json_only(j, o, keys, f);
	if (rc == 0)
		rc = json_get_int(j, o, "pid", 1, INT32_MAX, &pid, f);
	if (rc == 0)
		rc = json_get_u64_text(j, o, "start_time", &w.start_time, f);
	if (rc == 0)
		rc = S_get_bytes(j, o, "exe", &exe, f);
	if (rc == 0)
		rc = S_get_u32(j, o, "uid", &w.uid, f);
	if (rc == 0)
		rc = json_get_bool(j, o, "paused", &w.paused, f);
	if (rc == 0)
		rc = json_get_bool(j, o, "was_stopped", &w.was_stopped, f);
	if (rc == 0)
		rc = S_get_u32(j, o, "threads", &w.threads, f);
	if (rc == 0)
		rc = S_get_u32(j, o, "descriptors", &w.descriptors, f);
	if (rc)
		return rc;
	w.pid = (pid_t)pid;
	w.exe = exe;
	return manifest_process(to, &w, f);
}

static int
S_read_processes(const struct json *j, const cJSON *root, const char *key,
		 struct manifest_processes *to, struct fault *f)
{
	const cJSON *list = NULL, *o;
	int rc = json_get_array(j, root, key, &list, f);

	for (o = list ? list->child : NULL; rc == 0 && o; o = o->next)
		rc = S_read_process(j, o, to, f);
	return rc;
}

static int
S_read_checks(const struct json *j, const cJSON *root, struct manifest *m,
	      struct fault *f)
{
	static const char *const keys[] = { "name", "outcome", NULL };
	struct manifest_check c;
	const cJSON *list = NULL, *o;
	int rc = json_get_array(j, root, "checks", &list, f);

	for (o = list ? list->child : NULL; rc == 0 && o; o = o->next) {
		rc = json_as_object(j, o, f);
		if (rc == 0)
			rc = json_only(j, o, keys, f);
		if (rc == 0)
			rc = S_get_word(j, o, "name", c.name, f);
		if (rc == 0)
			rc = S_get_word(j, o, "outcome", c.outcome, f);
		if (rc == 0)
			rc = manifest_check(m, c.name, c.outcome, f);
	}
	return rc;
}

/* 0, or 1: not the one decimal spelling of a 64-bit integer. */
static int
S_get_i64_text(const struct json *j, const cJSON *obj, const char *key,
	       int64_t *v, struct fault *f)
{
	const char *text = NULL;
	int rc = json_get_text(j, obj, key, &text, f);
	const char *digits;
	int64_t n = 0;

	if (rc)
		return rc;
	digits = text + (text[0] == '-');
	if (!*digits || (digits[0] == '0' && (digits[1] || digits != text)))
		rc = 1;
	for (const char *d = digits; rc == 0 && *d; d++)
		rc = *d < '0' || *d > '9'
		     || __builtin_mul_overflow(n, 10, &n)
		     || __builtin_sub_overflow(n, *d - '0', &n);
	/* Built up below zero, where there is one more number. */
	if (rc == 0 && digits == text)
		rc = __builtin_sub_overflow((int64_t)0, n, &n);
	if (rc)
		return json_fault(j, obj, key, f, "must be a whole number in "
				  "a string");
	*v = n;
	return 0;
}

static int
S_read_member_facts(const struct json *j, const cJSON *o,
		    struct manifest_member *m, struct fault *f)
{
	int rc = json_get_u64_text(j, o, "bytes", &m->bytes, f);

	/* No file is larger: off_t is signed. */
	if (rc == 0 && m->bytes > INT64_MAX)
		rc = json_fault(j, o, "bytes", f, "is more than a file holds");
	if (rc == 0)
		rc = json_get_digest(j, o, "sha256", m->sha256, f);
	if (rc == 0)
		rc = json_get_u64_text(j, o, "dev", &m->dev, f);
	if (rc == 0)
		rc = json_get_u64_text(j, o, "ino", &m->ino, f);
	if (rc == 0)
		rc = json_get_u64_text(j, o, "nlink", &m->nlink, f);
	if (rc == 0)
		rc = S_get_u32(j, o, "mode", &m->mode, f);
	if (rc == 0)
		rc = S_get_u32(j, o, "uid", &m->uid, f);
	if (rc == 0)
		rc = S_get_u32(j, o, "gid", &m->gid, f);
	if (rc == 0)
		rc = S_get_i64_text(j, o, "mtime_ns", &m->mtime_ns, f);
	if (rc == 0)
		rc = S_get_i64_text(j, o, "ctime_ns", &m->ctime_ns, f);
	return rc;
}

/* Roles come in their order, each at most once; *next is the lowest left. */
static int
S_read_member(const struct json *j, const cJSON *o, struct manifest *m,
	      int *next, struct fault *f)
{
	static const char *const keys[] = {
		"role", "bytes", "sha256", "dev", "ino", "nlink", "mode",
		"uid", "gid", "mtime_ns", "ctime_ns", NULL
	};
	const char *role = NULL;
	int r, rc = json_as_object(j, o, f);

	if (rc == 0)
		rc = json_only(j, o, keys, f);
	if (rc == 0)
		rc = json_get_text(j, o, "role", &role, f);
	if (rc)
		return rc;
	for (r = *next; r < ROLE_COUNT; r++)
		if (strcmp(role, role_name((enum role)r)) == 0)
			break;
	if (r == ROLE_COUNT)
		return json_fault(j, o, "role", f, "unknown, doubled or out "
				  "of order");
	*next = r + 1;
	m->member[r].present = true;
	return S_read_member_facts(j, o, &m->member[r], f);
}

static int
S_read_members(const struct json *j, const cJSON *root, struct manifest *m,
	       struct fault *f)
{
	const cJSON *list = NULL, *o;
	int next = 0, rc = json_get_array(j, root, "members", &list, f);

	for (o = list ? list->child : NULL; rc == 0 && o; o = o->next)
		rc = S_read_member(j, o, m, &next, f);
	if (rc == 0 && !m->member[ROLE_MAIN].present)
		rc = json_fault(j, list, NULL, f, "has no main");
	return rc;
}

static int
S_read_blocks(const struct json *j, const cJSON *root, struct manifest *m,
	      struct fault *f)
{
	static const char *const keys[] = { "count", "sha256", NULL };
	const cJSON *o = NULL;
	int rc = json_get_object(j, root, "blocks", &o, f);

	if (rc == 0)
		rc = json_only(j, o, keys, f);
	if (rc == 0)
		rc = json_get_u64_text(j, o, "count", &m->blocks_count, f);
	if (rc == 0 && m->blocks_count != manifest_blocks(m))
		rc = json_fault(j, o, "count", f, "is not that of the members");
	if (rc == 0)
		rc = json_get_digest(j, o, "sha256", m->blocks_sha256, f);
	return rc;
}

static int
S_read_notes(const struct json *j, const cJSON *root, struct manifest *m,
	     struct fault *f)
{
	static const char *const keys[] = { "what", "what64", "why", "why64",
					    NULL };
	const cJSON *list = NULL, *o;
	int rc = json_get_array(j, root, "not_checked", &list, f);

	for (o = list ? list->child : NULL; rc == 0 && o; o = o->next) {
		OWN_MEM(char, what);
		OWN_MEM(char, why);

		rc = json_as_object(j, o, f);
		if (rc == 0)
			rc = json_only(j, o, keys, f);
		if (rc == 0)
			rc = S_get_bytes(j, o, "what", &what, f);
		if (rc == 0)
			rc = S_get_bytes(j, o, "why", &why, f);
		if (rc == 0)
			rc = notes_add(&m->not_checked, f, what, "%s", why);
	}
	return rc;
}

static int
S_read_capture(const struct json *j, const cJSON *root, struct manifest *m,
	       struct fault *f)
{
	int rc = S_get_one_of(j, root, "authority", authorities, m->authority,
			      f);

	if (rc == 0)
		rc = S_read_processes(j, root, "writers", &m->writers, f);
	if (rc == 0 && m->writers.count && strcmp(m->authority, "stopped") == 0)
		rc = json_fault(j, root, "writers", f, "there are some, and "
				"the authority says stopped");
	if (rc == 0)
		rc = S_read_processes(j, root, "holders", &m->holders, f);
	if (rc == 0)
		rc = json_get_u64_text(j, root, "pause_ns", &m->pause_ns, f);
	if (rc == 0)
		rc = S_get_u32(j, root, "attempts", &m->attempts, f);
	if (rc == 0)
		rc = S_get_one_of(j, root, "binding", bindings, m->binding, f);
	if (rc == 0)
		rc = json_get_bool(j, root, "displaced", &m->displaced, f);
	if (rc == 0)
		rc = S_read_checks(j, root, m, f);
	return rc;
}

static int
S_read_format(const struct json *j, const cJSON *root, struct manifest *m,
	      struct fault *f)
{
	static const char *const keys[] = {
		"format", "version", "database", "time", "authority",
		"writers", "holders", "pause_ns", "attempts", "binding",
		"displaced", "checks", "members", "blocks", "not_checked", NULL
	};
	const char *format = NULL;
	int rc = json_as_object(j, root, f);

	if (rc == 0)
		rc = json_get_text(j, root, "format", &format, f);
	if (rc == 0 && strcmp(format, MANIFEST_FORMAT) != 0)
		rc = json_fault(j, root, "format", f, "this holdfast reads "
				MANIFEST_FORMAT);
	if (rc == 0)
		rc = json_only(j, root, keys, f);
	if (rc == 0)
		rc = S_get_word(j, root, "version", m->version, f);
	return rc;
}

static int
S_read_all(const struct json *j, struct manifest *m, struct fault *f)
{
	int rc = S_read_format(j, j->root, m, f);

	if (rc == 0)
		rc = S_read_database(j, j->root, m, f);
	if (rc == 0)
		rc = S_read_time(j, j->root, m, f);
	if (rc == 0)
		rc = S_read_capture(j, j->root, m, f);
	if (rc == 0)
		rc = S_read_members(j, j->root, m, f);
	if (rc == 0)
		rc = S_read_blocks(j, j->root, m, f);
	if (rc == 0)
		rc = S_read_notes(j, j->root, m, f);
	return rc;
}

int
manifest_read(struct manifest *m, const void *bytes, size_t n, struct fault *f)
{
	OWN_JSON(j);
	OWN_MANIFEST(got);
	int rc = json_parse(&j, bytes, n, &rules, f);

	if (rc == 0)
		rc = S_read_all(&j, &got, f);
	if (rc)
		return fault_wrap(f, "manifest.json");
	*m = got;
	manifest_init(&got);
	return 0;
}
