/*
 * value.h - a column of a SQLite row as a cell
 */
#ifndef VERIFY_VALUE_H
#define VERIFY_VALUE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/fault.h"

enum value_encoding {
	VALUE_UTF8 = 1,
	VALUE_UTF16LE,
	VALUE_UTF16BE,
};

/* What the cells are for. */
enum value_use {
	VALUE_FINAL,	/* as base/cell.h has them, a blob as CELL_BLOBSUM */
	VALUE_COMPARE,	/* equal exactly if the final ones are, cheaper to
			   make: value_finish turns them into final ones */
	VALUE_SORT,	/* as VALUE_COMPARE, and blobs can be ordered */
	VALUE_BYTES,	/* as VALUE_FINAL, but each blob with all its bytes */
};

/* How the values of one connection are read. */
struct value_reader {
	enum value_encoding encoding;	/* of the database */
	struct buf swap;		/* UTF-16 of the other byte order */
	struct unknown *unknown;	/* borrowed, or NULL */
};

int
value_reader_init(struct value_reader *v, sqlite3 *db, struct fault *f);
void
value_reader_free(struct value_reader *v);

/*
 * One cell at the end of b. Text is read in the database's own encoding, so
 * that nothing is lost. The connection is used by one thread at a time.
 * *type: SQLITE_NULL and so on.
 */
int
value_put(struct value_reader *v, struct buf *b, sqlite3_stmt *s, int col,
	  enum value_use use, int *type, struct fault *f);

/* The final cells of a run of n bytes of cells, at the end of b. */
int
value_finish(struct buf *b, const unsigned char *cells, size_t n,
	     struct fault *f);

#endif
