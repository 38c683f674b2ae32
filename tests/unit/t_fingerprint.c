/*
 * t_fingerprint.c - tests of the fingerprint
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/unit/verify_log.h"
#include "verify/fingerprint_run.h"

struct sums {
	unsigned char whole[DIGEST_BYTES], stat[DIGEST_BYTES];
	unsigned char table[DIGEST_BYTES];	/* the last one */
	uint64_t rows;
	char skip[256];
};

static int
S_table(void *arg, const char *name, uint64_t rows,
	const unsigned char fp[DIGEST_BYTES], struct fault *f)
{
	struct sums *s = arg;

	(void)name;
	(void)f;
	memcpy(s->table, fp, DIGEST_BYTES);
	s->rows += rows;
	return 0;
}

static int
S_skip(void *arg, const char *what, const char *why, struct fault *f)
{
	struct sums *s = arg;

	(void)f;
	snprintf(s->skip, sizeof(s->skip), "%s: %s", what, why);
	return 0;
}

static struct sums
S_sums_of(sqlite3 *db, uint64_t memory)
{
	struct sums s = { .rows = 0 };
	const struct fingerprint_sink sink = {
		.arg = &s, .table = S_table, .skip = S_skip,
	};
	struct fault f = FAULT_INIT;

	if (fingerprint_database(db, memory, &sink, s.whole, s.stat, &f))
		fail_msg("%s", f.text);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return s;
}

static struct sums
S_sums(const char *sql)
{
	return S_sums_of(log_db(sql), 1u << 20);
}

static void
S_same(const char *a, const char *b)
{
	struct sums x = S_sums(a), y = S_sums(b);

	assert_memory_equal(x.whole, y.whole, DIGEST_BYTES);
}

static void
S_differ(const char *a, const char *b)
{
	struct sums x = S_sums(a), y = S_sums(b);

	if (memcmp(x.whole, y.whole, DIGEST_BYTES) == 0)
		fail_msg("one fingerprint: %s | %s", a, b);
}

/* The bytes of docs/FORMATS.md, "Fingerprint", put together by hand. */
struct hand {
	unsigned char bytes[4096];
	size_t len;
};

static void
S_raw(struct hand *h, const void *bytes, size_t n)
{
	assert_true(h->len + n <= sizeof(h->bytes));
	memcpy(h->bytes + h->len, bytes, n);
	h->len += n;
}

static void
S_u64(struct hand *h, uint64_t v)
{
	for (int i = 0; i < 8; i++, v >>= 8) {
		unsigned char c = (unsigned char)v;

		S_raw(h, &c, 1);
	}
}

static void
S_item(struct hand *h, char tag, const void *bytes, size_t n)
{
	S_raw(h, &tag, 1);
	S_u64(h, n);
	S_raw(h, bytes, n);
}

static void
S_text(struct hand *h, const char *text)
{
	S_item(h, 't', text, strlen(text));
}

static void
S_int(struct hand *h, int64_t v)
{
	S_raw(h, "i", 1);
	S_u64(h, (uint64_t)v);
}

static void
S_item_of(struct hand *h, char tag, const struct hand *inner)
{
	S_item(h, tag, inner->bytes, inner->len);
}

static void
S_named(struct hand *h, char tag, const char *name)
{
	struct hand in = { .len = 0 };

	S_text(&in, name);
	S_item_of(h, tag, &in);
}

static void
S_setting(struct hand *h, const char *name, int64_t v)
{
	struct hand in = { .len = 0 };

	S_text(&in, name);
	S_int(&in, v);
	S_item_of(h, 'V', &in);
}

static void
S_whole_by_hand(const char *name, const char *sql,
		const unsigned char table[DIGEST_BYTES],
		unsigned char whole[DIGEST_BYTES])
{
	struct hand h = { .len = 0 }, o = { .len = 0 }, t = { .len = 0 };

	S_item(&h, 'F', "holdfast-fingerprint/1", 22);
	S_setting(&h, "user_version", 3);
	S_setting(&h, "application_id", -1);
	S_setting(&h, "auto_vacuum", 0);
	S_text(&o, "table");
	S_text(&o, name);
	S_text(&o, name);
	S_text(&o, sql);
	S_item_of(&h, 'O', &o);
	S_text(&t, name);
	S_item(&t, 'b', table, DIGEST_BYTES);
	S_item_of(&h, 'T', &t);
	digest_of(h.bytes, h.len, whole);
}

static void
the_bytes_are_those_of_the_document(void **state)
{
	struct hand t = { .len = 0 }, row = { .len = 0 };
	unsigned char table[DIGEST_BYTES], whole[DIGEST_BYTES];
	unsigned char sum[2][DIGEST_BYTES], n[8] = { 2 };
	struct sums s;

	(void)state;
	s = S_sums("PRAGMA user_version=3; PRAGMA application_id=-1;"
		   "CREATE TABLE t(id INTEGER PRIMARY KEY, v);"
		   "INSERT INTO t VALUES (7,'x'),(-1,NULL);");
	S_named(&t, 'N', "t");
	S_named(&t, 'C', "id");
	S_named(&t, 'C', "v");
	S_raw(&t, "I", 1);
	S_int(&t, -1);
	S_raw(&t, "n", 1);
	S_int(&t, 7);
	S_text(&t, "x");
	S_item(&t, 'E', n, 8);
	digest_of(t.bytes, t.len, table);
	assert_memory_equal(s.table, table, DIGEST_BYTES);
	S_whole_by_hand("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v)",
			table, whole);
	assert_memory_equal(s.whole, whole, DIGEST_BYTES);
	assert_int_equal(s.rows, 2);

	s = S_sums("PRAGMA user_version=3; PRAGMA application_id=-1;"
		   "CREATE TABLE k(v); INSERT INTO k VALUES (x'61'),(2.0);");
	digest_of("a", 1, sum[0]);
	S_raw(&row, "B", 1);
	S_u64(&row, 1);
	S_raw(&row, sum[0], DIGEST_BYTES);
	digest_of(row.bytes, row.len, sum[0]);
	row.len = 0;
	S_raw(&row, "r\0\0\0\0\0\0\0\x40", 9);
	digest_of(row.bytes, row.len, sum[1]);
	t.len = 0;
	S_named(&t, 'N', "k");
	S_named(&t, 'C', "v");
	S_raw(&t, "S", 1);
	for (int i = 0; i < 2; i++) {
		int first = memcmp(sum[0], sum[1], DIGEST_BYTES) > 0;

		S_raw(&t, sum[i ? !first : first], DIGEST_BYTES);
	}
	S_item(&t, 'E', n, 8);
	digest_of(t.bytes, t.len, table);
	S_whole_by_hand("k", "CREATE TABLE k(v)", table, whole);
	assert_memory_equal(s.whole, whole, DIGEST_BYTES);
}

#define BODY "CREATE TABLE t(id INTEGER PRIMARY KEY, v);" \
	"CREATE TABLE p(k TEXT PRIMARY KEY, v);" \
	"CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID;" \
	"CREATE TABLE f(v);"
#define ROWS "INSERT INTO t VALUES (1,'\u00e9'),(2,x'00');" \
	"INSERT INTO p VALUES ('a',1),('b',2.5);" \
	"INSERT INTO w VALUES ('a',1),('\u4e2d',2);" \
	"INSERT INTO f VALUES ('q'),('r'),('q');"

static void
physical_shape_does_not_count(void **state)
{
	(void)state;
	S_same(BODY ROWS, "PRAGMA page_size=512;" BODY ROWS);
	S_same(BODY ROWS, "PRAGMA encoding='UTF-16le';" BODY ROWS);
	S_same(BODY ROWS, "PRAGMA encoding='UTF-16be';" BODY ROWS);
	S_same(BODY ROWS, BODY ROWS "INSERT INTO f VALUES ('z');"
	       "DELETE FROM f WHERE v='z'; VACUUM;");
	S_same(BODY ROWS,
	       "CREATE TABLE f(v); CREATE TABLE p(k TEXT PRIMARY KEY, v);"
	       "CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID;"
	       "CREATE TABLE t(id INTEGER PRIMARY KEY, v);"
	       "INSERT INTO f VALUES ('r'),('q'),('q');"
	       "INSERT INTO w VALUES ('\u4e2d',2),('a',1);"
	       "INSERT INTO p(rowid, k, v) VALUES (9,'b',2.5),(4,'a',1);"
	       "INSERT INTO t VALUES (2,x'00'),(1,'\u00e9');");
}

static void
each_least_difference_counts(void **state)
{
	static const char *const change[] = {
		"UPDATE t SET v='e' WHERE id=1", "UPDATE t SET id=3 WHERE id=2",
		"UPDATE p SET v=1.0 WHERE k='a'", "UPDATE p SET v='1'",
		"INSERT INTO f VALUES ('q')", "UPDATE f SET v='q'",
		"DELETE FROM f WHERE rowid=3",
		"UPDATE w SET k='A' WHERE k='a'",
		"PRAGMA user_version=1", "PRAGMA application_id=1",
		"CREATE INDEX i ON t(v)", "CREATE VIEW x AS SELECT 1",
		"CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
		"ALTER TABLE f RENAME COLUMN v TO u",
		"ALTER TABLE f RENAME TO g",
		"ALTER TABLE f ADD COLUMN u",
		"UPDATE t SET v=x'01' WHERE id=2",
		"UPDATE t SET v=x'' WHERE id=2", "UPDATE t SET v=NULL",
		"CREATE TABLE empty(a)", "PRAGMA auto_vacuum=1; VACUUM",
	};
	char sql[2048];

	(void)state;
	for (size_t i = 0; i < sizeof(change) / sizeof(*change); i++) {
		snprintf(sql, sizeof(sql), "%s%s;", BODY ROWS, change[i]);
		S_differ(BODY ROWS, sql);
	}
}

static void
lengths_part_the_columns(void **state)
{
	(void)state;
	S_differ("CREATE TABLE t(a,b); INSERT INTO t VALUES ('a3','b');",
		 "CREATE TABLE t(a,b); INSERT INTO t VALUES ('a','3b');");
}

static void
a_row_belongs_to_its_table(void **state)
{
	(void)state;
	S_differ("CREATE TABLE t(a); CREATE TABLE u(a);"
		 "INSERT INTO t VALUES (1);",
		 "CREATE TABLE t(a); CREATE TABLE u(a);"
		 "INSERT INTO u VALUES (1);");
}

static void
lone_surrogates_count(void **state)
{
	(void)state;
	S_differ("PRAGMA encoding='UTF-16le'; CREATE TABLE t(a);"
		 "INSERT INTO t VALUES (CAST(x'00d84100' AS TEXT));",
		 "PRAGMA encoding='UTF-16le'; CREATE TABLE t(a);"
		 "INSERT INTO t VALUES (CAST(x'00d841dc' AS TEXT));");
	S_same("PRAGMA encoding='UTF-16le'; CREATE TABLE t(a);"
	       "INSERT INTO t VALUES (CAST(x'00d84100' AS TEXT));",
	       "PRAGMA encoding='UTF-16be'; CREATE TABLE t(a);"
	       "INSERT INTO t VALUES (CAST(x'd8000041' AS TEXT));");
}

static void
stat_tables_have_their_own(void **state)
{
	const char *plain = BODY ROWS "CREATE INDEX i ON t(v);";
	char sql[2][1024];
	struct sums s[3];

	(void)state;
	snprintf(sql[0], sizeof(sql[0]), "%sANALYZE;", plain);
	snprintf(sql[1], sizeof(sql[1]), "%sANALYZE;"
		 "UPDATE sqlite_stat1 SET stat='9 9';", plain);
	s[0] = S_sums(plain);
	s[1] = S_sums(sql[0]);
	s[2] = S_sums(sql[1]);
	for (int i = 1; i < 3; i++) {
		assert_memory_equal(s[i].whole, s[0].whole, DIGEST_BYTES);
		assert_memory_not_equal(s[i].stat, s[i - 1].stat,
					DIGEST_BYTES);
	}
}

static void
little_memory_gives_the_same(void **state)
{
	const char *sql = "CREATE TABLE t(v);"
		"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c"
		" WHERE i<30000) INSERT INTO t SELECT i FROM c;"
		"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c"
		" WHERE i<20000) INSERT INTO t SELECT 'same' FROM c;";
	struct sums large = S_sums_of(log_db(sql), 1u << 24);
	struct sums small = S_sums_of(log_db(sql), 0);

	(void)state;
	assert_memory_equal(large.whole, small.whole, DIGEST_BYTES);
	assert_int_equal(small.rows, 50000);
}

static void
a_table_that_cannot_be_read_is_named(void **state)
{
	sqlite3 *db = log_db("PRAGMA writable_schema=ON; CREATE TABLE t(v);"
		"INSERT INTO t VALUES (1);"
		"UPDATE sqlite_schema SET sql='CREATE TABLE t(v,"
		" g AS (nosuch(v)))'; PRAGMA schema_version=9;"
		"PRAGMA writable_schema=RESET;");
	struct sums s = S_sums_of(db, 1u << 20);

	(void)state;
	assert_string_equal(s.skip, "table t, column g: unknown function:"
			    " nosuch()");
	assert_int_equal(s.rows, 1);
}

static void
a_row_that_an_index_lost_still_counts(void **state)
{
	const char *sql = "CREATE TABLE t(v, w); CREATE INDEX i ON t(v, w);"
		"INSERT INTO t VALUES (1,1),(2,2);";
	sqlite3 *db = log_db(sql);
	struct sums s[2];

	(void)state;
	/* The index that covers t becomes an empty one, and the statistics
	   call it narrow. */
	assert_int_equal(sqlite3_exec(db,
		"ANALYZE; UPDATE sqlite_stat1 SET stat='2 1 1 sz=1';"
		"CREATE TABLE e(k TEXT PRIMARY KEY); PRAGMA writable_schema"
		"=ON; UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM"
		" sqlite_schema WHERE name='sqlite_autoindex_e_1') WHERE"
		" name='i'; DELETE FROM sqlite_schema WHERE tbl_name='e';"
		"PRAGMA schema_version=99; PRAGMA writable_schema=RESET",
		0, 0, 0), 0);
	s[0] = S_sums(sql);
	s[1] = S_sums_of(db, 1u << 20);
	assert_int_equal(s[1].rows, 3);	/* and one of sqlite_stat1 */
	assert_memory_equal(s[0].whole, s[1].whole, DIGEST_BYTES);
}

int
main(void)
{
	struct fault f;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bytes_are_those_of_the_document),
		cmocka_unit_test(physical_shape_does_not_count),
		cmocka_unit_test(each_least_difference_counts),
		cmocka_unit_test(lengths_part_the_columns),
		cmocka_unit_test(a_row_belongs_to_its_table),
		cmocka_unit_test(lone_surrogates_count),
		cmocka_unit_test(stat_tables_have_their_own),
		cmocka_unit_test(little_memory_gives_the_same),
		cmocka_unit_test(a_table_that_cannot_be_read_is_named),
		cmocka_unit_test(a_row_that_an_index_lost_still_counts),
	};

	if (digest_setup(&f))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
