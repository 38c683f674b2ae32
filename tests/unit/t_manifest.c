/*
 * t_manifest.c - packet/manifest.h: what is written is what is read
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "packet/manifest.h"

static void
S_fill(struct manifest *m)
{
	struct fault f = FAULT_INIT;
	char exe[] = "/usr/bin/\xff\n", plain[] = "/bin/app";
	const struct writer writer = {
		.pid = 4711, .start_time = UINT64_MAX, .uid = 4294967294u,
		.exe = exe, .paused = true, .was_stopped = true,
		.threads = 300, .descriptors = 4,
	};
	const struct writer holder = {
		.pid = 1, .start_time = 0, .uid = 0, .exe = plain,
		.paused = false, .threads = 1, .descriptors = 1,
	};

	manifest_init(m);
	(void)strcpy(m->version, "0.1.0");
	assert_int_equal(manifest_name(m, "a b\n\xfe.db", &f), 0);
	m->utc_ns = 1769860800123456789ull;
	m->boottime_ns = 99;
	(void)strcpy(m->boot_id, "01234567-89ab-cdef-0123-456789abcdef");
	(void)strcpy(m->authority, "writers");
	(void)strcpy(m->binding, "content");
	m->displaced = true;
	m->pause_ns = 12345678901234567ull;
	m->attempts = 2;
	assert_int_equal(manifest_process(&m->writers, &writer, &f), 0);
	assert_int_equal(manifest_process(&m->writers, &holder, &f), 0);
	assert_int_equal(manifest_process(&m->holders, &holder, &f), 0);
	assert_int_equal(manifest_check(m, "names", "agree", &f), 0);
	assert_int_equal(manifest_check(m, "salts", "not_checked", &f), 0);
	m->member[ROLE_MAIN] = (struct manifest_member){
		.present = true, .bytes = 8193, .dev = UINT64_MAX, .ino = 7,
		.nlink = 2, .mode = 0640, .uid = 5, .gid = 6,
		.mtime_ns = INT64_MIN, .ctime_ns = INT64_MAX, .sha256 = { 1 },
	};
	m->member[ROLE_JOURNAL] = (struct manifest_member){
		.present = true, .bytes = 0, .sha256 = { 2 },
	};
	m->blocks_count = 3;
	m->blocks_sha256[31] = 0xab;
	assert_int_equal(notes_add(&m->not_checked, &f, "a thing",
				   "because %d", 1), 0);
	assert_int_equal(notes_add(&m->not_checked, &f, "\xff", "%s",
				   "\xfe"), 0);
}

static void
S_text(const struct manifest *m, struct buf *b)
{
	struct fault f = FAULT_INIT;

	buf_reset(b);
	assert_int_equal(manifest_write(m, b, &f), 0);
}

static void
S_same_processes(const struct manifest_processes *a,
		 const struct manifest_processes *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct writer *x = &a->item[i], *y = &b->item[i];

		assert_int_equal(x->pid, y->pid);
		assert_true(x->start_time == y->start_time);
		assert_true(x->uid == y->uid);
		assert_string_equal(x->exe, y->exe);
		assert_int_equal(x->paused, y->paused);
		assert_int_equal(x->was_stopped, y->was_stopped);
		assert_int_equal(x->threads, y->threads);
		assert_int_equal(x->descriptors, y->descriptors);
	}
}

static void
S_same_member(const struct manifest_member *x, const struct manifest_member *y)
{
	assert_int_equal(x->present, y->present);
	assert_true(x->bytes == y->bytes);
	assert_true(x->dev == y->dev);
	assert_true(x->ino == y->ino);
	assert_true(x->nlink == y->nlink);
	assert_true(x->mode == y->mode);
	assert_true(x->uid == y->uid);
	assert_true(x->gid == y->gid);
	assert_true(x->mtime_ns == y->mtime_ns);
	assert_true(x->ctime_ns == y->ctime_ns);
	assert_memory_equal(x->sha256, y->sha256, DIGEST_BYTES);
}

static void
every_fact_comes_back(void **state)
{
	struct buf b = BUF_INIT(1u << 20);
	struct fault f = FAULT_INIT;
	OWN_MANIFEST(m);
	OWN_MANIFEST(got);

	(void)state;
	S_fill(&m);
	S_text(&m, &b);
	assert_int_equal(manifest_read(&got, b.data, b.len, &f), 0);
	assert_string_equal(got.version, m.version);
	assert_string_equal(got.database, m.database);
	assert_true(got.utc_ns == m.utc_ns);
	assert_true(got.boottime_ns == m.boottime_ns);
	assert_string_equal(got.boot_id, m.boot_id);
	assert_string_equal(got.authority, m.authority);
	assert_string_equal(got.binding, m.binding);
	assert_true(got.displaced);
	assert_true(got.pause_ns == m.pause_ns);
	assert_int_equal(got.attempts, 2);
	S_same_processes(&got.writers, &m.writers);
	S_same_processes(&got.holders, &m.holders);
	assert_int_equal(got.checks, 2);
	assert_string_equal(got.check[1].name, "salts");
	assert_string_equal(got.check[1].outcome, "not_checked");
	for (int r = 0; r < ROLE_COUNT; r++)
		S_same_member(&got.member[r], &m.member[r]);
	assert_true(got.blocks_count == 3);
	assert_memory_equal(got.blocks_sha256, m.blocks_sha256, DIGEST_BYTES);
	assert_int_equal(got.not_checked.count, 2);
	assert_string_equal(got.not_checked.note[0].why, "because 1");
	assert_string_equal(got.not_checked.note[1].what, "\xff");
	assert_string_equal(got.not_checked.note[1].why, "\xfe");
	buf_free(&b);
}

/* root's text must be refused as damage; its keys are restored by the caller */
static void
S_refuse(const cJSON *root, const char *what, const char *key)
{
	char *text = cJSON_PrintUnformatted(root);
	struct fault f = FAULT_INIT;
	struct manifest m;
	int rc;

	assert_non_null(text);
	manifest_init(&m);
	rc = manifest_read(&m, text, strlen(text), &f);
	if (rc != -FAULT_DAMAGED)
		fail_msg("%s %s: returned %d: %s", what, key ? key : "?", rc,
			 text);
	assert_memory_equal(f.text, "manifest.json: ", 15);
	cJSON_free(text);
}

/* Each way to spoil one key of obj, and then obj is as it was. */
static unsigned
S_spoil_key(const cJSON *root, cJSON *obj, cJSON *item)
{
	cJSON *copy = cJSON_Duplicate(item, 1);
	char *name = item->string, *upper;
	int type = item->type;

	assert_non_null(copy);
	/* doubled */
	cJSON_AddItemToObject(obj, name, copy);
	S_refuse(root, "doubled", name);
	cJSON_Delete(cJSON_DetachItemViaPointer(obj, copy));
	/* missing, and another one in its place */
	upper = strdup(name);
	assert_non_null(upper);
	upper[0] = (char)(upper[0] - 'a' + 'A');
	item->string = upper;
	S_refuse(root, "renamed", name);
	item->string = name;
	free(upper);
	/* of another type */
	item->type = cJSON_NULL;
	S_refuse(root, "null", name);
	item->type = type;
	if (cJSON_IsString(item)) {
		char *value = item->valuestring, wrong[] = " \n";

		item->valuestring = wrong;
		if (strncmp(name, "what", 4) != 0 && strcmp(name, "why") != 0
		    && strcmp(name, "exe") != 0)
			S_refuse(root, "other text", name);
		item->valuestring = value;
		item->type = cJSON_Number;
		S_refuse(root, "number", name);
		item->type = type;
	} else if (cJSON_IsNumber(item)) {
		double value = item->valuedouble;
		int whole = item->valueint;

		item->valueint = 0;
		item->valuedouble = value + 0.5;
		S_refuse(root, "fraction", name);
		item->valuedouble = -1 - value;
		S_refuse(root, "negative", name);
		item->valuedouble = value;
		item->valueint = whole;
	}
	return 1;
}

static unsigned
S_spoil(const cJSON *root, cJSON *item)
{
	unsigned n = 0;
	cJSON *c;

	for (c = item->child; c; c = c->next) {
		if (cJSON_IsObject(item))
			n += S_spoil_key(root, item, c);
		n += S_spoil(root, c);
	}
	if (cJSON_IsObject(item)) {
		c = cJSON_AddNumberToObject(item, "more", 1);
		S_refuse(root, "unknown key in", item->string);
		cJSON_Delete(cJSON_DetachItemViaPointer(item, c));
	}
	if (cJSON_IsArray(item)) {
		c = cJSON_CreateNull();
		cJSON_AddItemToArray(item, c);
		S_refuse(root, "null in", item->string);
		cJSON_Delete(cJSON_DetachItemViaPointer(item, c));
	}
	return n;
}

static void
every_key_is_needed_once_and_of_its_kind(void **state)
{
	struct buf b = BUF_INIT(1u << 20);
	OWN_MANIFEST(m);
	cJSON *root;

	(void)state;
	S_fill(&m);
	S_text(&m, &b);
	root = cJSON_ParseWithLength((char *)b.data, b.len);
	assert_non_null(root);
	assert_true(S_spoil(root, root) > 60);
	cJSON_Delete(root);
	buf_free(&b);
}

/* The text with its first from as to: the fault's text behind the file. */
static const char *
S_edited(const char *from, const char *to)
{
	static struct fault f;
	struct buf b = BUF_INIT(1u << 20), e = BUF_INIT(1u << 20);
	struct manifest m, got;
	char *at;
	int rc;

	f = (struct fault)FAULT_INIT;
	S_fill(&m);
	S_text(&m, &b);
	assert_int_equal(buf_u8(&b, 0, &f), 0);
	at = strstr((char *)b.data, from);
	assert_non_null(at);
	assert_int_equal(buf_append(&e, b.data,
				    (size_t)(at - (char *)b.data), &f), 0);
	assert_int_equal(buf_append(&e, to, strlen(to), &f), 0);
	at += strlen(from);
	assert_int_equal(buf_append(&e, at, strlen(at), &f), 0);
	manifest_init(&got);
	rc = manifest_read(&got, e.data, e.len, &f);
	manifest_free(&got);
	manifest_free(&m);
	buf_free(&b);
	buf_free(&e);
	if (rc == 0)
		return "";
	assert_int_equal(rc, -FAULT_DAMAGED);
	return f.text + strlen("manifest.json: ");
}

static void
contradictions_are_named_by_pointer(void **state)
{
	static const struct {
		const char *from, *to, *fault;
	} edit[] = {
		{ "holdfast-packet/1", "holdfast-packet/2",
		  "/format: this holdfast reads holdfast-packet/1" },
		{ "\"utc\":\t\"2026-01-31T12:00:00Z\"",
		  "\"utc\":\t\"2026-01-31T12:00:01Z\"",
		  "/time/utc: is not utc_ns: 2026-01-31T12:00:00Z" },
		{ "\"1769860800123456789\"", "\"8589934592000000000\"",
		  "/time/utc_ns: is too late for a header" },
		{ "\"authority\":\t\"writers\"", "\"authority\":\t\"stopped\"",
		  "/writers: there are some, and the authority says stopped" },
		{ "\"content\"", "\"trusted\"",
		  "/binding: no such word is known here" },
		{ "\"main\"", "\"shm\"", "/members: has no main" },
		{ "\"journal\"", "\"main\"",
		  "/members/1/role: unknown, doubled or out of order" },
		{ "\"journal\"", "\"super\"",
		  "/members/1/role: unknown, doubled or out of order" },
		{ "\"count\":\t\"3\"", "\"count\":\t\"4\"",
		  "/blocks/count: is not that of the members" },
		{ "\"bytes\":\t\"8193\"", "\"bytes\":\t\"8192\"",
		  "/blocks/count: is not that of the members" },
		{ "\"bytes\":\t\"8193\"",
		  "\"bytes\":\t\"9223372036854775808\"",
		  "/members/0/bytes: is more than a file holds" },
		{ "\"name64\":\t\"YSBiCv4uZGI=\"", "\"name\":\t\"../x\"",
		  "/database/name: must be the plain name of a file" },
		{ "\"name64\":\t\"YSBiCv4uZGI=\"", "\"name\":\t\"\"",
		  "/database/name: must be the plain name of a file" },
		{ "\"name64\":\t\"YSBiCv4uZGI=\"", "\"name\":\t\"..\"",
		  "/database/name: must be the plain name of a file" },
		{ "\"name64\":\t\"YSBiCv4uZGI=\"", "\"name64\":\t\"YQBi\"",
		  "/database/name: holds a NUL" },
		{ "\"-9223372036854775808\"", "\"-9223372036854775809\"",
		  "/members/0/mtime_ns: must be a whole number in a string" },
		{ "\"-9223372036854775808\"", "\"-0\"",
		  "/members/0/mtime_ns: must be a whole number in a string" },
		{ "\"agree\"", "\"all agree\"",
		  "/checks/0/outcome: must be one short word" },
		{ "\"pid\":\t4711", "\"pid\":\t0",
		  "/writers/0/pid: must be from 1 to 2147483647" },
		{ "01234567-89ab", "01234567 89ab",
		  "/time/boot_id: must be a UUID or empty" },
		{ "\"holders\"", "\"holders\"", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(edit) / sizeof(edit[0]); i++)
		assert_string_equal(S_edited(edit[i].from, edit[i].to),
				    edit[i].fault);
}

static void
a_database_is_named_by_a_plain_name(void **state)
{
	char name[NAME_MAX + 2];
	struct fault f = FAULT_INIT;
	OWN_MANIFEST(m);

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[NAME_MAX + 1] = '\0';
	assert_int_equal(manifest_name(&m, name, &f), -FAULT_USAGE);
	name[NAME_MAX] = '\0';
	assert_int_equal(manifest_name(&m, name, &f), 0);
	assert_int_equal(manifest_name(&m, "", &f), -FAULT_USAGE);
	assert_int_equal(manifest_name(&m, ".", &f), -FAULT_USAGE);
	assert_int_equal(manifest_name(&m, "..", &f), -FAULT_USAGE);
	assert_int_equal(manifest_name(&m, "a/b", &f), -FAULT_USAGE);
	assert_int_equal(manifest_name(&m, "...", &f), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fact_comes_back),
		cmocka_unit_test(every_key_is_needed_once_and_of_its_kind),
		cmocka_unit_test(contradictions_are_named_by_pointer),
		cmocka_unit_test(a_database_is_named_by_a_plain_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
