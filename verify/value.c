/*
 * value.c - a column of a SQLite row as a cell
 */
#include "verify/value.h"

#include <endian.h>
#include <string.h>

#include "base/cell.h"
#include "recover/state.h"
#include "reply/wire.h"
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
 * sqlite3_column_blob gives text as it is stored, in whatever encoding, and
 * column_bytes16 counts UTF-16 without converting it. column_text would
 * turn lone surrogates into other characters. Half a unit at the end is no
 * text: the whole is kept as bytes.
 */
static int
S_put_text16(struct value_reader *v, struct buf *b, sqlite3_stmt *s, int col,
	     struct fault *f)
{
	const unsigned char *bytes = sqlite3_column_blob(s, col);
	size_t n = (size_t)sqlite3_column_bytes16(s, col);
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

static int
S_put_text8(struct buf *b, sqlite3_stmt *s, int col, struct fault *f)
{
	const void *bytes = sqlite3_column_text(s, col);
	int n = sqlite3_column_bytes(s, col);

	if (!bytes)
		return fault_set(f, FAULT_TROUBLE, "out of memory: text");
	return cell_put_utf8(b, bytes, (size_t)n, f);
}

static int
S_put_blob(struct buf *b, sqlite3_stmt *s, int col, bool raw, struct fault *f)
{
	const void *bytes = sqlite3_column_blob(s, col);
	int n = sqlite3_column_bytes(s, col);

	if (!bytes && n > 0)
		return fault_set(f, FAULT_TROUBLE, "out of memory: a blob");
	if (!bytes)
		bytes = "";
	return raw ? cell_put_blob(b, bytes, (size_t)n, f)
		   : cell_put_blobsum(b, bytes, (size_t)n, f);
}

int
value_put(struct value_reader *v, struct buf *b, sqlite3_stmt *s, int col,
	  bool raw_blob, int *type, struct fault *f)
{
	*type = sqlite3_column_type(s, col);
	switch (*type) {
	case SQLITE_INTEGER:
		return cell_put_int(b, sqlite3_column_int64(s, col), f);
	case SQLITE_FLOAT:
		return cell_put_real(b, sqlite3_column_double(s, col), f);
	case SQLITE_TEXT:
		if (v->encoding == VALUE_UTF8)
			return S_put_text8(b, s, col, f);
		return S_put_text16(v, b, s, col, f);
	case SQLITE_BLOB:
		return S_put_blob(b, s, col, raw_blob, f);
	default:
		return cell_put_null(b, f);
	}
}
