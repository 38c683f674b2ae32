/*
 * integrity.c - SQLite's own checks, of all that it can check
 */
#include "verify/integrity.h"

#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "reply/wire.h"
#include "verify/sql.h"
#include "verify/standin.h"
#include "verify/unknown.h"

#define INTEGRITY_MESSAGES "100"
#define INTEGRITY_TEXT_MAX (1u << 20)	/* bytes of them */
#define INTEGRITY_SKIPS_MAX 1000u	/* named one by one */

/* What the pragma says of b-trees and of the freelist comes first. */
#define INTEGRITY_STRUCTURE "*** in database "

struct check {
	struct integrity *r;
	struct state *state;
	sqlite3 *db;
};

void
integrity_init(struct integrity *r)
{
	*r = (struct integrity){
		.text = BUF_INIT(INTEGRITY_TEXT_MAX),
		.skip = BUF_INIT(64u << 20),
	};
}

void
integrity_free(struct integrity *r)
{
	buf_free(&r->text);
	buf_free(&r->skip);
}

static int
S_skip(struct integrity *r, const char *what, const char *table,
       const char *why, struct fault *f)
{
	int rc = 0;

	r->partly = true;
	if (r->skips >= INTEGRITY_SKIPS_MAX) {
		r->unnamed++;
		return 0;
	}
	r->skips++;
	if (table)
		rc = buf_printf(&r->skip, f, "%s of table %s", what, table);
	else
		rc = buf_printf(&r->skip, f, "%s", what);
	if (rc == 0)
		rc = buf_u8(&r->skip, 0, f);
	if (rc == 0)
		rc = buf_printf(&r->skip, f, "%s", why);
	return rc ? rc : buf_u8(&r->skip, 0, f);
}

int
integrity_skips(const struct integrity *r,
		int (*skip)(void *arg, const char *what, const char *why,
			    struct fault *f),
		void *arg, struct fault *f)
{
	const char *at = (const char *)r->skip.data;
	int rc = 0;

	for (uint64_t i = 0; rc == 0 && i < r->skips; i++) {
		const char *why = at + strlen(at) + 1;

		rc = skip(arg, at, why, f);
		at = why + strlen(why) + 1;
	}
	if (rc == 0 && r->unnamed > 0)
		rc = skip(arg, "integrity or foreign keys of further tables",
			  "too many to name", f);
	return rc;
}

/*
 * 0, or 1: the messages have become long enough. They quote names, which the
 * evidence chose; without the rest of them the answer is the same.
 */
static int
S_message(struct integrity *r, const char *text, struct fault *f)
{
	struct buf *b = &r->text;
	size_t n = strlen(text), used = b->len + sizeof("\n"), room;
	int rc = 0;

	r->damaged = true;
	if (used >= INTEGRITY_TEXT_MAX)
		return 1;
	room = INTEGRITY_TEXT_MAX - used;
	if (b->len)
		rc = buf_u8(b, '\n', f);
	if (!rc)
		rc = buf_append(b, text, n < room ? n : room, f);
	return rc ? rc : n > room;
}

/* 0, or 1 and *why: SQLite can't go on. What it found stays found. */
static int
S_end(struct check *c, int step, char **why, struct fault *f)
{
	int rc;

	switch (step & 0xff) {
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_CORRUPT:
		rc = S_message(c->r, sqlite3_errmsg(c->db), f);
		return rc < 0 ? rc : 0;
	case SQLITE_ERROR:
		rc = sql_shown(sqlite3_errmsg(c->db), why, f);
		return rc ? rc : 1;
	default:
		return state_sql_fault(c->db, step, "check the integrity", f);
	}
}

/* Of one table, or of all where it is NULL; the result as of S_end. */
static int
S_pragma(struct check *c, const char *table, char **why, struct fault *f)
{
	OWN_SQL(text);
	OWN_STMT(s);
	int rc = 0, step;

	text = table ? sqlite3_mprintf("PRAGMA integrity_check(\"%w\")", table)
		: sqlite3_mprintf("PRAGMA integrity_check("
				  INTEGRITY_MESSAGES ")");
	if (!text)
		return fault_set(f, FAULT_TROUBLE, "out of memory: SQL");
	step = sqlite3_prepare_v2(c->db, text, -1, &s, NULL);
	while (!rc && (step == SQLITE_OK || step == SQLITE_ROW)) {
		const char *says = NULL;

		if (step == SQLITE_ROW)
			says = (const char *)sqlite3_column_text(s, 0);
		if (says && strcmp(says, "ok") != 0)
			rc = S_message(c->r, says, f);
		if (!rc)
			step = sqlite3_step(s);
	}
	if (rc)
		return rc < 0 ? rc : 0;
	return S_end(c, step, why, f);
}

/*
 * The structure alone, on a connection that has stand-ins for what is not
 * there: a b-tree is followed without them, and what they would have made of
 * its content is thrown away.
 */
static int
S_structure(struct check *c, struct fault *f)
{
	struct check own = { .r = c->r, .state = c->state };
	struct unknown *u = NULL;
	sqlite3_stmt *s = NULL;
	OWN_MEM(char, why);
	int rc = state_connect(c->state, &own.db, f), step;

	if (rc == 0)
		rc = unknown_watch(&u, own.db, f);
	if (rc == 0) {
		step = standin_prepare(own.db, "PRAGMA integrity_check("
				       INTEGRITY_MESSAGES ")", &s);
		if (step != SQLITE_OK)
			rc = S_end(&own, step, &why, f);
		if (rc == 1)
			rc = S_skip(c->r, "structure", NULL, why, f);
	}
	if (rc == 0 && s) {
		const char *says = NULL;

		step = sqlite3_step(s);
		if (step == SQLITE_ROW)
			says = (const char *)sqlite3_column_text(s, 0);
		if (says && !strncmp(says, INTEGRITY_STRUCTURE,
				     strlen(INTEGRITY_STRUCTURE)))
			rc = S_message(c->r, says, f);
		else if ((step & 0xff) != SQLITE_ERROR)
			rc = S_end(&own, step, &why, f);
	}
	(void)sqlite3_finalize(s);
	(void)sqlite3_close(own.db);
	unknown_free(u);
	return rc < 0 ? rc : 0;
}

/* Calls visit for each table with a b-tree of its own. */
static int
S_each_table(struct check *c,
	     int (*visit)(struct check *c, const char *table, struct fault *f),
	     struct fault *f)
{
	OWN_STMT(s);
	int rc = sql_prepare_text(c->db, &s, "SELECT name FROM"
				  " main.sqlite_master WHERE type = 'table'"
				  " AND rootpage > 0", f);

	while (rc == 0 && (rc = sql_step(s, f)) == 0) {
		OWN_MEM(char, name);

		rc = sql_copy_text(s, 0, &name, f);
		if (!rc)
			rc = visit(c, name, f);
	}
	return rc < 0 ? rc : 0;
}

static int
S_table(struct check *c, const char *table, struct fault *f)
{
	OWN_MEM(char, why);
	int rc = S_pragma(c, table, &why, f);

	return rc == 1 ? S_skip(c->r, "integrity", table, why, f) : rc;
}

static int
S_integrity(struct check *c, struct fault *f)
{
	OWN_MEM(char, why);
	int rc = S_pragma(c, NULL, &why, f);

	if (rc != 1)
		return rc;
	/* Tables that were looked at before it broke off are so again. */
	buf_reset(&c->r->text);
	c->r->damaged = false;
	rc = S_structure(c, f);
	return rc ? rc : S_each_table(c, S_table, f);
}

/* 0; 1 and *why: SQLite can't. */
static int
S_violations(struct check *c, const char *table, char **why, struct fault *f)
{
	OWN_STMT(s);
	int64_t n = 0;
	int rc;

	rc = table ? sql_prepare(c->db, &s, f,
				 "PRAGMA foreign_key_check(\"%w\")", table)
		   : sql_prepare_text(c->db, &s, "PRAGMA foreign_key_check",
				      f);
	while (rc == 0 && (rc = sql_step(s, f)) == 0)
		n++;
	if (rc < 0)
		return rc;
	/* The end of the rows is 1 too, and then SQLite has no complaint. */
	if ((sqlite3_errcode(c->db) & 0xff) == SQLITE_ERROR) {
		rc = sql_shown(sqlite3_errmsg(c->db), why, f);
		return rc ? rc : 1;
	}
	c->r->foreign_keys += n;
	return 0;
}

static int
S_violations_of(struct check *c, const char *table, struct fault *f)
{
	OWN_MEM(char, why);
	int rc = S_violations(c, table, &why, f);

	return rc == 1 ? S_skip(c->r, "foreign keys", table, why, f) : rc;
}

static int
S_foreign_keys(struct check *c, struct fault *f)
{
	OWN_MEM(char, why);
	int rc = S_violations(c, NULL, &why, f);

	return rc == 1 ? S_each_table(c, S_violations_of, f) : rc;
}

static int
S_end_text(struct integrity *r, bool whole, struct fault *f)
{
	const char *sound = whole ? "ok" : WIRE_OK_PARTLY;
	int rc = 0;

	if (!r->damaged)
		rc = buf_append(&r->text, sound, strlen(sound), f);
	return rc ? rc : buf_u8(&r->text, 0, f);
}

int
integrity_run(struct integrity *r, struct state *s, struct fault *f)
{
	struct check c = { .r = r, .state = s };
	bool whole;
	int rc = state_connect(s, &c.db, f);

	if (rc == 0)
		rc = S_integrity(&c, f);
	whole = !r->partly;
	if (rc == 0)
		rc = S_foreign_keys(&c, f);
	/* Corruption that the messages name already is no fault of its own. */
	if (rc == -FAULT_DAMAGED && r->damaged) {
		rc = 0;
		r->foreign_keys = 0;
	}
	if (rc == 0)
		rc = S_end_text(r, whole, f);
	(void)sqlite3_close(c.db);
	return rc;
}
