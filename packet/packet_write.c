/*
 * packet_write.c - makes one packet, which appears whole or not at all
 */
#include "packet/packet_write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/io.h"
#include "base/own.h"
#include "base/publish.h"
#include "packet/packet_layout.h"
#include "packet/tar.h"

#define DEFAULT_ENDING ".holdfast"

struct packet_writer {
	struct publish out;
	char *path;		/* as the user gave it */
	int read_fd;
	struct packet_layout layout;
	int (*interrupted)(void);
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
	uint64_t hashed, total;	/* bytes */
	bool finished;
	unsigned char id[DIGEST_BYTES];
};

void
packet_default_name(const char *database, uint64_t real_ns,
		    char name[PACKET_NAME_BYTES])
{
	time_t s = (time_t)(real_ns / CLOCK_NS_PER_SEC);
	char when[32];
	struct tm tm;
	int most;

	MUST(gmtime_r(&s, &tm) != NULL);
	MUST(strftime(when, sizeof(when), "-%Y%m%dT%H%M%SZ", &tm) > 0);
	most = (int)(PACKET_NAME_BYTES - 1 - strlen(when)
		     - strlen(DEFAULT_ENDING));
	(void)snprintf(name, PACKET_NAME_BYTES, "%.*s%s" DEFAULT_ENDING, most,
		       database, when);
}

static int
S_open_read_only(struct packet_writer *w, struct fault *f)
{
	char self[32];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", w->out.fd);
	w->read_fd = open(self, O_RDONLY | O_CLOEXEC);
	if (w->read_fd < 0)
		return fault_sys(f, FAULT_TROUBLE, errno, "open %s", self);
	return 0;
}

int
packet_writer_open(struct packet_writer **w, const char *path, bool force,
		   struct fault *f)
{
	OWN_PACKET_WRITER(n);
	int rc;

	n = calloc(1, sizeof(*n));
	if (!n)
		return fault_set(f, FAULT_TROUBLE, "out of memory: packet");
	n->out = (struct publish)PUBLISH_INIT;
	n->read_fd = -1;
	n->path = strdup(path);
	if (!n->path)
		return fault_set(f, FAULT_TROUBLE, "out of memory: packet");
	rc = digest_setup(f);
	if (rc == 0)
		rc = publish_open(path, force, &n->out, f);
	if (rc == 0)
		rc = S_open_read_only(n, f);
	if (rc)
		return fault_wrap(f, "packet %s", path);
	*w = n;
	n = NULL;
	return 0;
}

void
packet_writer_free(struct packet_writer *w)
{
	if (!w)
		return;
	own_fd_close(&w->read_fd);
	publish_drop(&w->out);
	free(w->path);
	free(w);
}

void
packet_writer_watch(struct packet_writer *w, int (*interrupted)(void),
		    void (*progress)(void *arg, uint64_t done, uint64_t total),
		    void *arg)
{
	w->interrupted = w->out.interrupted = interrupted;
	w->progress = progress;
	w->arg = arg;
}

int
packet_writer_prepare(struct packet_writer *w, const char *database,
		      const uint64_t bytes[ROLE_COUNT], struct stage *s,
		      struct fault *f)
{
	bool present[ROLE_COUNT];
	int rc;

	for (int r = 0; r < ROLE_COUNT; r++)
		present[r] = r == ROLE_MAIN || bytes[r] > 0;
	rc = packet_layout_make(&w->layout, database, present, bytes, 0, f);
	if (rc == 0)
		rc = stage_prepare(s, w->out.fd, 0, w->layout.blocks.place.end,
				   w->interrupted, f);
	return rc ? fault_wrap(f, "write %s", w->path) : 0;
}

int
packet_writer_reserve(struct packet_writer *w, const char *database,
		      const bool present[ROLE_COUNT],
		      const uint64_t bytes[ROLE_COUNT], struct fault *f)
{
	MUST(present[ROLE_MAIN]);
	return packet_layout_make(&w->layout, database, present, bytes, 0, f);
}

int
packet_writer_fd(const struct packet_writer *w)
{
	return w->out.fd;
}

uint64_t
packet_writer_offset(const struct packet_writer *w, enum role r)
{
	MUST(w->layout.present[r]);
	return w->layout.member[r].place.data;
}

void
packet_writer_begin_sync(const struct packet_writer *w)
{
	publish_begin_sync(&w->out);
}

int
packet_writer_read_fd(const struct packet_writer *w)
{
	return w->read_fd;
}

void
packet_writer_side(const struct packet_writer *w, int slot, uint64_t now_ns,
		   struct ask_side *side)
{
	packet_layout_side(&w->layout, slot, side);
	side->now_ns = now_ns;
}

bool
packet_writer_replaces(const struct packet_writer *w, dev_t dev, ino_t ino)
{
	struct stat st;

	return fstatat(w->out.dir, w->out.name, &st, AT_SYMLINK_NOFOLLOW) == 0
	       && st.st_dev == dev && st.st_ino == ino;
}

int
packet_writer_check_name(const struct packet_writer *w, int dirfd,
			 const char *database, struct fault *f)
{
	char name[NAME_MAX + 16];
	struct stat at, ours;

	if (fstat(dirfd, &at) || fstat(w->out.dir, &ours))
		return fault_sys(f, FAULT_TROUBLE, errno, "fstat");
	if (at.st_dev != ours.st_dev || at.st_ino != ours.st_ino)
		return 0;
	for (enum role r = 0; r < ROLE_COUNT; r++) {
		(void)snprintf(name, sizeof(name), "%s%s", database,
			       role_suffix(r));
		if (strcmp(name, w->out.name) == 0)
			return fault_set(f, FAULT_USAGE, "write %s: it is the "
					 "name of the database's own %s file",
					 w->path, role_name(r));
	}
	return 0;
}

static int
S_check_target(const struct packet_writer *w, const struct manifest *m,
	       struct fault *f)
{
	for (int r = 0; r < ROLE_COUNT; r++)
		if (w->layout.present[r]
		    && packet_writer_replaces(w, m->member[r].dev,
					      m->member[r].ino))
			return fault_set(f, FAULT_USAGE, "it would replace "
					 "the database's own %s file",
					 role_name((enum role)r));
	return 0;
}

static void
S_hash_progress(void *arg, uint64_t bytes)
{
	struct packet_writer *w = arg;

	w->progress(w->arg, w->hashed + bytes, w->total);
}

static int
S_hash_members(struct packet_writer *w, struct stage *s,
	       struct stage_blocks *blocks, struct manifest *m,
	       struct fault *f)
{
	int rc = 0;

	for (int r = 0; rc == 0 && r < ROLE_COUNT; r++) {
		const struct tar_member *t = &w->layout.member[r];

		m->member[r].present = w->layout.present[r];
		if (!w->layout.present[r])
			continue;
		m->member[r].bytes = t->size;
		rc = stage_hash(s, w->out.fd, t->place.data, t->size, blocks,
				w->interrupted,
				w->progress ? S_hash_progress : NULL, w,
				m->member[r].sha256, f);
		w->hashed += t->size;
	}
	return rc;
}

static int
S_hash(struct packet_writer *w, struct stage *s, struct manifest *m,
       struct fault *f)
{
	struct stage_blocks blocks = {
		.fd = w->out.fd,
		.offset = w->layout.blocks.place.data,
	};
	int rc = digest_new(&blocks.digest, f);

	if (rc)
		return rc;
	w->hashed = w->total = 0;
	for (int r = 0; r < ROLE_COUNT; r++)
		if (w->layout.present[r])
			w->total += w->layout.member[r].size;
	rc = S_hash_members(w, s, &blocks, m, f);
	if (rc == 0) {
		digest_final(blocks.digest, m->blocks_sha256);
		m->blocks_count = w->layout.blocks_count;
	}
	digest_free(blocks.digest);
	return rc;
}

/*
 * Headers in front, zeros behind: written in full, since an earlier attempt
 * may have left a member's bytes there.
 */
static int
S_write_frame(int fd, const struct tar_member *m, struct fault *f)
{
	static const unsigned char zeros[TAR_BLOCK];
	unsigned char head[TAR_HEAD_MAX];
	uint64_t behind = m->place.data + m->size;
	int rc;

	tar_head_make(m, head);
	rc = io_pwrite_all(fd, head, (size_t)(m->place.data - m->place.head),
			   m->place.head, f);
	if (rc)
		return rc;
	return io_pwrite_all(fd, zeros, (size_t)(m->place.end - behind),
			     behind, f);
}

static int
S_write_frames(struct packet_writer *w, struct fault *f)
{
	static const unsigned char zeros[TAR_END];
	const struct tar_member *list[PACKET_MEMBERS_MAX];
	size_t n = packet_layout_list(&w->layout, list);
	uint64_t end = w->layout.manifest.place.end;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = S_write_frame(w->out.fd, list[i], f);
	if (rc == 0)
		rc = io_pwrite_all(w->out.fd, zeros, sizeof(zeros), end, f);
	if (rc == 0 && ftruncate(w->out.fd, (off_t)(end + sizeof(zeros))))
		rc = fault_sys(f, FAULT_TROUBLE, errno, "set its length");
	return rc;
}

/* What no reader would take must not become a packet. */
static int
S_check_manifest(const struct buf *text, struct fault *f)
{
	OWN_MANIFEST(again);

	if (text->len > MANIFEST_BYTES_MAX)
		return fault_set(f, FAULT_CAP, "a manifest of %zu bytes: the "
				 "cap is %u", text->len, MANIFEST_BYTES_MAX);
	if (manifest_read(&again, text->data, text->len, f) == 0)
		return 0;
	f->code = FAULT_TROUBLE;
	return fault_wrap(f, "the new manifest does not read back");
}

static int
S_write_manifest(struct packet_writer *w, const struct manifest *m,
		 struct fault *f)
{
	struct buf text = BUF_INIT(2u * MANIFEST_BYTES_MAX);
	int rc = manifest_write(m, &text, f);

	if (rc == 0)
		rc = S_check_manifest(&text, f);
	if (rc == 0)
		rc = packet_layout_manifest(&w->layout, text.len, f);
	if (rc == 0)
		rc = io_pwrite_all(w->out.fd, text.data, text.len,
				   w->layout.manifest.place.data, f);
	if (rc == 0)
		digest_of(text.data, text.len, w->id);
	buf_free(&text);
	return rc;
}

static void
S_set_time(struct packet_layout *l, uint64_t mtime)
{
	for (int r = 0; r < ROLE_COUNT; r++)
		l->member[r].mtime = mtime;
	l->blocks.mtime = mtime;
}

int
packet_writer_finish(struct packet_writer *w, struct stage *s,
		     struct manifest *m, struct fault *f)
{
	const char *main_name = w->layout.member[ROLE_MAIN].name;
	int rc = S_check_target(w, m, f);

	MUST(strcmp(main_name + strlen(PACKET_FOLDER), m->database) == 0);
	if (rc == 0)
		rc = S_hash(w, s, m, f);
	if (rc == 0) {
		S_set_time(&w->layout, m->utc_ns / CLOCK_NS_PER_SEC);
		rc = S_write_manifest(w, m, f);
	}
	if (rc == 0)
		rc = S_write_frames(w, f);
	if (rc)
		return fault_wrap(f, "write %s", w->path);
	w->finished = true;
	return 0;
}

int
packet_writer_publish(struct packet_writer *w, char id[DIGEST_HEX_BYTES],
		      struct fault *f)
{
	int rc;

	MUST(w->finished);
	rc = publish_commit(&w->out, f);
	if (rc)
		return fault_wrap(f, "write %s", w->path);
	digest_hex(w->id, id);
	return 0;
}
