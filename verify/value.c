/*
 * value.c - a column of a SQLite row as a cell
 */
#include "verify/value.h"

#include <endian.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cell.h"
#include "recover/state.h"
#include "reply/wire.h"
#include "verify/order.h"
#include "verify/sql.h"

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define VALUE_MACHINE VALUE_UTF16LE
#else
#define VALUE_MACHINE VALUE_UTF16BE
#endif

int
value_reader_init(struct value_reader *v, sqlite3 *db, struct fault *f)
{
	OWN_STMT(s);
	const char *name;
	int rc = sql_prepare_text(db, &s, "PRAGMA encoding", f);

	if (rc == 0)
		rc = sql_step(s, f);
	if (rc < 0)
		return rc;
	name = rc == 0 ? (const char *)sqlite3_column_text(s, 0) : NULL;
	if (!name)
		return fault_set(f, FAULT_TROUBLE, "no encoding is known");
	v->unknown = NULL;
	v->encoding = VALUE_UTF8;
	if (strcmp(name, "UTF-16le") == 0)
		v->encoding = VALUE_UTF16LE;
	if (strcmp(name, "UTF-16be") == 0)
		v->encoding = VALUE_UTF16BE;
	buf_init(&v->swap, WIRE_CELL_MAX);
	return 0;
}

void
value_reader_free(struct value_reader *v)
{
	buf_free(&v->swap);
}

/* A blob of this size is hashed at once rather than carried along. */
#define VALUE_BIG_BLOB 4096

/* The other byte order of the n bytes, borrowed until the next call. */
static int
S_swap(struct value_reader *v, const unsigned char *bytes, size_t n,
       const unsigned char **swapped, struct fault *f)
{
	unsigned char *at;
	int rc;

	buf_reset(&v->swap);
	rc = buf_extend(&v->swap, n, &at, f);
	if (rc)
		return rc;
	memcpy(at, bytes, n);
	for (size_t i = 0; i + 1 < n; i += 2) {
		at[i] = bytes[i + 1];
		at[i + 1] = bytes[i];
	}
	*swapped = at;
	return 0;
}

/*
 * sqlite3_value_blob gives text as it is stored, in whatever encoding, and
 * value_bytes16 counts UTF-16 without converting it. value_text would turn
 * lone surrogates into other characters. Half a unit at the end is no text:
 * the whole is kept as bytes.
 */
static int
S_put_text16(struct value_reader *v, struct buf *b, sqlite3_value *value,
	     struct fault *f)
{
	const unsigned char *bytes = sqlite3_value_blob(value);
	size_t n = (size_t)sqlite3_value_bytes16(value);
	enum value_encoding wanted = n % 2 ? VALUE_UTF16LE : VALUE_MACHINE;
	struct cell odd = { .tag = CELL_TEXT16 };
	int rc;

	if (!bytes && n > 0)
		return fault_set(f, FAULT_TROUBLE, "out of memory: text");
	if (n > 0 && v->encoding != wanted) {
		rc = S_swap(v, bytes, n, &bytes, f);
		if (rc)
			return rc;
	}
	if (n % 2 == 0)
		return cell_put_utf16(b, bytes, n, f);
	odd.bytes = bytes;
	odd.len = n;
	return cell_put(b, &odd, f);
}

static inline int
S_room(struct buf *b, size_t n, unsigned char **at, struct fault *f)
{
	if (b->room - b->len < n)
		return buf_extend(b, n, at, f);
	*at = b->data + b->len;
	b->len += n;
	return 0;
}

static inline int
S_put_word(struct buf *b, enum cell_tag tag, uint64_t word, struct fault *f)
{
	unsigned char *at;
	int rc = S_room(b, 9, &at, f);

	if (rc)
		return rc;
	at[0] = (unsigned char)tag;
	bytes_put_le64(at + 1, word);
	return 0;
}

static inline int
S_put_bytes(struct buf *b, enum cell_tag tag, const void *bytes, size_t n,
	    struct fault *f)
{
	unsigned char *at;
	int rc = S_room(b, 9 + n, &at, f);

	if (rc)
		return rc;
	at[0] = (unsigned char)tag;
	bytes_put_le64(at + 1, n);
	if (n > 0)
		memcpy(at + 9, bytes, n);
	return 0;
}

static int
S_put_text8(struct buf *b, sqlite3_value *value, enum value_use use,
	    struct fault *f)
{
	const void *bytes = sqlite3_value_text(value);
	int n = sqlite3_value_bytes(value);

	if (!bytes)
		return fault_set(f, FAULT_TROUBLE, "out of memory: text");
	if (use == VALUE_FINAL || use == VALUE_BYTES)
		return cell_put_utf8(b, bytes, (size_t)n, f);
	return S_put_bytes(b, CELL_TEXT, bytes, (size_t)n, f);
}

static int
S_put_blob(struct buf *b, sqlite3_value *value, enum value_use use,
	   struct fault *f)
{
	const void *bytes = sqlite3_value_blob(value);
	int n = sqlite3_value_bytes(value);

	if (!bytes && n > 0)
		return fault_set(f, FAULT_TROUBLE, "out of memory: a blob");
	if (use == VALUE_SORT || use == VALUE_BYTES ||
	    (use == VALUE_COMPARE && n < VALUE_BIG_BLOB))
		return S_put_bytes(b, CELL_BLOB, bytes, (size_t)n, f);
	return cell_put_blobsum(b, bytes ? bytes : "", (size_t)n, f);
}

/*
 * sqlite3_column_value is what a connection that one thread uses may read
 * without the mutex that each sqlite3_column_int64 takes again.
 */
int
value_put(struct value_reader *v, struct buf *b, sqlite3_stmt *s, int col,
	  enum value_use use, int *type, struct fault *f)
{
	sqlite3_value *value = sqlite3_column_value(s, col);
	uint64_t bits;
	double real;

	*type = sqlite3_value_type(value);
	switch (*type) {
	case SQLITE_INTEGER:
		return S_put_word(b, CELL_INT,
				  (uint64_t)sqlite3_value_int64(value), f);
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		memcpy(&bits, &real, sizeof(bits));
		return S_put_word(b, CELL_REAL, bits, f);
	case SQLITE_TEXT:
		if (v->encoding == VALUE_UTF8)
			return S_put_text8(b, value, use, f);
		return S_put_text16(v, b, value, f);
	case SQLITE_BLOB:
		return S_put_blob(b, value, use, f);
	default:
		return cell_put_null(b, f);
	}
}

int
value_finish(struct buf *b, const unsigned char *cells, size_t n,
	     struct fault *f)
{
	const unsigned char *at = cells, *from;
	struct cell c;
	int rc = 0;

	while (rc == 0 && at < cells + n) {
		from = at;
		order_next(&at, &c);
		if (c.tag == CELL_BLOB)
			rc = cell_put_blobsum(b, c.bytes, c.len, f);
		else if (c.tag == CELL_TEXT)
			rc = cell_put_utf8(b, c.bytes, c.len, f);
		else
			rc = buf_append(b, from, (size_t)(at - from), f);
	}
	return rc;
}
