/*
 * group_packets.c - evidence that was changed in its storage
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controls/bed_file.h"
#include "controls/bed_sides.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"

#define PACKETS_ROWS 50u
#define PACKETS_BLOCK 4096u
#define PACKETS_MEMBERS 8

/* Of a POSIX tar header. */
#define TAR_HEADER 512u
#define TAR_NAME 100u
#define TAR_SIZE 124u
#define TAR_SUM 148u
#define TAR_SUM_BYTES 8u
#define TAR_TYPE 156u

struct member {
	const char *name;
	size_t header, data, n, end;
};

struct packet {
	struct bed_bytes b;
	const char *id;
	struct member member[PACKETS_MEMBERS];
	size_t count;
};

/* What tar would unpack; other entries are room between them. */
static void
S_members(struct trial *t, struct packet *p)
{
	size_t at = 0;

	while (at + TAR_HEADER <= p->b.n && p->b.p[at]) {
		const char *header = (const char *)p->b.p + at;
		size_t n = strtoul(header + TAR_SIZE, NULL, 8),
			data = at + TAR_HEADER,
			end = data + (n + TAR_HEADER - 1) / TAR_HEADER *
				TAR_HEADER;

		if (header[TAR_TYPE] == '0') {
			if (p->count == PACKETS_MEMBERS || n == 0 ||
			    end > p->b.n)
				trial_die(t, "a packet of another form");
			p->member[p->count++] = (struct member){
				bed_text(t, "%.100s", header), at, data, n,
				end };
		}
		at = end;
	}
	if (p->count < 2)
		trial_die(t, "the packet is no archive");
}

static const struct bed_run *
S_recover(struct trial *t, const struct packet *p, const char *id)
{
	bed_write(t, "changed", p->b.p, p->b.n);
	return id ? bed_product(t, BED_ARGV("recover", "--expect-id", id,
					    "changed"))
		  : bed_product(t, BED_ARGV("recover", "changed"));
}

/* Damage by its id alone, and where there are words, without it as well. */
static void
S_damaged(struct trial *t, const struct packet *p, const char *words)
{
	if (words)
		bed_ours_refuses(t, S_recover(t, p, NULL), 4, words, NULL);
	bed_ours_refuses(t, S_recover(t, p, p->id), 4, "changed", NULL);
}

static void
S_flip(struct trial *t, struct packet *p, size_t at, const char *words)
{
	p->b.p[at] ^= 1;
	S_damaged(t, p, words);
	p->b.p[at] ^= 1;
}

/* The first, a middle and the last block of a file of the database. */
static void
S_flip_blocks(struct trial *t, struct packet *p, const struct member *m,
	      const char *role)
{
	size_t last = (m->n - 1) / PACKETS_BLOCK;
	const size_t tried[] = { 0, last / 2, last };

	for (size_t i = 0; i < 3; i++) {
		if (i && tried[i] == tried[i - 1])
			continue;
		S_flip(t, p, m->data + tried[i] * PACKETS_BLOCK + 7,
		       bed_text(t, "%s block %zu", role, tried[i]));
	}
}

static void
S_flip_each(struct trial *t, struct packet *p)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct member *m = &p->member[i];
		const char *suffix = strrchr(m->name, '-');

		if (strcmp(m->name, "blocks.sha256") == 0)
			S_flip(t, p, m->data + m->n / 2, m->name);
		else if (strcmp(m->name, "manifest.json") == 0)
			S_flip(t, p, m->data + m->n / 2, NULL);
		else
			S_flip_blocks(t, p, m, suffix ? suffix + 1 : "main");
		S_flip(t, p, m->header + TAR_SIZE + 1, "packet");
	}
}

static void
S_cut_and_stretch(struct trial *t, const struct packet *p)
{
	const size_t cut[] = { 1, TAR_HEADER, p->b.n / 2 };
	struct packet q = *p;

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		q.b.n = p->b.n - cut[i];
		S_damaged(t, &q, "packet");
	}
	q.b.p = calloc(1, p->b.n + TAR_HEADER);
	if (!q.b.p)
		trial_die(t, "no memory");
	memcpy(q.b.p, p->b.p, p->b.n);
	q.b.n = p->b.n + TAR_HEADER;
	S_damaged(t, &q, "packet");
}

/* The last two members change their places: the manifest is no longer last. */
static void
S_reorder(struct trial *t, const struct packet *p)
{
	const struct member *a = &p->member[p->count - 2],
		*b = &p->member[p->count - 1];
	struct packet q = *p;

	q.b.p = malloc(p->b.n);
	if (!q.b.p)
		trial_die(t, "no memory");
	memcpy(q.b.p, p->b.p, p->b.n);
	memcpy(q.b.p + a->header, p->b.p + b->header, b->end - b->header);
	memcpy(q.b.p + a->header + (b->end - b->header), p->b.p + a->header,
	       b->header - a->header);
	S_damaged(t, &q, "packet");
}

/* A header whose sum is right again. */
static void
S_name(struct packet *p, const struct member *m, const char *name)
{
	uint8_t *header = p->b.p + m->header;
	char text[TAR_NAME] = { 0 }, sum[TAR_SUM_BYTES + 1];
	unsigned n = 0;

	(void)snprintf(text, sizeof(text), "%s", name);
	memcpy(header, text, TAR_NAME);
	memset(header + TAR_SUM, ' ', TAR_SUM_BYTES);
	for (size_t i = 0; i < TAR_HEADER; i++)
		n += header[i];
	(void)snprintf(sum, sizeof(sum), "%06o", n);
	memcpy(header + TAR_SUM, sum, TAR_SUM_BYTES - 1);
}

static void
S_names(struct trial *t, struct packet *p)
{
	static const char *const names[] = {
		"../escaped", "db/../../escaped", "/tmp/../escaped",
		"db/escaped" };
	struct member *m = &p->member[0];

	bed_mkdir(t, "out");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		S_name(p, m, names[i]);
		S_damaged(t, p, "packet");
		bed_ours_refuses(t, bed_product(t, BED_ARGV(
			"export", "changed", "-o", "out/copy")), 4, "packet",
			"out/copy");
		trial_examined(t, 1);
		trial_product(t, !bed_exists("escaped") &&
			      !bed_exists("out/escaped") &&
			      !bed_exists("/escaped"),
			      "a member called %s is not written", names[i]);
	}
	S_name(p, m, m->name);
}

/* The text of a row in an archive, behind the archive's own name of it. */
static void
S_alter_backup(struct trial *t)
{
	struct bed_bytes b = bed_read(t, "backup.tar");
	uint8_t *at = b.n > TAR_HEADER ?
		memmem(b.p + TAR_HEADER, b.n - TAR_HEADER, "app.db", 6) :
		NULL;

	if (!at)
		trial_die(t, "the backup has no such row");
	bed_patch(t, "backup.tar", at - b.p, "App.db", 6);
}

static struct bed_shown
S_unpacked(struct trial *t)
{
	(void)bed_output(t, BED_ARGV("tar", "xf", "backup.tar", "-C",
				     "backup"));
	return bed_show_sqlite3(t, "backup/app.db", BED_BANK_SQL
				"; pragma integrity_check");
}

static void
S_naive(struct trial *t, struct bed_writer *w, unsigned c, const char *all)
{
	const char *sound = bed_text(t, "%s\nok", all);

	(void)bed_sql(t, w, c, "pragma wal_checkpoint(truncate)");
	bed_mkdir(t, "backup");
	(void)bed_output(t, BED_ARGV("tar", "cf", "backup.tar", "app.db"));
	bed_naive_inverse(t, S_unpacked(t), sound);
	S_alter_backup(t);
	bed_naive(t, S_unpacked(t), SYMPTOM_SOUND,
		  bed_text(t, "%u|%u|App.db\nok", PACKETS_ROWS,
			   50 * PACKETS_ROWS), sound);
}

static void
S_changed(struct trial *t)
{
	struct bed_writer *w = bed_writer_start(t);
	unsigned c = bed_bank(t, w, "app.db", "wal", PACKETS_ROWS);
	const char *all = bed_bank_rows(t, "app.db", PACKETS_ROWS);
	struct packet p = { .count = 0 };
	const struct bed_run *r;

	S_naive(t, w, c, all);
	(void)bed_progress(t, w, c);
	(void)bed_sql(t, w, c, "delete from acct where bal = 0");
	r = bed_capture(t, "app.db", "packet", NULL);
	if (bed_yes(r))
		p.id = cJSON_GetStringValue(cJSON_GetObjectItem(
			bed_json(t, r), "id"));
	if (!p.id)
		trial_die(t, "capture: %s", bed_told(t, r));
	p.b = bed_read(t, "packet");
	S_members(t, &p);
	bed_end(t, w);

	bed_ours_inverse(t, bed_show_file(t, "packet", BED_BANK_SQL), all);
	r = S_recover(t, &p, p.id);
	trial_examined(t, 1);
	trial_inverse_product(t, bed_yes(r), "%s", bed_told(t, r));
	S_flip_each(t, &p);
	S_cut_and_stretch(t, &p);
	S_reorder(t, &p);
	S_names(t, &p);
}

const struct control group_packets[] = {
	{
		.id = "changed-packet",
		.title = "The evidence is changed in its storage",
		.attack = "a flip in each member and each header, cut,"
			" stretched, put in another order, with names that"
			" lead out",
		.predecessor = "tar cf and tar xf as a backup, then sqlite3"
			" with integrity_check, which says ok",
		.symptom = SYMPTOM_SOUND,
		.expected = "damaged, with member and block; by its id"
			" whatever was changed; nothing is written outside",
		.inverse = "nothing was changed",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_changed,
	},
	{ .id = NULL },
};
