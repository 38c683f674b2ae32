/*
 * manifest_write.c - a manifest as JSON
 */
#include "packet/manifest.h"

#include <string.h>

#include "json/write.h"

static int
S_add_digest(cJSON *to, const char *key, const unsigned char *raw,
	     struct fault *f)
{
	char hex[DIGEST_HEX_BYTES];

	digest_hex(raw, hex);
	return json_add_text(to, key, hex, f);
}

static int
S_add_time(cJSON *root, const struct manifest *m, struct fault *f)
{
	char utc[CLOCK_UTC_BYTES];
	cJSON *o;
	int rc = json_add_object(root, "time", &o, f);

	if (rc)
		return rc;
	clock_utc(m->utc_ns, utc);
	rc = json_add_u64(o, "utc_ns", m->utc_ns, f);
	if (rc == 0)
		rc = json_add_text(o, "utc", utc, f);
	if (rc == 0)
		rc = json_add_u64(o, "boottime_ns", m->boottime_ns, f);
	if (rc == 0)
		rc = json_add_text(o, "boot_id", m->boot_id, f);
	return rc;
}

static int
S_add_process(cJSON *to, const struct writer *w, struct fault *f)
{
	int rc = json_add_int(to, "pid", w->pid, f);

	if (rc == 0)
		rc = json_add_u64(to, "start_time", w->start_time, f);
	if (rc == 0)
		rc = json_add_name(to, "exe", w->exe, strlen(w->exe), f);
	if (rc == 0)
		rc = json_add_int(to, "uid", w->uid, f);
	if (rc == 0)
		rc = json_add_bool(to, "paused", w->paused, f);
	if (rc == 0)
		rc = json_add_bool(to, "was_stopped", w->was_stopped, f);
	if (rc == 0)
		rc = json_add_int(to, "threads", w->threads, f);
	if (rc == 0)
		rc = json_add_int(to, "descriptors", w->descriptors, f);
	return rc;
}

static int
S_add_processes(cJSON *root, const char *key,
		const struct manifest_processes *p, struct fault *f)
{
	cJSON *list, *o;
	int rc = json_add_array(root, key, &list, f);

	for (size_t i = 0; rc == 0 && i < p->count; i++) {
		rc = json_append_object(list, &o, f);
		if (rc == 0)
			rc = S_add_process(o, &p->item[i], f);
	}
	return rc;
}

static int
S_add_checks(cJSON *root, const struct manifest *m, struct fault *f)
{
	cJSON *list, *o;
	int rc = json_add_array(root, "checks", &list, f);

	for (size_t i = 0; rc == 0 && i < m->checks; i++) {
		rc = json_append_object(list, &o, f);
		if (rc == 0)
			rc = json_add_text(o, "name", m->check[i].name, f);
		if (rc == 0)
			rc = json_add_text(o, "outcome", m->check[i].outcome,
					   f);
	}
	return rc;
}

static int
S_add_member(cJSON *o, enum role r, const struct manifest_member *m,
	     struct fault *f)
{
	int rc = json_add_text(o, "role", role_name(r), f);

	if (rc == 0)
		rc = json_add_u64(o, "bytes", m->bytes, f);
	if (rc == 0)
		rc = S_add_digest(o, "sha256", m->sha256, f);
	if (rc == 0)
		rc = json_add_u64(o, "dev", m->dev, f);
	if (rc == 0)
		rc = json_add_u64(o, "ino", m->ino, f);
	if (rc == 0)
		rc = json_add_u64(o, "nlink", m->nlink, f);
	if (rc == 0)
		rc = json_add_int(o, "mode", m->mode, f);
	if (rc == 0)
		rc = json_add_int(o, "uid", m->uid, f);
	if (rc == 0)
		rc = json_add_int(o, "gid", m->gid, f);
	if (rc == 0)
		rc = json_add_i64(o, "mtime_ns", m->mtime_ns, f);
	if (rc == 0)
		rc = json_add_i64(o, "ctime_ns", m->ctime_ns, f);
	return rc;
}

static int
S_add_members(cJSON *root, const struct manifest *m, struct fault *f)
{
	cJSON *list, *o;
	int rc = json_add_array(root, "members", &list, f);

	for (int r = 0; rc == 0 && r < ROLE_COUNT; r++) {
		if (!m->member[r].present)
			continue;
		rc = json_append_object(list, &o, f);
		if (rc == 0)
			rc = S_add_member(o, (enum role)r, &m->member[r], f);
	}
	return rc;
}

static int
S_add_blocks(cJSON *root, const struct manifest *m, struct fault *f)
{
	cJSON *o;
	int rc = json_add_object(root, "blocks", &o, f);

	if (rc == 0)
		rc = json_add_u64(o, "count", m->blocks_count, f);
	if (rc == 0)
		rc = S_add_digest(o, "sha256", m->blocks_sha256, f);
	return rc;
}

static int
S_add_notes(cJSON *root, const struct notes *n, struct fault *f)
{
	cJSON *list, *o;
	int rc = json_add_array(root, "not_checked", &list, f);

	for (size_t i = 0; rc == 0 && i < n->count; i++) {
		rc = json_append_object(list, &o, f);
		if (rc == 0)
			rc = json_add_name(o, "what", n->note[i].what,
					   strlen(n->note[i].what), f);
		if (rc == 0)
			rc = json_add_name(o, "why", n->note[i].why,
					   strlen(n->note[i].why), f);
	}
	return rc;
}

static int
S_add_capture(cJSON *root, const struct manifest *m, struct fault *f)
{
	int rc = json_add_text(root, "authority", m->authority, f);

	if (rc == 0)
		rc = S_add_processes(root, "writers", &m->writers, f);
	if (rc == 0)
		rc = S_add_processes(root, "holders", &m->holders, f);
	if (rc == 0)
		rc = json_add_u64(root, "pause_ns", m->pause_ns, f);
	if (rc == 0)
		rc = json_add_int(root, "attempts", m->attempts, f);
	if (rc == 0)
		rc = json_add_text(root, "binding", m->binding, f);
	if (rc == 0)
		rc = json_add_bool(root, "displaced", m->displaced, f);
	if (rc == 0)
		rc = S_add_checks(root, m, f);
	return rc;
}

static int
S_add_database(cJSON *root, const struct manifest *m, struct fault *f)
{
	cJSON *o;
	int rc = json_add_object(root, "database", &o, f);

	if (rc)
		return rc;
	return json_add_name(o, "name", m->database, strlen(m->database), f);
}

static int
S_add_all(cJSON *root, const struct manifest *m, struct fault *f)
{
	int rc = json_add_text(root, "format", MANIFEST_FORMAT, f);

	if (rc == 0)
		rc = json_add_text(root, "version", m->version, f);
	if (rc == 0)
		rc = S_add_database(root, m, f);
	if (rc == 0)
		rc = S_add_time(root, m, f);
	if (rc == 0)
		rc = S_add_capture(root, m, f);
	if (rc == 0)
		rc = S_add_members(root, m, f);
	if (rc == 0)
		rc = S_add_blocks(root, m, f);
	if (rc == 0)
		rc = S_add_notes(root, &m->not_checked, f);
	return rc;
}

int
manifest_write(const struct manifest *m, struct buf *b, struct fault *f)
{
	OWN_CJSON(root);
	int rc = json_new_object(&root, f);

	if (rc == 0)
		rc = S_add_all(root, m, f);
	if (rc == 0)
		rc = json_print(root, true, b, f);
	if (rc == 0)
		rc = buf_u8(b, '\n', f);
	return rc ? fault_wrap(f, "write the manifest") : 0;
}
