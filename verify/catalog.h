/*
 * catalog.h - settings, objects and tables of a recovered state
 *
 * Lifecycle: catalog_load; catalog_table_load for one table at a time;
 * catalog_table_free; catalog_free.
 *
 * Objects are the rows of sqlite_schema that have SQL text: an index that
 * SQLite derives from a constraint has none. A table is an object whose text
 * begins with CREATE TABLE, whatever its type column claims, so that no
 * table can hide behind a forged row. Names need not be UTF-8. Virtual tables are text only: their
 * content lies in shadow tables, which are ordinary, and their modules are
 * never run.
 */
#ifndef VERIFY_CATALOG_H
#define VERIFY_CATALOG_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fault.h"
#include "reply/renames.h"
#include "verify/value.h"

enum catalog_setting {
	CATALOG_USER_VERSION,
	CATALOG_APPLICATION_ID,
	CATALOG_AUTO_VACUUM,
	CATALOG_LOGICAL,	/* those before count as content */
	CATALOG_PAGE_SIZE = CATALOG_LOGICAL,
	CATALOG_SETTINGS
};

/* "user_version" ...: the PRAGMA's name. */
const char *
catalog_setting_name(enum catalog_setting i);

struct catalog_object {
	char *type, *name, *table, *sql;	/* as SQLite takes them: up
						   to a NUL, of any bytes */
	const char *pair;		/* its name in AFTER (borrowed) */
	bool displaced;			/* another object took its name */
	struct buf cells;		/* type, name, tbl_name, sql */
	size_t named;			/* bytes of cells before sql's */
	bool plain;			/* cells are those four texts */
	bool is_table;
	bool is_stat;			/* belongs to a sqlite_stat table */
};

struct catalog {
	sqlite3 *db;			/* borrowed */
	struct value_reader values;
	struct unknown *unknown;	/* owned */
	int64_t setting[CATALOG_SETTINGS];
	struct catalog_object *object;	/* by name, then type, then cells */
	size_t nobject;
};

int
catalog_load(struct catalog *c, sqlite3 *db, struct fault *f);
void
catalog_free(struct catalog *c);

/*
 * Gives the tables of BEFORE that r renames their names in AFTER, where
 * BEFORE has the old name and AFTER the new one. r may be NULL. The names
 * are borrowed from r.
 */
void
catalog_rename(struct catalog *before, const struct catalog *after,
	       const struct renames *r);

/* By the name in AFTER as SQL compares names, then by type. */
int
catalog_order(const struct catalog_object *a, const struct catalog_object *b);

enum catalog_hidden {
	CATALOG_PLAIN = 0,
	CATALOG_HIDDEN,
	CATALOG_VIRTUAL,	/* generated when read */
	CATALOG_STORED,		/* generated when written */
};

struct catalog_column {
	char *name, *type;
	char *dflt;			/* text, or NULL: none */
	char *why;			/* NULL, or why it can't be read */
	bool notnull;
	enum catalog_hidden hidden;
};

struct catalog_key {
	uint32_t column;
	bool desc;
};

struct catalog_table {
	char *name;
	bool without_rowid, strict;
	bool binary_key;		/* all key columns sort by bytes */
	bool integer_key;		/* the key is the rowid */
	const char *rowid;		/* a name that reaches it (never
					   quoted), or NULL */
	struct catalog_column *column;
	uint32_t ncolumn;
	struct catalog_key *key;	/* the declared PRIMARY KEY */
	uint32_t nkey;
};

/* 0; 1: SQLite does not know the table. */
int
catalog_table_load(struct catalog_table *t, struct catalog *c,
		   const struct catalog_object *o, struct fault *f);
void
catalog_table_free(struct catalog_table *t);

/* The columns whose declared key can be NULL hold one: 1; none: 0. */
int
catalog_table_null_key(const struct catalog_table *t, struct catalog *c,
		       bool *null, struct fault *f);

#endif
