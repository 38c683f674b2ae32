/*
 * cmd_export.c - the recovered state as one plain database file
 *
 * The helper gives the pages; a second run recovers the evidence again and a
 * third one the file that was written. Only where both have the same
 * fingerprint does the file get its name.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/own.h"
#include "base/publish.h"
#include "capture/holders.h"
#include "cli/ask_run.h"
#include "cli/cli.h"
#include "cli/escape.h"
#include "cli/ndjson.h"
#include "cli/report.h"
#include "cli/summary.h"

static const enum args_id S_takes[] = {
	ARGS_OUTPUT, ARGS_FORCE, ARGS_EXPECT_ID, ARGS_ACCEPT_NAMES,
	ARGS_MEMORY_LIMIT, ARGS_TIME_LIMIT, ARGS_OUTPUT_LIMIT, ARGS_JSON,
	ARGS_HELP, ARGS_END,
};

const struct args_usage export_usage = {
	.name = "export",
	.summary = "Write the recovered state as one plain database file",
	.takes = S_takes,
	.required = ARGS_OUTPUT,
	.operands = "PACKET",
	.min_operands = 1,
	.max_operands = 1,
	.statuses = "  0  written, and equal by fingerprint\n"
		    "  1  written; the integrity or a foreign key check fails"
		    " there\n     as it does in the packet\n"
		    "  2  the command line is wrong\n"
		    "  3  refused: the evidence can't be established\n"
		    "  4  the evidence is damaged or not supported\n"
		    "  5  trouble: rights, I/O, a limit, the sandbox\n"
		    "  6  written, but something was not examined\n",
	.example = "holdfast export app.holdfast -o app.db",
};

struct image {
	int fd;			/* borrowed */
	uint64_t bytes;		/* written so far, without gaps */
};

static int
S_take_pages(struct image *to, struct wire_frame *fr, struct fault *f)
{
	struct cell pages;
	int64_t offset;
	int rc;

	if (fr->type != WIRE_PAGES)
		return ask_malformed(f, "a frame that export does not know");
	rc = wire_get_int(fr, &offset, f);
	if (!rc)
		rc = wire_get(fr, &pages, f);
	if (!rc)
		rc = wire_get_done(fr, f);
	if (rc)
		return rc;
	if (offset < 0 || (uint64_t)offset != to->bytes ||
	    pages.tag != CELL_BLOB || pages.len == 0)
		return ask_malformed(f, "pages out of order");
	rc = io_pwrite_all(to->fd, pages.bytes, pages.len, to->bytes, f);
	to->bytes += pages.len;
	return rc;
}

static int
S_write_pages(struct ask_run *r, struct image *to, struct fault *f)
{
	const struct facts *t = &r->facts[0];
	struct wire_frame fr;
	uint64_t promised;
	int rc = ask_start(r, ASK_EXPORT, NULL, f);

	if (rc)
		return rc;
	while ((rc = ask_next(r, &fr, f)) == 0) {
		rc = S_take_pages(to, &fr, f);
		if (rc)
			return rc;
	}
	if (rc == 1)
		rc = ask_finish(r, f);
	if (rc)
		return rc;
	promised = (uint64_t)facts_int(t, FACT_PAGE_COUNT) *
		   (uint64_t)facts_int(t, FACT_PAGE_SIZE);
	if (promised != to->bytes)
		return ask_malformed(f, "pages are missing");
	return 0;
}

/* A run that is asked for its facts alone. */
static int
S_recover(struct ask_run *r, unsigned char fingerprint[DIGEST_BYTES],
	  bool *sound, struct fault *f)
{
	struct wire_frame fr;
	int rc = ask_start(r, ASK_RECOVER, NULL, f);

	if (rc)
		return rc;
	while ((rc = ask_next(r, &fr, f)) == 0)
		;
	if (rc == 1)
		rc = ask_finish(r, f);
	if (rc)
		return rc;
	memcpy(fingerprint, r->facts[0].fact[FACT_FINGERPRINT].digest,
	       DIGEST_BYTES);
	*sound = r->verdict == WIRE_YES;
	return 0;
}

/* The new file as evidence: by its descriptor, for it has no name yet. */
static void
S_ask_of_image(struct ask_run *r, const struct ask_run *like, int fd,
	       uint64_t bytes)
{
	r->sides = 1;
	r->ask = like->ask;
	r->limits = like->limits;
	r->fds[0] = fd;
	r->nfds = 1;
	r->ask.side[0] = (struct ask_side){
		.blocks_fd = -1,
		.now_ns = clock_real_ns(),
	};
	r->ask.side[0].member[ROLE_MAIN] = (struct ask_member){
		.present = 1,
		.role = ROLE_MAIN,
		.fd = EVIDENCE_FD,
		.size = bytes,
	};
}

/* Would the name's present file, replaced, take the evidence away? */
static int
S_spare_evidence(const struct ask_run *r, const struct publish *p,
		 struct fault *f)
{
	struct stat there, held;

	if (fstatat(p->dir, p->name, &there, 0))
		return 0;
	for (size_t i = 0; i < r->nfds; i++) {
		if (fstat(r->fds[i], &held))
			return fault_sys(f, FAULT_TROUBLE, errno, "stat");
		if (held.st_dev == there.st_dev &&
		    held.st_ino == there.st_ino)
			return fault_set(f, FAULT_USAGE,
					 "%s is the evidence itself", p->name);
	}
	return 0;
}

/*
 * A WAL or a journal that lies there already belongs to some other file of
 * that name; SQLite would play it into ours at the first open.
 */
static int
S_check_beside(const struct publish *p, struct fault *f)
{
	static const char *const suffix[] = { "-wal", "-journal" };
	char name[sizeof(p->name) + sizeof("-journal")];
	struct stat st;

	for (size_t i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++) {
		(void)snprintf(name, sizeof(name), "%s%s", p->name, suffix[i]);
		if (fstatat(p->dir, name, &st, 0) || st.st_size == 0)
			continue;
		(void)fault_set(f, FAULT_TROUBLE, "%s is there already: SQLite"
				" would apply it to %s", name, p->name);
		return fault_hint(f, "take another name or remove it");
	}
	return 0;
}

/* A program that has the present file open would go on without its name. */
static int
S_check_holders(const struct publish *p, struct fault *f)
{
	struct stat there;
	struct inode_id id;
	OWN_HOLDERS(who);

	if (fstatat(p->dir, p->name, &there, AT_SYMLINK_NOFOLLOW))
		return 0;
	id = (struct inode_id){ there.st_dev, there.st_ino };
	if (holders_find(&id, 1, &who, f))
		return -(int)f->code;
	if (who.count == 0)
		return 0;
	(void)fault_set(f, FAULT_REFUSED, "process %d has %s open (%ju:%ju): "
			"its file would be replaced under it",
			(int)who.holder[0].pid, p->name,
			(uintmax_t)there.st_dev, (uintmax_t)there.st_ino);
	return fault_hint(f, "stop that program first, or take another name");
}

/* SQLite would take the new file for the WAL or journal of a database there. */
static int
S_check_name(const struct publish *p, struct fault *f)
{
	for (enum role r = ROLE_MAIN + 1; r < ROLE_COUNT; r++) {
		const char *suffix = role_suffix(r);
		size_t n = strlen(p->name), m = strlen(suffix);
		char name[sizeof(p->name)];
		struct stat st;

		if (n <= m || strcmp(p->name + n - m, suffix) != 0)
			continue;
		(void)snprintf(name, sizeof(name), "%.*s", (int)(n - m),
			       p->name);
		if (fstatat(p->dir, name, &st, 0) == 0)
			return fault_set(f, FAULT_USAGE, "write %s: it is the "
					 "name of the %s file of %s", p->name,
					 role_name(r), name);
	}
	return 0;
}

/* The file's own fingerprint, from a run that never saw the evidence. */
static int
S_read_back(const struct ask_run *like, struct image *image,
	    unsigned char fingerprint[DIGEST_BYTES], struct fault *f)
{
	char self[32];
	OWN_FD(fd);
	OWN_ASK(r);
	bool sound;
	int rc;

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", image->fd);
	fd = open(self, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "open the new file for reading");
	S_ask_of_image(&r, like, fd, image->bytes);
	rc = S_recover(&r, fingerprint, &sound, f);
	return rc ? fault_wrap(f, "read back the new file") : 0;
}

struct exported {
	unsigned char fingerprint[DIGEST_BYTES];
	uint64_t bytes;
	bool sound;		/* integrity and foreign keys hold */
};

static int
S_export(const struct args *a, struct ask_run *r, struct exported *e,
	 struct fault *f)
{
	unsigned char again[DIGEST_BYTES];
	struct image image = { .fd = -1 };
	OWN_PUBLISH(p);
	int rc = publish_open(a->output, a->force, &p, f);

	if (!rc)
		rc = S_spare_evidence(r, &p, f);
	if (!rc)
		rc = S_check_name(&p, f);
	if (!rc)
		rc = S_check_beside(&p, f);
	if (!rc)
		rc = S_check_holders(&p, f);
	if (rc)
		return rc;
	image.fd = p.fd;
	rc = S_write_pages(r, &image, f);
	if (!rc)
		rc = S_recover(r, e->fingerprint, &e->sound, f);
	if (!rc)
		rc = S_read_back(r, &image, again, f);
	if (rc)
		return rc;
	if (memcmp(again, e->fingerprint, DIGEST_BYTES))
		return fault_set(f, FAULT_TROUBLE,
				 "the new file has another fingerprint than"
				 " the evidence: it was not kept");
	e->bytes = image.bytes;
	rc = S_check_beside(&p, f);
	if (!rc)
		rc = S_check_holders(&p, f);
	return rc ? rc : publish_commit(&p, f);
}

static void
S_print_json(FILE *out, const struct args *a, const struct ask_run *r,
	     const struct exported *e)
{
	struct ndjson j = NDJSON_INIT(out);

	ndjson_open(&j, NULL, '{');
	ndjson_name(&j, "file", a->output);
	ndjson_text(&j, "id", evidence_id(r->evidence[0]));
	ndjson_u64(&j, "bytes", e->bytes);
	ndjson_hex(&j, "fingerprint", e->fingerprint, DIGEST_BYTES);
	ndjson_bool(&j, "sound", e->sound);
	ndjson_notes(&j, &r->not_checked);
	ndjson_close(&j, '}');
	ndjson_line(&j);
}

static void
S_print_text(FILE *out, const struct args *a, const struct ask_run *r,
	     const struct exported *e)
{
	char hex[DIGEST_HEX_BYTES];

	digest_hex(e->fingerprint, hex);
	(void)fputs("exported ", out);
	escape_puts(out, a->output);
	(void)fprintf(out, ": %" PRIu64 " bytes, equal to the evidence%s\n"
		      "fingerprint %s\n", e->bytes, e->sound ? "" :
		      " (where the integrity or a foreign key check fails)",
		      hex);
	summary_notes(out, &r->not_checked);
}

int
cmd_export(const struct args *a, FILE *out, enum cli_status *status,
	   struct fault *f)
{
	struct exported e = { .bytes = 0 };
	OWN_ASK(r);
	int rc = ask_open(&r, a, 1, f);

	if (!rc)
		rc = S_export(a, &r, &e, f);
	if (rc)
		return rc;
	if (a->json)
		S_print_json(out, a, &r, &e);
	else
		S_print_text(out, a, &r, &e);
	*status = report_worst(e.sound ? CLI_YES : CLI_NO,
			       summary_status(&r.not_checked));
	return 0;
}
