/*
 * group_values.c - values that look equal to a naive comparison
 */
#include "controls/bed_differ.h"
#include "controls/bed_file.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"

static struct bed_shown
S_except(struct trial *t, const char *before, const char *after)
{
	return bed_differ_except(t, before, after, "t");
}

static struct bed_shown
S_list(struct trial *t, const char *before, const char *after)
{
	return bed_differ_output(t, before, after, "-list",
				 "select * from t");
}

static struct bed_shown
S_dump(struct trial *t, const char *before, const char *after)
{
	return bed_differ_output(t, before, after, "-list", ".dump");
}

static struct bed_shown
S_sha3sum(struct trial *t, const char *before, const char *after)
{
	return bed_differ_output(t, before, after, "-list", ".sha3sum");
}

/* What is no UTF-8 is no UTF-16 either: it turns into one character. */
static struct bed_shown
S_loaded(struct trial *t, const char *before, const char *after)
{
	return bed_differ_script(t, before, after,
		"s='sqlite3 -batch -init /dev/null'; rm -f wide.db;"
		" { echo \"pragma encoding = 'utf-16';\"; $s \"$0\" .dump; } |"
		" $s wide.db && exec $s wide.db .sha3sum");
}

#define VALUES_WAYS 3

struct lookalike {
	const char *schema;	/* with a table t */
	const char *change;	/* that no way sees */
	const char *difference;	/* as bed_show_verified */
	const char *honest;	/* a change that every way sees */
	const char *honest_difference;
	const char *option;	/* of verify, or NULL */
	/* Stock ways to compare two files. */
	struct bed_shown (*way[VALUES_WAYS])(struct trial *t,
					     const char *before,
					     const char *after);
};

static const char *
S_changed(struct trial *t, const char *before, const char *name,
	  const char *change)
{
	const char *after = bed_text(t, "%s-%s", before, name);

	bed_copy(t, before, after);
	(void)bed_sql_file(t, after, "%s", change);
	return after;
}

static void
S_look(struct trial *t, const struct lookalike *l)
{
	static unsigned n;
	const char *before = bed_text(t, "%u.db", n++), *same, *like, *honest;

	(void)bed_sql_file(t, before, "%s", l->schema);
	same = S_changed(t, before, "same", "vacuum");
	like = S_changed(t, before, "like", l->change);
	honest = S_changed(t, before, "honest", l->honest);
	for (int i = 0; i < VALUES_WAYS && l->way[i]; i++) {
		if ((l->way[i] == bed_differ_sqldiff ||
		     l->way[i] == bed_differ_changeset) &&
		    !bed_differ_has_sqldiff())
			continue;
		bed_naive(t, l->way[i](t, before, like), SYMPTOM_EQUAL,
			  BED_SAME, l->difference);
		bed_naive_inverse(t, l->way[i](t, before, same), BED_SAME);
		bed_naive_inverse(t, l->way[i](t, before, honest),
				  BED_DIFFERENT);
	}
	bed_ours(t, bed_show_verified(t, before, like, l->option),
		 l->difference);
	bed_ours_inverse(t, bed_show_verified(t, before, same, l->option),
			 BED_UNCHANGED);
	bed_ours_inverse(t, bed_show_verified(t, before, honest, l->option),
			 l->honest_difference);
}

/* In this order by NOCASE, and in another one by bytes. */
#define VALUES_CASE_SCHEMA "create table t(k text primary key collate" \
	" nocase, bal) without rowid; insert into t values('abc', 50)," \
	" ('Bcd', 50), ('def', 50)"

static void
S_case(struct trial *t)
{
	static const struct lookalike l = {
		VALUES_CASE_SCHEMA,
		"update t set k = 'ABC' where k = 'abc'",
		"t: added k=ABC\nt: removed k=abc",
		"update t set bal = 51 where k = 'abc'",
		"t: changed k=abc", NULL,
		{ S_except, bed_differ_sqldiff },
	};

	S_look(t, &l);
}

#define VALUES_SCHEMA "create table t(id integer primary key, v);" \
	" insert into t values(1, 'other'), (2, "
#define VALUES_CHANGED(value) "update t set v = " value " where id = 2", \
	"t: changed id=2", "update t set v = 'else' where id = 1", \
	"t: changed id=1", NULL
#define VALUES_TEXT(hex) "cast(x'" hex "' as text)"

static void
S_lookalikes(struct trial *t)
{
	static const struct lookalike l[] = {
		/* An integer and a real. */
		{ VALUES_SCHEMA "1)", VALUES_CHANGED("1.0"),
		  { S_except, bed_differ_sqldiff } },
		/* An integer and text. */
		{ VALUES_SCHEMA "1)", VALUES_CHANGED("'1'"),
		  { S_list } },
		{ VALUES_SCHEMA "0.0)", VALUES_CHANGED("-0.0"),
		  { S_except, bed_differ_sqldiff, S_dump } },
		/* What is behind a NUL. */
		{ VALUES_SCHEMA VALUES_TEXT("610062") ")",
		  VALUES_CHANGED(VALUES_TEXT("610063")),
		  { S_list, S_dump } },
		/* Bytes that are no UTF-8. */
		{ VALUES_SCHEMA VALUES_TEXT("61ff") ")",
		  VALUES_CHANGED(VALUES_TEXT("61fe")),
		  { S_loaded } },
		/* Half a surrogate pair before a letter, and a whole one. */
		{ "pragma encoding = 'utf-16le'; " VALUES_SCHEMA
		  VALUES_TEXT("00d84100") ")",
		  VALUES_CHANGED(VALUES_TEXT("00d841dc")),
		  { S_sha3sum, S_dump, S_list } },
	};

	for (size_t i = 0; i < sizeof(l) / sizeof(l[0]); i++)
		S_look(t, &l[i]);
}

#define VALUES_LOG "create table t(at, what); insert into t values(1," \
	" 'pay'), (2, 'ship'); create table acct(id integer primary key," \
	" bal); insert into acct values(7, 50)"

static void
S_duplicate(struct trial *t)
{
	static const struct lookalike l[] = {
		{ VALUES_LOG, "insert into t values(1, 'pay')",
		  "t: added rowid=3",
		  "insert into t values(3, 'pay');"
		  " update acct set bal = 51 where id = 7",
		  "acct: changed id=7\nt: added rowid=3", NULL,
		  { S_except, bed_differ_changeset } },
		/* The rows stand in another order as well. */
		{ VALUES_LOG, "delete from t where what = 'pay';"
		  " insert into t values(1, 'pay'), (1, 'pay')",
		  "t: added a row", "insert into t values(3, 'pay')",
		  "t: added a row", "--ignore-rowid", { S_except } },
	};

	for (size_t i = 0; i < sizeof(l) / sizeof(l[0]); i++)
		S_look(t, &l[i]);
}

const struct control group_values[] = {
	{
		.id = "case-only-key",
		.title = "A key changes in case only",
		.attack = "'abc' becomes 'ABC' in a key that is COLLATE"
			" NOCASE",
		.predecessor = "EXCEPT both ways in sqlite3; sqldiff as well,"
			" where it is installed",
		.symptom = SYMPTOM_EQUAL,
		.expected = "`verify --unchanged` fails and names both keys",
		.inverse = "a vacuum is no change, another value is one",
		.needs = CONTROL_SQLITE3,
		.run = S_case,
	},
	{
		.id = "lookalike-values",
		.title = "Values that read the same",
		.attack = "1 and 1.0; 1 and '1'; 0.0 and -0.0; text that"
			" differs behind a NUL, in bytes that are no UTF-8, or"
			" in half a surrogate pair",
		.predecessor = "of these, for each value, those that it fools:"
			" EXCEPT both ways, sqldiff where it is installed,"
			" list mode, .dump, .sha3sum, and .sha3sum of a .dump"
			" that was loaded as UTF-16",
		.symptom = SYMPTOM_EQUAL,
		.expected = "`verify --unchanged` fails and names the row",
		.inverse = "a vacuum is no change, another value is one",
		.needs = CONTROL_SQLITE3,
		.run = S_lookalikes,
	},
	{
		.id = "duplicate-row",
		.title = "A row twice in a table without a key",
		.attack = "a row like one that is there is inserted",
		.predecessor = "EXCEPT both ways in sqlite3; sqldiff"
			" --changeset as well, where it is installed",
		.symptom = SYMPTOM_EQUAL,
		.expected = "`verify --unchanged` fails and names the row;"
			" with --ignore-rowid as well",
		.inverse = "a vacuum is no change, another row is one",
		.needs = CONTROL_SQLITE3,
		.run = S_duplicate,
	},
	{ .id = NULL },
};
