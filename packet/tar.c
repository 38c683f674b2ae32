/*
 * tar.c - canonical tar headers of a packet's members
 */
#include "packet/tar.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cell.h"
#include "base/io.h"

#define PAX_NAME "././@PaxHeader"
#define ARCHIVE_MAX (1ull << 62)

/* Offsets and widths of the ustar header (POSIX pax, "ustar Interchange
   Format"). */
enum {
	AT_NAME = 0,
	AT_MODE = 100,
	AT_UID = 108,
	AT_GID = 116,
	AT_SIZE = 124,
	AT_MTIME = 136,
	AT_SUM = 148,
	AT_TYPE = 156,
	AT_MAGIC = 257,
	AT_VERSION = 263,
	AT_MAJOR = 329,
	AT_MINOR = 337,
	SHORT_FIELD = 8,
	LONG_FIELD = 12,
};

static uint64_t
S_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static size_t
S_digits(size_t n)
{
	size_t d = 1;

	while (n >= 10) {
		n /= 10;
		d++;
	}
	return d;
}

/* "LEN KEY=VALUE\n", where LEN counts itself. */
static size_t
S_record_bytes(const char *key, size_t value)
{
	size_t rest = strlen(key) + value + 3;
	size_t n = rest + S_digits(rest);

	return n + (S_digits(n) > S_digits(rest));
}

static unsigned char *
S_record_put(unsigned char *at, const char *key, const char *value)
{
	size_t n = S_record_bytes(key, strlen(value));

	/* sprintf's NUL falls where the value or the newline goes. */
	at += sprintf((char *)at, "%zu %s=", n, key);
	memcpy(at, value, strlen(value));
	at += strlen(value);
	*at++ = '\n';
	return at;
}

static bool
S_long_name(const char *name)
{
	return strlen(name) > TAR_NAME_MAX;
}

static bool
S_binary_name(const char *name)
{
	return S_long_name(name) && cell_utf8_check(name, strlen(name));
}

static void
S_size_text(uint64_t size, char text[24])
{
	(void)snprintf(text, 24, "%" PRIu64, size);
}

/* All records but the comment. */
static size_t
S_facts_bytes(const char *name, uint64_t size)
{
	char text[24];
	size_t n = 0;

	S_size_text(size, text);
	if (S_binary_name(name))
		n += S_record_bytes("hdrcharset", strlen("BINARY"));
	if (S_long_name(name))
		n += S_record_bytes("path", strlen(name));
	if (size >= TAR_SIZE_PAX)
		n += S_record_bytes("size", strlen(text));
	return n;
}

int
tar_place(uint64_t head, const char *name, uint64_t size, struct tar_place *p,
	  struct fault *f)
{
	uint64_t records;

	MUST(head % TAR_BLOCK == 0);
	if (strlen(name) > TAR_PATH_MAX)
		return fault_set(f, FAULT_CAP, "a member's name of %zu bytes: "
				 "the cap is %u", strlen(name), TAR_PATH_MAX);
	if (head > ARCHIVE_MAX || size > ARCHIVE_MAX - head)
		return fault_set(f, FAULT_CAP, "a member of %" PRIu64 " bytes",
				 size);
	records = S_up(S_facts_bytes(name, size)
		       + S_record_bytes("comment", strlen(TAR_MARK)),
		       TAR_BLOCK);
	p->head = head;
	p->data = S_up(head + 2 * TAR_BLOCK + records, TAR_ALIGN);
	p->end = S_up(p->data + size, TAR_BLOCK);
	return 0;
}

static void
S_octal(unsigned char *header, size_t at, size_t width, uint64_t v)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%0*" PRIo64, (int)width - 1, v);
	MUST(strlen(text) < width);
	memcpy(header + at, text, width);
}

static uint64_t
S_sum(const unsigned char *header)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += i >= AT_SUM && i < AT_TYPE ? ' ' : header[i];
	return sum;
}

static void
S_ustar(unsigned char *header, const char *name, char type, uint64_t size,
	uint64_t mtime)
{
	size_t n = strlen(name);

	memset(header, 0, TAR_BLOCK);
	memcpy(header + AT_NAME, name, n < TAR_NAME_MAX ? n : TAR_NAME_MAX);
	S_octal(header, AT_MODE, SHORT_FIELD, 0600);
	S_octal(header, AT_UID, SHORT_FIELD, 0);
	S_octal(header, AT_GID, SHORT_FIELD, 0);
	S_octal(header, AT_SIZE, LONG_FIELD, size);
	S_octal(header, AT_MTIME, LONG_FIELD, mtime);
	header[AT_TYPE] = (unsigned char)type;
	memcpy(header + AT_MAGIC, "ustar", 6);
	memcpy(header + AT_VERSION, "00", 2);
	S_octal(header, AT_MAJOR, SHORT_FIELD, 0);
	S_octal(header, AT_MINOR, SHORT_FIELD, 0);
	S_octal(header, AT_SUM, SHORT_FIELD - 1, S_sum(header));
	header[AT_SUM + SHORT_FIELD - 1] = ' ';
}

static void
S_records(unsigned char *at, size_t n, const struct tar_member *m)
{
	size_t comment = n - S_facts_bytes(m->name, m->size);
	unsigned char *end = at + comment;
	char text[24];
	int len;

	/* That long a record, whatever its own length takes to spell. */
	len = sprintf((char *)at, "%zu comment=" TAR_MARK, comment);
	memset(at + len, ' ', comment - (size_t)len);
	at[comment - 1] = '\n';
	S_size_text(m->size, text);
	if (S_binary_name(m->name))
		end = S_record_put(end, "hdrcharset", "BINARY");
	if (S_long_name(m->name))
		end = S_record_put(end, "path", m->name);
	if (m->size >= TAR_SIZE_PAX)
		end = S_record_put(end, "size", text);
	MUST(end == at + n);
}

void
tar_head_make(const struct tar_member *m, unsigned char *out)
{
	size_t n = (size_t)(m->place.data - m->place.head);
	size_t records = n - 2 * TAR_BLOCK;

	MUST(n <= TAR_HEAD_MAX && m->mtime <= TAR_TIME_MAX);
	S_ustar(out, PAX_NAME, 'x', records, m->mtime);
	S_records(out + TAR_BLOCK, records, m);
	S_ustar(out + TAR_BLOCK + records, m->name, '0',
		m->size >= TAR_SIZE_PAX ? 0 : m->size, m->mtime);
}

static int
S_damaged(struct fault *f, uint64_t at, const char *what)
{
	return fault_set(f, FAULT_DAMAGED, "packet, offset %" PRIu64 ": %s",
			 at, what);
}

/* The octal digits of a field, closed by a NUL. 1: it is something else. */
static int
S_read_octal(const unsigned char *field, size_t width, uint64_t *v)
{
	uint64_t n = 0;

	for (size_t i = 0; i + 1 < width; i++) {
		if (field[i] < '0' || field[i] > '7')
			return 1;
		n = n << 3 | (uint64_t)(field[i] - '0');
	}
	if (field[width - 1] != '\0')
		return 1;
	*v = n;
	return 0;
}

/* Decimal digits up to stop; *at moves behind it. 1: something else. */
static int
S_read_decimal(const unsigned char **at, const unsigned char *end,
	       unsigned char stop, uint64_t *v)
{
	const unsigned char *p = *at;
	uint64_t n = 0;

	while (p < end && *p >= '0' && *p <= '9') {
		if (__builtin_mul_overflow(n, 10u, &n)
		    || __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return 1;
		p++;
	}
	if (p == *at || p == end || *p != stop)
		return 1;
	*at = p + 1;
	*v = n;
	return 0;
}

static bool
S_is_key(const unsigned char **at, const unsigned char *end, const char *key)
{
	size_t n = strlen(key);

	if ((size_t)(end - *at) < n || memcmp(*at, key, n) != 0)
		return false;
	*at += n;
	return true;
}

/* One record into m. 1: none that we write. */
static int
S_read_record(const unsigned char *at, const unsigned char *end,
	      struct tar_member *m)
{
	size_t n;

	if (S_is_key(&at, end, "comment=")
	    || S_is_key(&at, end, "hdrcharset="))
		return 0;
	if (S_is_key(&at, end, "size="))
		return S_read_decimal(&at, end, '\n', &m->size);
	if (!S_is_key(&at, end, "path="))
		return 1;
	n = (size_t)(end - at) - 1;
	if (n > TAR_PATH_MAX || memchr(at, '\0', n))
		return 1;
	memcpy(m->name, at, n);
	m->name[n] = '\0';
	return 0;
}

static int
S_read_records(const unsigned char *at, const unsigned char *end,
	       struct tar_member *m)
{
	while (at < end) {
		const unsigned char *start = at;
		uint64_t n;

		if (S_read_decimal(&at, end, ' ', &n)
		    || n <= (uint64_t)(at - start)
		    || n > (uint64_t)(end - start) || start[n - 1] != '\n'
		    || S_read_record(at, start + n, m))
			return 1;
		at = start + n;
	}
	return 0;
}

/*
 * Takes from the headers what tar_head_make needs. This need not be strict:
 * what is made from it is compared with every byte.
 */
static int
S_read_facts(const unsigned char *bytes, size_t n, struct tar_member *m)
{
	const unsigned char *ustar;
	uint64_t records, size;

	if (n < 2 * TAR_BLOCK || bytes[AT_TYPE] != 'x'
	    || S_read_octal(bytes + AT_SIZE, LONG_FIELD, &records)
	    || records % TAR_BLOCK != 0 || records > n - 2 * TAR_BLOCK)
		return 1;
	ustar = bytes + TAR_BLOCK + records;
	if (S_read_octal(ustar + AT_SIZE, LONG_FIELD, &size)
	    || S_read_octal(ustar + AT_MTIME, LONG_FIELD, &m->mtime))
		return 1;
	m->size = size;
	memcpy(m->name, ustar + AT_NAME, TAR_NAME_MAX);
	m->name[TAR_NAME_MAX] = '\0';
	return S_read_records(bytes + TAR_BLOCK, ustar, m);
}

int
tar_head_parse(const unsigned char *bytes, size_t n, uint64_t head,
	       struct tar_member *m, struct fault *f)
{
	unsigned char again[TAR_HEAD_MAX];
	struct tar_member got = { .size = 0 };
	size_t len;

	if (n > TAR_HEAD_MAX)
		n = TAR_HEAD_MAX;
	if (S_read_facts(bytes, n, &got)
	    || tar_place(head, got.name, got.size, &got.place, f))
		return S_damaged(f, head, "no member's headers as a packet "
				 "has them");
	len = (size_t)(got.place.data - got.place.head);
	if (len > n)
		return S_damaged(f, head, "the headers end early");
	tar_head_make(&got, again);
	for (size_t i = 0; i < len; i++)
		if (again[i] != bytes[i])
			return S_damaged(f, head + i, "not the byte that "
					 "belongs in this header");
	*m = got;
	return 0;
}

static size_t
S_first_nonzero(const unsigned char *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && bytes[i] == 0)
		i++;
	return i;
}

static int
S_check_padding(int fd, uint64_t size, const struct tar_member *m,
		struct fault *f)
{
	unsigned char pad[TAR_BLOCK];
	uint64_t from = m->place.data + m->size;
	size_t n = (size_t)(m->place.end - from), i;
	int rc;

	if (m->place.end > size)
		return S_damaged(f, size, "the file ends inside a member");
	rc = io_pread_all(fd, pad, n, from, f);
	if (rc)
		return rc;
	i = S_first_nonzero(pad, n);
	return i < n ? S_damaged(f, from + i, "padding that is not zero") : 0;
}

int
tar_walk(int fd, uint64_t size, uint64_t head, struct tar_member *m,
	 struct fault *f)
{
	unsigned char bytes[TAR_HEAD_MAX];
	struct tar_member got;
	size_t n = 0, zeros;
	int rc;

	if (head < size)
		rc = io_pread(fd, bytes, size - head < sizeof(bytes)
			      ? (size_t)(size - head) : sizeof(bytes), head,
			      &n, f);
	else
		rc = S_damaged(f, size, "the file ends before the archive");
	if (rc)
		return rc;
	zeros = S_first_nonzero(bytes, n);
	if (zeros >= TAR_BLOCK || zeros == n) {
		if (n == TAR_END && zeros == n)
			return 1;
		return S_damaged(f, head, "the archive does not end with two "
				 "blocks of zeros and the file with them");
	}
	rc = tar_head_parse(bytes, n, head, &got, f);
	if (rc == 0)
		rc = S_check_padding(fd, size, &got, f);
	if (rc == 0)
		*m = got;
	return rc;
}

int
tar_begins(const unsigned char *bytes, size_t n)
{
	static const char sqlite[] = "SQLite format 3";
	size_t pax = sizeof(PAX_NAME);

	if (n >= sizeof(sqlite) && memcmp(bytes, sqlite, sizeof(sqlite)) == 0)
		return 1;
	if (n >= AT_MAGIC + 5 && memcmp(bytes + AT_MAGIC, "ustar", 5) == 0)
		return 0;
	return !(n > 0 && memcmp(bytes, PAX_NAME, n < pax ? n : pax) == 0);
}
