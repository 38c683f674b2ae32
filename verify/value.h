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

/* How the values of one connection are read. */
struct value_reader {
	enum value_encoding encoding;	/* of the database */
	struct buf swap;		/* UTF-16 of the other byte order */
};

int
value_reader_init(struct value_reader *v, sqlite3 *db, struct fault *f);
void
value_reader_free(struct value_reader *v);

/*
 * One cell at the end of b. Text is read in the database's own encoding, so
 * that nothing is lost; a blob is its CELL_BLOBSUM unless raw_blob.
 * *type: SQLITE_NULL and so on.
 */
int
value_put(struct value_reader *v, struct buf *b, sqlite3_stmt *s, int col,
	  bool raw_blob, int *type, struct fault *f);

#endif
