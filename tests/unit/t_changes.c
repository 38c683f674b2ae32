/*
 * t_changes.c - a delta that does not add up is not believed
 *
 * The helper is played here: the frames of each case come from memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/ask_run.h"
#include "cli/changes.h"
#include "cli/changes_json.h"
#include "cli/changes_text.h"

/* What stands in for the parts behind ask_run. */

static struct wire S_said;	/* writes the frames to a memory file */
static struct wire_reader S_heard;

int
warden_start(struct warden **w, const int *evidence, size_t n,
	     const struct ask *ask, const char *text,
	     const struct warden_limits *limits, struct fault *f)
{
	(void)w, (void)evidence, (void)n, (void)ask, (void)text;
	(void)limits, (void)f;
	return 0;
}

int
warden_next(struct warden *w, struct wire_frame *fr, struct fault *f)
{
	int64_t count;
	int rc = wire_read(&S_heard, fr, f);

	(void)w;
	if (rc || fr->type != WIRE_END)
		return rc;
	assert_int_equal(wire_get_int(fr, &count, f), 0);
	return 1;
}

const struct warden_seen *
warden_seen(const struct warden *w)
{
	(void)w;
	return NULL;
}

void
warden_free(struct warden *w)
{
	(void)w;
}

int
evidence_open(const char *path, const struct evidence_options *o,
	      struct evidence **e, struct fault *f)
{
	(void)path, (void)o, (void)e, (void)f;
	return 0;
}

void
evidence_side(const struct evidence *e, int slot, int *fds, size_t *n,
	      struct ask_side *side)
{
	(void)e, (void)slot, (void)fds, (void)side;
	*n = 0;
}

const char *
evidence_id(const struct evidence *e)
{
	(void)e;
	return NULL;
}

const struct notes *
evidence_notes(const struct evidence *e)
{
	(void)e;
	return NULL;
}

int
evidence_still(const struct evidence *e, struct fault *f)
{
	(void)e, (void)f;
	return 0;
}

void
evidence_free(struct evidence *e)
{
	(void)e;
}

/* The helper's part of a case */

static struct fault S_f;

static void
S_begin(enum wire_type type)
{
	assert_int_equal(wire_begin(&S_said, type, &S_f), 0);
}

static void
S_int(int64_t v)
{
	assert_int_equal(cell_put_int(&S_said.buf, v, &S_f), 0);
}

static void
S_text(const char *text)
{
	if (text)
		assert_int_equal(cell_put_text(&S_said.buf, text, &S_f), 0);
	else
		assert_int_equal(cell_put_null(&S_said.buf, &S_f), 0);
}

static void
S_end(void)
{
	assert_int_equal(wire_end(&S_said, &S_f), 0);
}

static void
S_facts(void)
{
	static const char *const words[] = { "encoding", "view",
					     "journal.state" };
	static const char *const numbers[] = {
		"page_size", "page_count", "in_memory", "wal.present",
		"wal.frames", "wal.committed_frames", "wal.commits",
		"wal.uncommitted_frames", "wal.stale_frames", "wal.damaged",
		"views.recovery", "views.live", "views.agree",
	};

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			assert_int_equal(wire_fact_text(&S_said, side,
							words[i], "x", &S_f),
					 0);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]);
		     i++)
			assert_int_equal(wire_fact_int(&S_said, side,
						       numbers[i], 1, &S_f),
					 0);
	}
}

/* Table t: key id; before id, v; after id, v, w. */
static void
S_table(enum wire_key kind)
{
	S_begin(WIRE_TABLE);
	S_text("t");
	S_int(kind);
	S_int(kind == WIRE_KEY_NONE ? 0 : 1);
	if (kind != WIRE_KEY_NONE)
		S_text("id");
	S_int(2);
	S_text("id");
	S_text("v");
	S_int(3);
	S_text("ID");
	S_text("v");
	S_text("w");
	S_int(1);
	S_text(NULL);
	S_end();
}

static void
S_changed_row(int64_t id, const char *before, const char *after)
{
	S_begin(WIRE_ROW);
	S_int(WIRE_CHANGED);
	S_int(id);
	S_int(id);
	S_text(before);
	S_int(id);
	S_text(after);
	S_text(NULL);
	S_end();
}

static void
S_added_row(int64_t id)
{
	S_begin(WIRE_ROW);
	S_int(WIRE_ADDED);
	S_int(id);
	S_int(id);
	S_text("new");
	S_text(NULL);
	S_end();
}

static void
S_table_end(const char *name, int64_t added, int64_t removed, int64_t changed,
	    int64_t before, int64_t after)
{
	S_begin(WIRE_TABLE_END);
	S_text(name);
	S_int(added);
	S_int(removed);
	S_int(changed);
	S_int(before);
	S_int(after);
	S_end();
}

static void
S_verdict(enum wire_verdict v)
{
	S_begin(WIRE_END);
	S_int(0);
	S_int(v);
	S_end();
}

static void
S_setting(const char *name, int64_t before, int64_t after)
{
	S_begin(WIRE_SETTING);
	S_text(name);
	S_int(before);
	S_int(after);
	S_end();
}

static void
S_bytes(const char *bytes, size_t n)
{
	assert_int_equal(cell_put_utf8(&S_said.buf, bytes, n, &S_f), 0);
}

/* A view "AS" of which n cells are stored, the SQL with so many bytes more. */
static void
S_view(enum wire_change change, int64_t n, size_t before, size_t after)
{
	static const char sql[] = "AS\0one\0";

	S_begin(WIRE_OBJECT);
	S_int(change);
	S_text("view");
	S_bytes("w\xff", 2);
	S_bytes("w\xff", 2);
	S_text(change == WIRE_ADDED ? NULL : "AS");
	S_text(change == WIRE_REMOVED ? NULL : "AS");
	S_int(0);
	for (int i = 0; i < 3; i++)
		S_text(NULL);
	S_int(n);
	for (int64_t i = 0; i < n; i++) {
		if (i % WIRE_STORED == 0)
			S_text("view");
		else if (i % WIRE_STORED < 3)
			S_bytes("w\xff", 2);
		else
			S_bytes(sql, 2 + (i == 3 ? before : after));
	}
	S_end();
}

static int
S_setup(void **state)
{
	(void)state;
	wire_init(&S_said, memfd_create("frames", MFD_CLOEXEC), UINT64_MAX);
	S_f = (struct fault)FAULT_INIT;
	S_facts();
	return S_said.fd < 0;
}

static int
S_teardown(void **state)
{
	(void)state;
	wire_free(&S_said);
	(void)close(S_said.fd);
	return 0;
}

/* Reads what was said, as text; the caller frees it. */
static int
S_read(struct changes *c, char **text, struct fault *f)
{
	size_t len;
	FILE *out = open_memstream(text, &len);
	struct changes_text to;
	struct changes_sink sink;
	int rc;
	OWN_ASK(r);

	assert_int_equal(wire_flush(&S_said, f), 0);
	assert_int_equal(lseek(S_said.fd, 0, SEEK_SET), 0);
	wire_reader_init(&S_heard, S_said.fd, UINT64_MAX);
	assert_int_equal(changes_text_open(&to, out, false, f), 0);
	sink = changes_text_sink(&to);
	r.sides = 2;
	r.ask.op = ASK_DIFF;
	rc = changes_read(&r, NULL, &sink, c, f);
	if (!rc)
		rc = changes_text_end(&to, c, f);
	changes_text_free(&to);
	wire_reader_free(&S_heard);
	assert_int_equal(fclose(out), 0);
	return rc;
}

static void
S_disbelieve(const char *word)
{
	struct fault f = FAULT_INIT;
	char *text = NULL;
	OWN_CHANGES(c);

	assert_int_equal(S_read(&c, &text, &f), -FAULT_SANDBOX);
	assert_non_null(strstr(f.text, word));
	free(text);
}

/* Forgets what was said, facts as well. */
static void
S_again(void)
{
	buf_reset(&S_said.buf);
	assert_int_equal(ftruncate(S_said.fd, 0), 0);
	assert_int_equal(lseek(S_said.fd, 0, SEEK_SET), 0);
}

/* The cases */

static void
an_honest_delta_is_shown_cell_by_cell(void **state)
{
	struct fault f = FAULT_INIT;
	char *text = NULL;
	OWN_CHANGES(c);

	(void)state;
	S_setting("user_version", 1, 2);
	S_setting("page_size", 512, 4096);
	S_table(WIRE_KEY_DECLARED);
	S_changed_row(7, "a", "b");
	S_added_row(8);
	S_table_end("t", 1, 0, 1, 5, 6);
	S_verdict(WIRE_NO);
	assert_int_equal(S_read(&c, &text, &f), 0);
	assert_string_equal(text,
		"setting user_version 1 \xe2\x86\x92 2\n"
		"setting page_size 512 \xe2\x86\x92 4096"
		" (not part of the content)\n"
		"table t: 1 added, 0 removed, 1 changed"
		" (5 \xe2\x86\x92 6 rows)\n"
		"~ t id=7: v 'a' \xe2\x86\x92 'b',"
		" w (no column) \xe2\x86\x92 NULL\n"
		"+ t id=8: v='new', w=NULL\n"
		"different: settings 1, schema objects 0, rows 2\n");
	assert_false(c.equal);
	free(text);
}

static void
page_size_alone_leaves_two_states_equal(void **state)
{
	struct fault f = FAULT_INIT;
	char *text = NULL;
	OWN_CHANGES(c);

	(void)state;
	S_setting("page_size", 512, 4096);
	S_table(WIRE_KEY_DECLARED);
	S_table_end("t", 0, 0, 0, 5, 5);
	S_verdict(WIRE_YES);
	assert_int_equal(S_read(&c, &text, &f), 0);
	assert_true(c.equal);
	free(text);
}

static void
an_object_is_shown_as_it_is_stored_where_texts_are_not_all(void **state)
{
	struct fault f = FAULT_INIT;
	char *text = NULL;
	OWN_CHANGES(c);

	(void)state;
	S_view(WIRE_CHANGED, 2 * WIRE_STORED, 0, 4);
	S_view(WIRE_REMOVED, 0, 0, 0);
	S_verdict(WIRE_NO);
	assert_int_equal(S_read(&c, &text, &f), 0);
	assert_string_equal(text,
		"schema ~ view w\\xff (its text only)\n"
		"  - AS\n"
		"  + AS\n"
		"  - stored as type='view' name='w\\xff' tbl_name='w\\xff'"
		" sql='AS'\n"
		"  + stored as type='view' name='w\\xff' tbl_name='w\\xff'"
		" sql='AS\\x00one'\n"
		"schema - view w\\xff\n"
		"  - AS\n"
		"different: settings 0, schema objects 2, rows 0\n");
	free(text);
}

static void
a_side_that_is_not_there_and_has_cells_is_a_lie(void **state)
{
	static const struct { enum wire_change change; int64_t n; } lie[] = {
		{ WIRE_ADDED, 2 * WIRE_STORED },
		{ WIRE_REMOVED, 2 * WIRE_STORED },
		{ WIRE_CHANGED, WIRE_STORED },
		{ WIRE_CHANGED, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		S_view(lie[i].change, lie[i].n, 1, 2);
		S_disbelieve("as it is stored");
		S_again();
		S_facts();
	}
}

static void
counts_that_are_not_those_of_the_rows_are_a_lie(void **state)
{
	(void)state;
	S_table(WIRE_KEY_DECLARED);
	S_changed_row(7, "a", "b");
	S_table_end("t", 0, 0, 2, 5, 5);
	S_verdict(WIRE_NO);
	S_disbelieve("add up");
}

static void
rows_that_do_not_add_up_are_a_lie(void **state)
{
	(void)state;
	S_table(WIRE_KEY_DECLARED);
	S_added_row(8);
	S_table_end("t", 1, 0, 0, 5, 5);
	S_verdict(WIRE_NO);
	S_disbelieve("add up");
}

static void
equal_after_a_difference_is_a_lie(void **state)
{
	(void)state;
	S_setting("user_version", 1, 2);
	S_verdict(WIRE_YES);
	S_disbelieve("verdict");
}

static void
different_without_a_difference_is_a_lie(void **state)
{
	(void)state;
	S_setting("encoding", 1, 2);
	S_verdict(WIRE_NO);
	S_disbelieve("verdict");
}

static void
a_table_that_never_ends_is_a_lie(void **state)
{
	(void)state;
	S_table(WIRE_KEY_DECLARED);
	S_verdict(WIRE_YES);
	S_disbelieve("verdict");
}

static void
a_row_outside_its_table_is_a_lie(void **state)
{
	(void)state;
	S_added_row(8);
	S_verdict(WIRE_NO);
	S_disbelieve("place");
}

static void
another_tables_end_is_a_lie(void **state)
{
	(void)state;
	S_table(WIRE_KEY_DECLARED);
	S_table_end("u", 0, 0, 0, 5, 5);
	S_verdict(WIRE_YES);
	S_disbelieve("add up");
}

static void
a_row_that_is_too_wide_or_too_narrow_is_a_lie(void **state)
{
	(void)state;
	S_table(WIRE_KEY_DECLARED);
	S_begin(WIRE_ROW);
	S_int(WIRE_ADDED);
	for (int i = 0; i < 5; i++)
		S_int(i);
	S_end();
	S_disbelieve("malformed");

	S_again();
	S_table(WIRE_KEY_DECLARED);
	S_begin(WIRE_ROW);
	S_int(WIRE_ADDED);
	for (int i = 0; i < 3; i++)
		S_int(i);
	S_end();
	S_disbelieve("malformed");
}

/* In a multiset there is no key that could tie two rows together. */
static void
a_changed_row_of_a_multiset_is_a_lie(void **state)
{
	(void)state;
	S_table(WIRE_KEY_NONE);
	S_begin(WIRE_ROW);
	S_int(WIRE_CHANGED);
	S_int(1);
	S_text("a");
	S_int(1);
	S_text("b");
	S_text(NULL);
	S_end();
	S_disbelieve("without a change");
}

/* All columns on both sides, all cells the same. */
static void
a_changed_row_without_a_change_is_a_lie(void **state)
{
	(void)state;
	S_begin(WIRE_TABLE);
	S_text("t");
	S_int(WIRE_KEY_ROWID);
	S_int(1);
	S_text("rowid");
	for (int side = 0; side < 2; side++) {
		S_int(1);
		S_text("v");
	}
	S_int(0);
	S_end();
	S_begin(WIRE_ROW);
	S_int(WIRE_CHANGED);
	S_int(1);
	S_text("a");
	S_text("a");
	S_end();
	S_disbelieve("without a change");
}

static void
missing_and_repeated_facts_are_a_lie(void **state)
{
	(void)state;
	assert_int_equal(wire_fact_int(&S_said, 1, "page_size", 1, &S_f), 0);
	S_verdict(WIRE_YES);
	S_disbelieve("page_size came twice");

	S_again();
	S_verdict(WIRE_YES);
	S_disbelieve("did not come");

	S_again();
	assert_int_equal(wire_fact_int(&S_said, 2, "page_size", 1, &S_f), 0);
	S_disbelieve("no side");

	S_again();
	assert_int_equal(wire_fact_int(&S_said, 0, "page_size", -1, &S_f), 0);
	S_disbelieve("negative");
}

static void
names_without_end_hit_a_cap(void **state)
{
	struct fault f = FAULT_INIT;
	char *long_name = malloc((16u << 20) + 1), *text = NULL;
	OWN_CHANGES(c);

	(void)state;
	assert_non_null(long_name);
	memset(long_name, 'x', 16u << 20);
	long_name[16u << 20] = '\0';
	for (int i = 0; i < 3; i++)
		assert_int_equal(wire_skip(&S_said, long_name, "y", &S_f), 0);
	S_verdict(WIRE_YES);
	assert_int_equal(S_read(&c, &text, &f), -FAULT_CAP);
	free(long_name);
	free(text);
}

/* More rows than are held back: the counts then follow them. */
static void
a_large_delta_streams_and_is_counted_behind(void **state)
{
	struct fault f = FAULT_INIT;
	char *text = NULL, *counts;
	size_t lines = 0;
	OWN_CHANGES(c);

	(void)state;
	S_table(WIRE_KEY_DECLARED);
	for (int64_t i = 0; i < 60000; i++)
		S_added_row(i);
	S_table_end("t", 60000, 0, 0, 0, 60000);
	S_verdict(WIRE_NO);
	assert_int_equal(S_read(&c, &text, &f), 0);
	for (char *at = text; *at; at = strchr(at, '\n') + 1)
		lines += strncmp(at, "+ t ", 4) == 0;
	assert_int_equal(lines, 60000);
	counts = strstr(text, "table t: 60000 added");
	assert_non_null(counts);
	assert_true(counts > strstr(text, "+ t id=59999:"));
	free(text);
}

int
main(void)
{
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, S_setup, S_teardown)
	const struct CMUnitTest tests[] = {
		CASE(an_honest_delta_is_shown_cell_by_cell),
		CASE(page_size_alone_leaves_two_states_equal),
		CASE(an_object_is_shown_as_it_is_stored_where_texts_are_not_all),
		CASE(a_side_that_is_not_there_and_has_cells_is_a_lie),
		CASE(counts_that_are_not_those_of_the_rows_are_a_lie),
		CASE(rows_that_do_not_add_up_are_a_lie),
		CASE(equal_after_a_difference_is_a_lie),
		CASE(different_without_a_difference_is_a_lie),
		CASE(a_table_that_never_ends_is_a_lie),
		CASE(a_row_outside_its_table_is_a_lie),
		CASE(another_tables_end_is_a_lie),
		CASE(a_row_that_is_too_wide_or_too_narrow_is_a_lie),
		CASE(a_changed_row_of_a_multiset_is_a_lie),
		CASE(a_changed_row_without_a_change_is_a_lie),
		CASE(missing_and_repeated_facts_are_a_lie),
		CASE(names_without_end_hit_a_cap),
		CASE(a_large_delta_streams_and_is_counted_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
