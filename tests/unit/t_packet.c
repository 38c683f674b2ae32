/*
 * t_packet.c - packet/packet_write.h and packet.h: whole, or nothing
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "packet/packet.h"
#include "packet/packet_layout.h"
#include "packet/packet_write.h"
#include "packet/tar.h"
#include "tests/unit/skipped.h"

#define NOW_NS 1769860800123456789ull
#define ABSENT UINT64_MAX
#define DATA_MAX 20000u

static char folder[] = "/tmp/t_packet-XXXXXX";
static char path[128];			/* folder/p */
static struct stage *stage;
static unsigned char data[ROLE_COUNT][DATA_MAX];

static int
S_setup(void **state)
{
	struct fault f = FAULT_INIT;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/p", folder);
	for (size_t i = 0; i < DATA_MAX; i++)
		for (size_t r = 0; r < ROLE_COUNT; r++)
			data[r][i] = (unsigned char)(1 + (i * 7 + i / 256
							  + r * 50) % 255);
	(void)signal(SIGXFSZ, SIG_IGN);
	return stage_new(&stage, 0, &f);
}

static int
S_teardown(void **state)
{
	char command[160];

	(void)state;
	stage_free(stage);
	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

/* Names in the folder, "." and ".." left out. */
static unsigned
S_names(const char *where)
{
	unsigned n = 0;
	OWN_DIR(d);

	d = opendir(where);
	assert_non_null(d);
	while (readdir(d))
		n++;
	return n - 2;
}

static void
S_fill(struct manifest *m, const char *database)
{
	manifest_init(m);
	(void)strcpy(m->version, "0.1.0");
	(void)strcpy(m->database, database);
	m->utc_ns = NOW_NS;
	(void)strcpy(m->authority, "stopped");
	(void)strcpy(m->binding, "none");
}

static int
S_source(const unsigned char *bytes, size_t n)
{
	struct fault f = FAULT_INIT;
	int fd = memfd_create("source", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(io_pwrite_all(fd, bytes, n, 0, &f), 0);
	return fd;
}

/* The two reads, as capture does them. */
static int
S_read_twice(struct packet_writer *w, const char *database,
	     const uint64_t sizes[ROLE_COUNT], const int source[ROLE_COUNT],
	     struct fault *f)
{
	bool present[ROLE_COUNT];
	int rc;

	for (int r = 0; r < ROLE_COUNT; r++)
		present[r] = sizes[r] != ABSENT;
	rc = packet_writer_reserve(w, database, present, sizes, f);
	for (int r = 0; rc == 0 && r < ROLE_COUNT; r++)
		if (present[r])
			rc = stage_copy(stage, source[r], sizes[r],
					packet_writer_fd(w),
					packet_writer_offset(w, (enum role)r),
					0, NULL, f);
	for (int r = 0; rc == 0 && r < ROLE_COUNT; r++)
		if (present[r])
			rc = stage_compare(stage, source[r], sizes[r],
					   packet_writer_fd(w),
					   packet_writer_offset(w,
								(enum role)r),
					   0, NULL, f);
	return rc;
}

static int
S_write(const char *to, bool force, const char *database,
	const uint64_t sizes[ROLE_COUNT], const int source[ROLE_COUNT],
	char id[DIGEST_HEX_BYTES], struct fault *f)
{
	uint64_t expect[ROLE_COUNT];
	OWN_MANIFEST(m);
	OWN_PACKET_WRITER(w);
	int rc = packet_writer_open(&w, to, force, f);

	for (int r = 0; r < ROLE_COUNT; r++)
		expect[r] = sizes[r] == ABSENT ? 0 : sizes[r];
	if (rc == 0)
		rc = packet_writer_prepare(w, database, expect, stage, f);
	if (rc == 0)
		rc = S_read_twice(w, database, sizes, source, f);
	S_fill(&m, database);
	if (rc == 0)
		rc = packet_writer_finish(w, stage, &m, f);
	return rc ? rc : packet_writer_publish(w, id, f);
}

/* A packet of the first sizes[r] bytes of data[r]. */
static int
S_make(const char *to, bool force, const char *database,
       const uint64_t sizes[ROLE_COUNT], char id[DIGEST_HEX_BYTES],
       struct fault *f)
{
	int source[ROLE_COUNT], rc;

	for (int r = 0; r < ROLE_COUNT; r++)
		source[r] = S_source(data[r], sizes[r] == ABSENT ? 0
				     : (size_t)sizes[r]);
	rc = S_write(to, force, database, sizes, source, id, f);
	for (int r = 0; r < ROLE_COUNT; r++)
		(void)close(source[r]);
	return rc;
}

static void
S_must_make(const char *database, const uint64_t sizes[ROLE_COUNT],
	    char id[DIGEST_HEX_BYTES])
{
	struct fault f = FAULT_INIT;

	if (S_make(path, true, database, sizes, id, &f))
		fail_msg("%s", f.text);
}

static unsigned char *
S_slurp(const char *from, size_t *n)
{
	struct fault f = FAULT_INIT;
	unsigned char *bytes;
	struct stat st;
	OWN_FD(fd);

	fd = open(from, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*n = (size_t)st.st_size;
	bytes = malloc(*n + 1);
	assert_non_null(bytes);
	assert_int_equal(io_pread_all(fd, bytes, *n, 0, &f), 0);
	return bytes;
}

static int
S_open_fd(int fd, char id[DIGEST_HEX_BYTES], struct fault *f)
{
	OWN_PACKET(p);
	int rc = packet_open(fd, &p, f);

	if (rc == 0)
		(void)strcpy(id, packet_id(p));
	return rc;
}

/* packet_open of exactly these bytes. */
static int
S_open_bytes(const unsigned char *bytes, size_t n, struct fault *f)
{
	char id[DIGEST_HEX_BYTES];
	OWN_FD(fd);

	fd = S_source(bytes, n);
	return S_open_fd(fd, id, f);
}

static void
S_check_blocks(int fd, const struct ask_side *side,
	       const uint64_t sizes[ROLE_COUNT])
{
	unsigned char got[DIGEST_BYTES], expect[DIGEST_BYTES];
	struct fault f = FAULT_INIT;
	uint64_t block = 0;

	for (int r = 0; r < ROLE_COUNT; r++) {
		if (sizes[r] == ABSENT)
			continue;
		assert_true(side->member[r].first_block == block);
		for (uint64_t at = 0; at < sizes[r]; at += 4096) {
			uint64_t left = sizes[r] - at;

			digest_of(data[r] + at, left < 4096 ? left : 4096,
				  expect);
			assert_int_equal(
				io_pread_all(fd, got, sizeof(got),
					     side->blocks_offset
					     + block * DIGEST_BYTES, &f), 0);
			assert_memory_equal(got, expect, DIGEST_BYTES);
			block++;
		}
	}
	assert_true(side->blocks_count == block);
}

static void
S_check_members(int fd, const struct packet *p, const struct ask_side *side,
		const uint64_t sizes[ROLE_COUNT])
{
	unsigned char back[DATA_MAX], expect[DIGEST_BYTES];
	struct fault f = FAULT_INIT;

	for (int r = 0; r < ROLE_COUNT; r++) {
		const struct ask_member *m = &side->member[r];

		assert_int_equal(m->present, sizes[r] != ABSENT);
		assert_int_equal(m->role, r);
		if (sizes[r] == ABSENT)
			continue;
		assert_int_equal(m->fd, 9);
		assert_true(m->size == sizes[r]);
		assert_true(m->offset % 4096 == 0);
		assert_int_equal(io_pread_all(fd, back, (size_t)sizes[r],
					      m->offset, &f), 0);
		assert_memory_equal(back, data[r], (size_t)sizes[r]);
		digest_of(data[r], (size_t)sizes[r], expect);
		assert_memory_equal(packet_manifest(p)->member[r].sha256,
				    expect, DIGEST_BYTES);
	}
}

static void
what_was_captured_is_what_is_read(void **state)
{
	static const uint64_t sizes[][ROLE_COUNT] = {
		{ 0, ABSENT, ABSENT, ABSENT },
		{ 1, 0, 0, 0 },
		{ 4095, 4096, 4097, ABSENT },
		{ 4096, ABSENT, ABSENT, 1 },
		{ 4097, 4095, ABSENT, ABSENT },
		{ 20000, 12345, 511, 512 },
		{ 8192, ABSENT, 513, ABSENT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char id[DIGEST_HEX_BYTES];
		struct fault f = FAULT_INIT;
		struct ask_side side;
		struct stat st;
		OWN_PACKET(p);
		OWN_FD(fd);

		S_must_make("app.db", sizes[i], id);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (packet_open(fd, &p, &f))
			fail_msg("%s", f.text);
		assert_string_equal(packet_id(p), id);
		assert_string_equal(packet_database(p), "app.db");
		packet_side(p, 9, &side);
		assert_int_equal(side.blocks_fd, 9);
		assert_true(side.now_ns == NOW_NS);
		S_check_members(fd, p, &side, sizes[i]);
		S_check_blocks(fd, &side, sizes[i]);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		assert_int_equal(S_names(folder), 1);
	}
}

/* The id, from the file's bytes alone. */
static void
the_id_is_the_digest_of_the_manifest(void **state)
{
	static const uint64_t sizes[] = { 4096, 100, ABSENT, ABSENT };
	char id[DIGEST_HEX_BYTES], hex[DIGEST_HEX_BYTES];
	unsigned char raw[DIGEST_BYTES], *bytes, *from, *to;
	size_t n;

	(void)state;
	S_must_make("app.db", sizes, id);
	bytes = S_slurp(path, &n);
	from = memmem(bytes, n, "{\n", 2);
	assert_non_null(from);
	to = memmem(from, n - (size_t)(from - bytes), "\n}\n", 3);
	assert_non_null(to);
	digest_of(from, (size_t)(to + 3 - from), raw);
	digest_hex(raw, hex);
	assert_string_equal(id, hex);
	free(bytes);
}

/* Unpacks with a stock program and compares with what went in. */
static void
S_unpack(const char *program, const char *database)
{
	static const uint64_t sizes[] = { 8192, 4097, 0, ABSENT };
	char id[DIGEST_HEX_BYTES], command[512], file[700];
	unsigned char *back;
	size_t n;

	S_must_make(database, sizes, id);
	(void)snprintf(command, sizeof(command), "rm -rf %s/x && mkdir %s/x && "
		       "%s -xf %s -C %s/x", folder, folder, program, path,
		       folder);
	assert_int_equal(system(command), 0);
	for (int r = 0; r < ROLE_COUNT; r++) {
		(void)snprintf(file, sizeof(file), "%s/x/db/%s%s", folder,
			       database, role_suffix((enum role)r));
		if (sizes[r] == ABSENT) {
			assert_int_not_equal(access(file, F_OK), 0);
			continue;
		}
		back = S_slurp(file, &n);
		assert_int_equal(n, sizes[r]);
		assert_memory_equal(back, data[r], n);
		free(back);
	}
	(void)snprintf(file, sizeof(file), "%s/x/db", folder);
	assert_int_equal(S_names(file), 3);
	(void)snprintf(file, sizeof(file), "%s/x", folder);
	assert_int_equal(S_names(file), 3);
	(void)snprintf(command, sizeof(command), "rm -rf %s/x", folder);
	assert_int_equal(system(command), 0);
}

static void
S_unpack_all(const char *program)
{
	char long_name[NAME_MAX + 1], command[64];

	(void)snprintf(command, sizeof(command),
		       "%s --version >/dev/null 2>&1", program);
	if (system(command) != 0)
		SKIP("needs that program");
	S_unpack(program, "app.db");
	S_unpack(program, " a b\tc\nd ");
	S_unpack(program, "\xff\xfe.db");
	S_unpack(program, "\xc3\xa9");
	S_unpack(program, "-f");
	S_unpack(program, "x=1 path=y");
	for (size_t len = 90; len <= 255 - 4; len += len < 105 ? 1 : 50) {
		memset(long_name, 'n', len);
		long_name[len] = '\0';
		S_unpack(program, long_name);
		long_name[len / 2] = '\n';
		long_name[len - 1] = ' ';
		S_unpack(program, long_name);
	}
	/* Longest of all: NAME-wal has 255 bytes. */
	memset(long_name, 'n', 251);
	long_name[251] = '\0';
	S_unpack(program, long_name);
	long_name[3] = (char)0xff;
	S_unpack(program, long_name);
}

static void
gnu_tar_unpacks_every_name(void **state)
{
	(void)state;
	S_unpack_all("tar --warning=no-unknown-keyword");
}

static void
bsdtar_unpacks_every_name(void **state)
{
	(void)state;
	S_unpack_all("bsdtar");
}

static void
no_byte_outside_the_data_can_be_another(void **state)
{
	static const uint64_t sizes[] = { 5000, 1, ABSENT, ABSENT };
	char id[DIGEST_HEX_BYTES], other[DIGEST_HEX_BYTES];
	struct fault f = FAULT_INIT;
	unsigned char *bytes;
	struct packet_layout l;
	const bool present[] = { true, true, false, false };
	size_t n, refused = 0;
	OWN_FD(fd);

	(void)state;
	S_must_make("app.db", sizes, id);
	bytes = S_slurp(path, &n);
	assert_int_equal(packet_layout_make(&l, "app.db", present, sizes, 0,
					    &f), 0);
	fd = S_source(bytes, n);
	for (size_t i = 0; i < n; i++) {
		unsigned char was = bytes[i];
		unsigned char is = (unsigned char)(was ^ (1u << i % 8));
		int rc;

		assert_int_equal(io_pwrite_all(fd, &is, 1, i, &f), 0);
		rc = S_open_fd(fd, other, &f);
		assert_int_equal(io_pwrite_all(fd, &was, 1, i, &f), 0);
		if (rc == -FAULT_DAMAGED) {
			refused++;
			continue;
		}
		/* What is taken is data (the block list tells) or another
		   manifest (the id tells). */
		assert_int_equal(rc, 0);
		if (strcmp(other, id) != 0)
			continue;
		if (!(i >= l.member[0].place.data
		      && i < l.member[0].place.data + 5000)
		    && i != l.member[1].place.data
		    && !(i >= l.blocks.place.data
			 && i < l.blocks.place.data + 96))
			fail_msg("byte %zu is another, and nobody sees", i);
	}
	assert_true(refused > 4096);
	assert_int_equal(S_open_fd(fd, other, &f), 0);
	assert_string_equal(other, id);
	free(bytes);
}

static void
a_cut_or_longer_packet_is_damaged(void **state)
{
	static const uint64_t sizes[] = { 5000, 1, ABSENT, ABSENT };
	char id[DIGEST_HEX_BYTES];
	struct fault f = FAULT_INIT;
	unsigned char *bytes, *longer;
	size_t n;

	(void)state;
	S_must_make("app.db", sizes, id);
	bytes = S_slurp(path, &n);
	for (size_t cut = 1; cut < n; cut += cut < 600 ? 1 : 97)
		assert_int_equal(S_open_bytes(bytes, cut, &f),
				 -FAULT_DAMAGED);
	for (size_t cut = n - 1100; cut < n; cut++)
		assert_int_equal(S_open_bytes(bytes, cut, &f),
				 -FAULT_DAMAGED);
	longer = calloc(1, n + 10240);
	assert_non_null(longer);
	memcpy(longer, bytes, n);
	assert_int_equal(S_open_bytes(longer, n, &f), 0);
	for (size_t more = 1; more <= 10240; more += 511)
		assert_int_equal(S_open_bytes(longer, n + more, &f),
				 -FAULT_DAMAGED);
	longer[n] = 'x';
	assert_int_equal(S_open_bytes(longer, n + 1, &f), -FAULT_DAMAGED);
	free(longer);
	free(bytes);
}

/* An archive of the given members, whatever they say. */
struct forged {
	const char *name;
	uint64_t size;
	const void *bytes;	/* NULL: a hole */
};

static uint64_t late;		/* seconds that the first header is late */

static int
S_forge(const struct forged *list, size_t count, struct fault *f)
{
	unsigned char head[TAR_HEAD_MAX];
	char id[DIGEST_HEX_BYTES];
	uint64_t at = 0;
	OWN_FD(fd);

	fd = S_source(NULL, 0);
	for (size_t i = 0; i < count; i++) {
		struct tar_member m = { .size = list[i].size };

		m.mtime = NOW_NS / CLOCK_NS_PER_SEC + (i == 0 ? late : 0);
		(void)snprintf(m.name, sizeof(m.name), "%s", list[i].name);
		assert_int_equal(tar_place(at, m.name, m.size, &m.place, f),
				 0);
		tar_head_make(&m, head);
		assert_int_equal(io_pwrite_all(fd, head, (size_t)
					       (m.place.data - m.place.head),
					       m.place.head, f), 0);
		if (list[i].bytes)
			assert_int_equal(io_pwrite_all(fd, list[i].bytes,
						       (size_t)m.size,
						       m.place.data, f), 0);
		at = m.place.end;
	}
	assert_int_equal(ftruncate(fd, (off_t)(at + TAR_END)), 0);
	return S_open_fd(fd, id, f);
}

/* A manifest of main and WAL of one block each, unless told otherwise. */
static void
S_manifest_text(const char *database, uint64_t main_bytes, struct buf *b)
{
	struct fault f = FAULT_INIT;
	OWN_MANIFEST(m);

	S_fill(&m, database);
	m.member[ROLE_MAIN].present = m.member[ROLE_WAL].present = true;
	m.member[ROLE_MAIN].bytes = main_bytes;
	m.member[ROLE_WAL].bytes = 4096;
	m.blocks_count = manifest_blocks(&m);
	assert_int_equal(manifest_write(&m, b, &f), 0);
}

static void
members_are_those_of_the_manifest_in_their_order(void **state)
{
	static const unsigned char list[96];
	struct buf b = BUF_INIT(1u << 20);
	struct fault f = FAULT_INIT;

	(void)state;
	S_manifest_text("a", 4096, &b);
	{
		const struct forged m = { "db/a", 4096, data[0] };
		const struct forged w = { "db/a-wal", 4096, data[1] };
		const struct forged s = { "db/a-shm", 4096, data[2] };
		const struct forged k = { "blocks.sha256", 64, list };
		const struct forged j = { "manifest.json", b.len, b.data };
		const struct forged long_k = { "blocks.sha256", 96, list };
		const struct forged short_w = { "db/a-wal", 4095, data[1] };
		const struct forged other = { "db/b", 4096, data[0] };
		const struct forged up = { "db/../a", 4096, data[0] };
		const struct forged bare = { "a", 4096, data[0] };
		const struct forged good[] = { m, w, k, j };
		const struct {
			struct forged list[PACKET_MEMBERS_MAX + 2];
			size_t n;
		} bad[] = {
			{ { w, m, k, j }, 4 },
			{ { m, k, w, j }, 4 },
			{ { m, w, j, k }, 4 },
			{ { m, k, j }, 3 },
			{ { m, w, j }, 3 },
			{ { j }, 1 },
			{ { m, w, k }, 3 },
			{ { m, m, w, k, j }, 5 },
			{ { m, w, s, k, j }, 5 },
			{ { m, w, k, j, j }, 5 },
			{ { m, w, long_k, j }, 4 },
			{ { m, short_w, k, j }, 4 },
			{ { other, w, k, j }, 4 },
			{ { up, w, k, j }, 4 },
			{ { bare, w, k, j }, 4 },
			{ { m, m, m, m, m, m, w, j }, 8 },
		};

		if (S_forge(good, 4, &f))
			fail_msg("%s", f.text);
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
			assert_int_equal(S_forge(bad[i].list, bad[i].n, &f),
					 -FAULT_DAMAGED);
		late = 1;
		assert_int_equal(S_forge(good, 4, &f), -FAULT_DAMAGED);
		late = 0;
	}
	buf_free(&b);
}

static void
a_name_that_leads_elsewhere_is_damage(void **state)
{
	static const char *const names[] = { "../a", "a/b", "..", ".", "",
					     "/etc/passwd" };
	static const unsigned char list[64];
	char member[64], wal[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct buf b = BUF_INIT(1u << 20);
		struct fault f = FAULT_INIT;

		S_manifest_text(names[i], 4096, &b);
		(void)snprintf(member, sizeof(member), "db/%s", names[i]);
		(void)snprintf(wal, sizeof(wal), "db/%s-wal", names[i]);
		const struct forged all[] = {
			{ member, 4096, data[0] },
			{ wal, 4096, data[1] },
			{ "blocks.sha256", 64, list },
			{ "manifest.json", b.len, b.data },
		};

		assert_int_equal(S_forge(all, 4, &f), -FAULT_DAMAGED);
		assert_non_null(strstr(f.text, "plain name"));
		buf_free(&b);
	}
}

static void
more_than_8_gib_need_no_more_than_headers(void **state)
{
	const uint64_t size = (9ull << 30) + 1;
	struct buf b = BUF_INIT(1u << 20);
	struct fault f = FAULT_INIT;

	(void)state;
	S_manifest_text("a", size, &b);
	const struct forged all[] = {
		{ "db/a", size, NULL },
		{ "db/a-wal", 4096, data[1] },
		{ "blocks.sha256", ((9ull << 18) + 2) * 32, NULL },
		{ "manifest.json", b.len, b.data },
	};

	if (S_forge(all, 4, &f))
		fail_msg("%s", f.text);
	buf_free(&b);
}

static void
a_large_manifest_is_damage(void **state)
{
	const struct forged all[] = {
		{ "manifest.json", MANIFEST_BYTES_MAX + 1, NULL },
	};
	struct fault f = FAULT_INIT;

	(void)state;
	assert_int_equal(S_forge(all, 1, &f), -FAULT_DAMAGED);
	assert_non_null(strstr(f.text, "the cap is"));
}

static void
a_plain_file_is_no_packet(void **state)
{
	unsigned char page[4096] = "SQLite format 3";
	struct fault f = FAULT_INIT;

	(void)state;
	assert_int_equal(S_open_bytes(page, sizeof(page), &f), 1);
	assert_int_equal(S_open_bytes(page, 0, &f), 1);
	assert_int_equal(S_open_bytes(data[0], DATA_MAX, &f), 1);
	memset(page, 0, sizeof(page));
	assert_int_equal(S_open_bytes(page, sizeof(page), &f), 1);
}

static void
an_earlier_longer_attempt_leaves_no_byte(void **state)
{
	static const uint64_t first[] = { 20000, 20000, 20000, ABSENT };
	static const uint64_t second[] = { 5, 7, ABSENT, ABSENT };
	char id[DIGEST_HEX_BYTES], other[DIGEST_HEX_BYTES];
	struct fault f = FAULT_INIT;
	int source[ROLE_COUNT];
	unsigned char *a, *b;
	size_t na, nb;

	(void)state;
	S_must_make("app.db", second, id);
	a = S_slurp(path, &na);
	for (int r = 0; r < ROLE_COUNT; r++)
		source[r] = S_source(data[r], DATA_MAX);
	{
		OWN_MANIFEST(m);
		OWN_PACKET_WRITER(w);

		S_fill(&m, "app.db");
		assert_int_equal(packet_writer_open(&w, path, true, &f), 0);
		assert_int_equal(S_read_twice(w, "app.db", first, source, &f),
				 0);
		assert_int_equal(S_read_twice(w, "app.db", second, source,
					      &f), 0);
		assert_int_equal(packet_writer_finish(w, stage, &m, &f), 0);
		assert_int_equal(packet_writer_publish(w, other, &f), 0);
	}
	for (int r = 0; r < ROLE_COUNT; r++)
		(void)close(source[r]);
	b = S_slurp(path, &nb);
	assert_int_equal(na, nb);
	assert_memory_equal(a, b, na);
	assert_string_equal(id, other);
	free(a);
	free(b);
}

static void
what_is_staged_is_described_without_a_list(void **state)
{
	static const uint64_t sizes[] = { 20000, 12345, ABSENT, ABSENT };
	unsigned char back[DATA_MAX];
	struct fault f = FAULT_INIT;
	int source[ROLE_COUNT];
	struct ask_side side;
	OWN_PACKET_WRITER(w);

	(void)state;
	(void)unlink(path);
	for (int r = 0; r < ROLE_COUNT; r++)
		source[r] = S_source(data[r], DATA_MAX);
	assert_int_equal(packet_writer_open(&w, path, false, &f), 0);
	assert_int_equal(S_read_twice(w, "a", sizes, source, &f), 0);
	for (int r = 0; r < ROLE_COUNT; r++)
		(void)close(source[r]);
	packet_writer_side(w, 5, 77, &side);
	assert_true(side.blocks_count == 0 && side.now_ns == 77);
	for (int r = 0; r < 2; r++) {
		assert_int_equal(side.member[r].fd, 5);
		assert_int_equal(io_pread_all(packet_writer_read_fd(w), back,
					      (size_t)side.member[r].size,
					      side.member[r].offset, &f), 0);
		assert_memory_equal(back, data[r], (size_t)sizes[r]);
	}
	assert_int_equal(side.member[2].present, 0);
	/* The helper's descriptor writes nothing. */
	assert_int_equal(pwrite(packet_writer_read_fd(w), "x", 1, 0), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(S_names(folder), 0);
}

static void
S_put(const char *text)
{
	FILE *o = fopen(path, "w");

	assert_non_null(o);
	assert_true(fputs(text, o) >= 0);
	assert_int_equal(fclose(o), 0);
}

static void
S_holds(const char *text)
{
	size_t n;
	unsigned char *bytes = S_slurp(path, &n);

	assert_int_equal(n, strlen(text));
	assert_memory_equal(bytes, text, n);
	free(bytes);
}

static void
what_is_there_is_not_overwritten(void **state)
{
	static const uint64_t sizes[] = { 4096, ABSENT, ABSENT, ABSENT };
	char id[DIGEST_HEX_BYTES];
	struct fault f = FAULT_INIT;
	int source[ROLE_COUNT] = { -1, -1, -1, -1 };
	OWN_MANIFEST(m);
	OWN_PACKET_WRITER(w);
	OWN_PACKET_WRITER(early);

	(void)state;
	S_put("mine");
	assert_true(packet_writer_open(&early, path, false, &f) < 0);
	assert_non_null(strstr(f.hint, "--force"));
	S_holds("mine");
	/* It comes between the look and the end. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(packet_writer_open(&w, path, false, &f), 0);
	source[0] = S_source(data[0], 4096);
	assert_int_equal(S_read_twice(w, "a", sizes, source, &f), 0);
	(void)close(source[0]);
	S_fill(&m, "a");
	assert_int_equal(packet_writer_finish(w, stage, &m, &f), 0);
	S_put("mine");
	assert_true(packet_writer_publish(w, id, &f) < 0);
	S_holds("mine");
	packet_writer_free(w);
	w = NULL;
	assert_int_equal(S_names(folder), 1);
	assert_int_equal(unlink(path), 0);
}

static void
force_replaces_it_whole(void **state)
{
	static const uint64_t sizes[] = { 4096, ABSENT, ABSENT, ABSENT };
	char id[DIGEST_HEX_BYTES], got[DIGEST_HEX_BYTES];
	struct fault f = FAULT_INIT;
	struct stat old, now;
	OWN_FD(fd);

	(void)state;
	S_put("old");
	assert_int_equal(stat(path, &old), 0);
	/* Who has the old one open keeps it: another inode took the name. */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	S_must_make("a", sizes, id);
	assert_int_equal(stat(path, &now), 0);
	assert_true(now.st_ino != old.st_ino);
	assert_int_equal(pread(fd, got, 4, 0), 3);
	assert_memory_equal(got, "old", 3);
	assert_int_equal(S_names(folder), 1);
	own_fd_close(&fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(S_open_fd(fd, got, &f), 0);
	assert_string_equal(got, id);
}

static void
force_never_replaces_the_database(void **state)
{
	static const uint64_t sizes[] = { 3, ABSENT, ABSENT, ABSENT };
	struct fault f = FAULT_INIT;
	int source[ROLE_COUNT] = { -1, -1, -1, -1 };
	struct stat st;
	OWN_MANIFEST(m);
	OWN_PACKET_WRITER(w);
	OWN_FD(fd);

	(void)state;
	S_put("old");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	source[0] = fd;
	assert_int_equal(packet_writer_open(&w, path, true, &f), 0);
	assert_true(packet_writer_replaces(w, st.st_dev, st.st_ino));
	assert_false(packet_writer_replaces(w, st.st_dev, st.st_ino + 1));
	assert_int_equal(S_read_twice(w, "p", sizes, source, &f), 0);
	S_fill(&m, "p");
	m.member[ROLE_MAIN].dev = st.st_dev;
	m.member[ROLE_MAIN].ino = st.st_ino;
	assert_int_equal(packet_writer_finish(w, stage, &m, &f),
			 -FAULT_USAGE);
	S_holds("old");
	assert_int_equal(unlink(path), 0);
}

/* Writes may end anywhere: no packet, no part, no other name. */
static void
a_full_disk_leaves_nothing_behind(void **state)
{
	static const uint64_t sizes[] = { 20000, 12345, 4096, 100 };
	const struct rlimit before = { RLIM_INFINITY, RLIM_INFINITY };
	char id[DIGEST_HEX_BYTES];
	struct fault f = FAULT_INIT;
	unsigned failed = 0, made = 0;
	struct stat st;

	(void)state;
	S_must_make("a", sizes, id);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(unlink(path), 0);
	for (off_t room = 0; room <= st.st_size; room += 512) {
		const struct rlimit now = { (rlim_t)room, RLIM_INFINITY };
		int source[ROLE_COUNT], rc;

		for (int r = 0; r < ROLE_COUNT; r++)
			source[r] = S_source(data[r], DATA_MAX);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
		rc = S_write(path, false, "a", sizes, source, id, &f);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		for (int r = 0; r < ROLE_COUNT; r++)
			(void)close(source[r]);
		if (rc == 0) {
			made++;
			assert_int_equal(unlink(path), 0);
			continue;
		}
		failed++;
		assert_int_equal(rc, -FAULT_TROUBLE);
		assert_non_null(strstr(f.text, path));
		assert_int_equal(S_names(folder), 0);
	}
	assert_int_equal(made, 1);
	assert_true(failed > 100);
}

static int
S_tiny_disk(void)
{
	static const uint64_t sizes[] = { 20000, 20000, 20000, 20000 };
	char id[DIGEST_HEX_BYTES], to[160];
	struct fault f = FAULT_INIT;
	struct stage *s = NULL;
	int source[ROLE_COUNT], rc;

	/* In a user namespace without a mapping no file can be made. */
	if (unshare(CLONE_NEWNS))
		return 77;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)
	    || mount("none", folder, "tmpfs", 0, "size=32k"))
		return 77;
	/* The threads of the other stage are not in this process. */
	if (stage_new(&s, 0, &f))
		return 1;
	stage = s;
	(void)snprintf(to, sizeof(to), "%s/q", folder);
	for (int r = 0; r < ROLE_COUNT; r++)
		source[r] = S_source(data[r], DATA_MAX);
	rc = S_write(to, false, "a", sizes, source, id, &f);
	if (rc != -FAULT_TROUBLE || f.err != ENOSPC || !strstr(f.text, to))
		return 2;
	return S_names(folder) == 0 ? 0 : 3;
}

static void
a_full_file_system_is_named(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	(void)fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(S_tiny_disk());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		SKIP("no mounts of our own here");
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
a_default_name_says_which_and_when(void **state)
{
	char name[PACKET_NAME_BYTES], database[NAME_MAX + 1];

	(void)state;
	packet_default_name("app.db", NOW_NS, name);
	assert_string_equal(name, "app.db-20260131T120000Z.holdfast");
	memset(database, 'n', NAME_MAX);
	database[NAME_MAX] = '\0';
	packet_default_name(database, NOW_NS, name);
	assert_int_equal(strlen(name), NAME_MAX);
	assert_string_equal(name + NAME_MAX - 26,
			    "-20260131T120000Z.holdfast");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_captured_is_what_is_read),
		cmocka_unit_test(the_id_is_the_digest_of_the_manifest),
		cmocka_unit_test(gnu_tar_unpacks_every_name),
		cmocka_unit_test(bsdtar_unpacks_every_name),
		cmocka_unit_test(no_byte_outside_the_data_can_be_another),
		cmocka_unit_test(a_cut_or_longer_packet_is_damaged),
		cmocka_unit_test(
			members_are_those_of_the_manifest_in_their_order),
		cmocka_unit_test(a_name_that_leads_elsewhere_is_damage),
		cmocka_unit_test(more_than_8_gib_need_no_more_than_headers),
		cmocka_unit_test(a_large_manifest_is_damage),
		cmocka_unit_test(a_plain_file_is_no_packet),
		cmocka_unit_test(an_earlier_longer_attempt_leaves_no_byte),
		cmocka_unit_test(what_is_staged_is_described_without_a_list),
		cmocka_unit_test(what_is_there_is_not_overwritten),
		cmocka_unit_test(force_replaces_it_whole),
		cmocka_unit_test(force_never_replaces_the_database),
		cmocka_unit_test(a_full_disk_leaves_nothing_behind),
		cmocka_unit_test(a_full_file_system_is_named),
		cmocka_unit_test(a_default_name_says_which_and_when),
	};

	return cmocka_run_group_tests(tests, S_setup, S_teardown);
}
