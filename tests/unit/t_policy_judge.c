/*
 * t_policy_judge.c - texts that declared steps explain, and names in order
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "policy/judge.h"
#include "policy/rewrite.h"

#define HEAD "{\"policy\":\"holdfast-policy/1\","

static struct policy *
S_policy(const char *text)
{
	struct fault f = FAULT_INIT;
	struct policy *p = NULL;

	if (policy_parse(&p, text, strlen(text), NULL, 0, &f))
		fail_msg("%s: %s", text, f.text);
	return p;
}

static char *
S_own(const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	assert_true(!text || copy);
	return copy;
}

static const char S_steps[] = HEAD
	"\"schema\":{\"rename_table\":[{\"from\":\"job\",\"to\":\"jobs\"}],"
	"\"rename_column\":[{\"table\":\"jobs\",\"from\":\"usr\","
	"\"to\":\"user\"}],"
	"\"add_column\":[{\"table\":\"jobs\",\"name\":\"e\",\"type\":"
	"\"VARCHAR(9)\",\"notnull\":true,\"default\":\"-1\"}],"
	"\"drop_column\":[{\"table\":\"jobs\",\"name\":\"old\"}]}}";

static const struct {
	const char *type, *before, *after;
	bool explained;
} S_texts[] = {
	{ "index", "CREATE INDEX i ON job(x)",
	  "CREATE INDEX i ON \"jobs\"(x)", true },
	{ "index", "CREATE INDEX i ON job(usr)",
	  "CREATE INDEX i ON \"jobs\"(user)", true },
	{ "index", "CREATE INDEX i ON job(x)",
	  "CREATE INDEX i ON \"jobs\"(y)", false },
	{ "index", "CREATE INDEX i ON job(x)",
	  "CREATE UNIQUE INDEX i ON \"jobs\"(x)", false },
	{ "index", "CREATE INDEX i ON job(x) WHERE x > 'job'",
	  "CREATE INDEX i ON \"jobs\"(x) WHERE x > 'jobs'", false },
	{ "index", "CREATE INDEX i ON job(x) WHERE x > 'job'",
	  "CREATE INDEX i ON \"jobs\"(x) WHERE x > jobs", false },
	{ "index", "CREATE INDEX i ON job(x) WHERE x > 1",
	  "CREATE INDEX i ON \"jobs\"(x)", false },
	{ "view", "CREATE VIEW w AS SELECT usr FROM other",
	  "CREATE VIEW w AS SELECT user FROM other", false },
	{ "view", "CREATE VIEW w AS SELECT usr FROM [job]",
	  "CREATE VIEW w AS SELECT user FROM jobs", true },
	{ "view", "CREATE VIEW w AS SELECT usr FROM job",
	  "CREATE VIEW w AS SELECT USER FROM jobs", false },
	{ "table", "CREATE TABLE job(usr, old, CHECK (usr > 0))",
	  "CREATE TABLE \"jobs\"(user, e VARCHAR(9) NOT NULL DEFAULT -1,"
	  " CHECK (user > 0))", true },
	{ "table", "CREATE TABLE 'job'(usr)", "CREATE TABLE \"jobs\"(user)",
	  true },
	{ "table", "CREATE TABLE job(usr, old)",
	  "CREATE TABLE jobs(user, e varchar(9) DEFAULT (-1) NOT NULL)",
	  true },
	{ "table", "CREATE TABLE job(usr)",
	  "CREATE TABLE jobs(user, e VARCHAR(9) NOT NULL DEFAULT -2)",
	  false },
	{ "table", "CREATE TABLE job(usr)",
	  "CREATE TABLE jobs(user, e VARCHAR(8) NOT NULL DEFAULT -1)",
	  false },
	{ "table", "CREATE TABLE job(usr)",
	  "CREATE TABLE jobs(user, e VARCHAR(9) NOT NULL DEFAULT -1 UNIQUE)",
	  false },
	{ "table", "CREATE TABLE job(usr, keep)", "CREATE TABLE jobs(user)",
	  false },
	{ "table", "CREATE TABLE job(usr)", "CREATE TABLE jobs(user) STRICT",
	  false },
	{ "table", "CREATE TABLE job(usr, CHECK (old))",
	  "CREATE TABLE jobs(user)", false },
	{ "table", "CREATE TABLE job(usr", "CREATE TABLE jobs(user", false },
	{ "table", "CREATE TABLE job(a, b)", "CREATE TABLE jobs(b, a)",
	  false },
	{ "table", "CREATE TABLE job(usr usr)",
	  "CREATE TABLE jobs(user user)", false },
	{ "table", "CREATE TABLE job(usr DEFAULT \"usr\")",
	  "CREATE TABLE jobs(user DEFAULT \"user\")", false },
	{ "table", "CREATE TABLE job(usr, p REFERENCES o(usr))",
	  "CREATE TABLE jobs(user, p REFERENCES o(user))", false },
	{ "table", "CREATE TABLE job(usr, p REFERENCES job(usr))",
	  "CREATE TABLE jobs(user, p REFERENCES jobs(user))", true },
	{ "table", "CREATE TABLE job(usr, p REFERENCES o(usr))",
	  "CREATE TABLE jobs(user, p REFERENCES o(usr))", true },
	{ "table", "CREATE TABLE job(usr, p REFERENCES \"usr\"(\"usr\"))",
	  "CREATE TABLE jobs(user, p REFERENCES \"usr\"(\"usr\"))", true },
	{ "table", "CREATE TABLE job(usr, p REFERENCES job(\"usr\"))",
	  "CREATE TABLE jobs(user, p REFERENCES jobs(\"usr\"))", false },
	{ "table", "CREATE TABLE job(\"usr\", CHECK (\"usr\" > 0))",
	  "CREATE TABLE jobs(\"user\", CHECK (\"user\" > 0))", true },
	{ "table", "CREATE TABLE job(usr, CHECK (\"usr\" > 0))",
	  "CREATE TABLE jobs(user, CHECK (\"usr\" > 0))", false },
	{ "table", "CREATE TABLE job(usr, CONSTRAINT usr CHECK (usr > 0))",
	  "CREATE TABLE jobs(user, CONSTRAINT usr CHECK (user > 0))", true },
	{ "table", "CREATE TABLE job(usr, CONSTRAINT usr CHECK (usr > 0))",
	  "CREATE TABLE jobs(user, CONSTRAINT user CHECK (user > 0))",
	  false },
	{ "table", "CREATE TABLE job(usr DEFAULT \"usr\")",
	  "CREATE TABLE jobs(user DEFAULT \"usr\")", true },
	{ "table", "CREATE TABLE job(usr DEFAULT (1) CHECK (usr > 0))",
	  "CREATE TABLE jobs(user DEFAULT (1) CHECK (user > 0))", true },
	{ "view", "CREATE VIEW w AS SELECT o.usr FROM job, o",
	  "CREATE VIEW w AS SELECT o.usr FROM jobs, o", true },
	{ "view", "CREATE VIEW w AS SELECT o.usr FROM job, o",
	  "CREATE VIEW w AS SELECT o.user FROM jobs, o", false },
	{ "view", "CREATE VIEW w AS SELECT main.job.usr, j.usr, k.usr"
	  " FROM job, job AS j, [job] k",
	  "CREATE VIEW w AS SELECT main.jobs.user, j.user, k.user"
	  " FROM jobs, jobs AS j, jobs k", true },
	{ "trigger", "CREATE TRIGGER i AFTER UPDATE OF usr ON job BEGIN"
	  " SELECT new.usr, OLD.usr; END",
	  "CREATE TRIGGER i AFTER UPDATE OF user ON jobs BEGIN"
	  " SELECT new.user, OLD.user; END", true },
	{ "trigger", "CREATE TRIGGER i AFTER INSERT ON job BEGIN INSERT INTO"
	  " job(usr) VALUES(1) ON CONFLICT DO UPDATE SET usr = excluded.usr;"
	  " END",
	  "CREATE TRIGGER i AFTER INSERT ON jobs BEGIN INSERT INTO"
	  " jobs(user) VALUES(1) ON CONFLICT DO UPDATE SET user ="
	  " excluded.user; END", true },
	{ "view", "CREATE VIEW w AS SELECT new.usr FROM job, new",
	  "CREATE VIEW w AS SELECT new.user FROM jobs, new", false },
};

static void
a_rename_excuses_that_identifier_alone(void **state)
{
	OWN_POLICY(p);

	(void)state;
	p = S_policy(S_steps);
	for (size_t i = 0; i < sizeof(S_texts) / sizeof(*S_texts); i++) {
		struct changes_object o = {
			.change = WIRE_CHANGED,
			.type = S_own(S_texts[i].type),
			.name = S_own(strcmp(S_texts[i].type, "table")
				      ? "i" : "jobs"),
			.table = S_own("jobs"),
			.before = S_own(S_texts[i].before),
			.after = S_own(S_texts[i].after),
		};
		struct fault f = FAULT_INIT;
		const cJSON *claim;
		bool explained;

		if (strcmp(o.type, "view") == 0)
			strcpy(o.table, "w");
		assert_int_equal(rewrite_explained(p, &o, &explained, &claim,
						   &f), 0);
		if (explained != S_texts[i].explained)
			fail_msg("%s -> %s", o.before, o.after);
		free(o.type);
		free(o.name);
		free(o.table);
		free(o.before);
		free(o.after);
	}
}

static void
a_declaration_that_did_not_happen_is_a_violation(void **state)
{
	struct fault f = FAULT_INIT;
	const struct violations *v;
	OWN_POLICY(p);
	OWN_JUDGE(j);

	(void)state;
	p = S_policy(S_steps);
	assert_int_equal(judge_new(&j, p, &f), 0);
	assert_int_equal(judge_end(j, &f), 0);
	v = judge_violations(j);
	assert_int_equal(v->total, 4);
	assert_string_equal(v->item[0].pointer, "/schema/add_column/0");
	assert_string_equal(v->item[1].pointer, "/schema/drop_column/0");
	assert_string_equal(v->item[2].pointer, "/schema/rename_table/0");
	assert_string_equal(v->item[3].pointer, "/schema/rename_column/0");
}

static void
renames_come_back_from_their_text(void **state)
{
	static const char *const bad[] = { "x", "t", "t3:job", "t3:job9:jobs",
					   "c1:a1:b", "t99999:a1:b", "t3job" };
	struct buf b = BUF_INIT(1u << 16);
	struct fault f = FAULT_INIT;
	OWN_RENAMES(r);
	OWN_POLICY(p);

	(void)state;
	p = S_policy(S_steps);
	assert_int_equal(renames_write(&p->renames, &b, &f), 0);
	assert_int_equal(renames_read(&r, (const char *)b.data, &f), 0);
	assert_int_equal(r.n, 2);
	assert_null(r.item[0].table);
	assert_string_equal(renames_column_to(&r, "JOBS", "Usr"), "user");
	assert_null(renames_column_to(&r, "job", "usr"));
	buf_free(&b);
	renames_free(&r);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(renames_read(&r, bad[i], &f), -FAULT_USAGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rename_excuses_that_identifier_alone),
		cmocka_unit_test(
			a_declaration_that_did_not_happen_is_a_violation),
		cmocka_unit_test(renames_come_back_from_their_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
