/*
 * t_binding.c - a sidecar is bound to its own main by content alone
 */
#include "recover/binding.h"

#include "tests/unit/recover_data.h"

#define MATCHES_MAX 200

struct result {
	struct ask ask;
	struct binding_match m[MATCHES_MAX];
	size_t n;
};

static int
S_emit(void *arg, const struct binding_match *m, struct fault *f)
{
	struct result *r = arg;

	(void)f;
	assert_true(r->n < MATCHES_MAX);
	r->m[r->n++] = *m;
	return 0;
}

/* Adds one file of a set; its number, or -1 where there is none. */
static int
S_add(struct result *r, const char *path, enum role role)
{
	struct ask_side side;

	data_side(path, &side);
	for (int i = 0; i < ROLE_COUNT; i++) {
		if ((enum role)i == role && side.member[i].present)
			r->ask.extra[r->ask.nextras++] = side.member[i];
		else if (side.member[i].present)
			(void)close(side.member[i].fd);
	}
	return side.member[role].present ? (int)r->ask.nextras - 1 : -1;
}

static void
S_run(struct result *r)
{
	struct fault f = FAULT_INIT;

	r->n = 0;
	if (binding_run(&r->ask, S_emit, r, &f))
		fail_msg("%s", f.text);
}

static void
S_done(struct result *r)
{
	for (uint32_t i = 0; i < r->ask.nextras; i++)
		(void)close(r->ask.extra[i].fd);
}

static struct binding_match
S_match(const struct result *r, int sidecar, int main)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->m[i].sidecar == (uint32_t)sidecar &&
		    r->m[i].main == (uint32_t)main)
			return r->m[i];
	fail_msg("no match of %d and %d", sidecar, main);
	return r->m[0];
}

/* Alike in shape, each with content of its own. */
static sqlite3 *
S_writer(const char *path)
{
	sqlite3 *db = data_open(path);

	data_exec(db, "PRAGMA page_size=1024; PRAGMA journal_mode=WAL; "
		  "PRAGMA wal_autocheckpoint=0; CREATE TABLE t(id INTEGER "
		  "PRIMARY KEY, x)");
	for (int i = 0; i < 30; i++)
		data_exec(db, "INSERT INTO t(x) VALUES(randomblob(600))");
	return db;
}

struct pair {
	const char *path[2];
	sqlite3 *db[2];
	int main[2], wal[2], shm[2];
	struct result r;
};

static void
S_pair(struct pair *p)
{
	memset(p, 0, sizeof(*p));
	ask_init(&p->r.ask, ASK_BIND);
	for (int i = 0; i < 2; i++) {
		p->path[i] = data_path();
		p->db[i] = S_writer(p->path[i]);
	}
}

static void
S_bind(struct pair *p)
{
	S_done(&p->r);
	p->r.ask.nextras = 0;
	for (int i = 0; i < 2; i++)
		p->main[i] = S_add(&p->r, p->path[i], ROLE_MAIN);
	for (int i = 1; i >= 0; i--)
		p->wal[i] = S_add(&p->r, p->path[i], ROLE_WAL);
	for (int i = 0; i < 2; i++)
		p->shm[i] = S_add(&p->r, p->path[i], ROLE_SHM);
	S_run(&p->r);
}

static void
S_end(struct pair *p)
{
	S_done(&p->r);
	for (int i = 0; i < 2; i++)
		(void)sqlite3_close(p->db[i]);
}

/* Each WAL is all its own main's and hardly the other's. */
static void
S_check_bound(const struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		struct binding_match own, foreign;

		own = S_match(&p->r, p->wal[i], p->main[i]);
		foreign = S_match(&p->r, p->wal[i], p->main[!i]);
		assert_true(own.compared >= 10);
		assert_int_equal(own.equal, own.compared);
		assert_int_equal(foreign.compared, own.compared);
		assert_true(foreign.equal <= 3);
		assert_int_equal(own.distinctive, own.equal - foreign.equal);
		assert_int_equal(foreign.distinctive, 0);
		own = S_match(&p->r, p->shm[i], p->wal[i]);
		assert_true(own.compared == 1 && own.equal == 1);
		foreign = S_match(&p->r, p->shm[i], p->wal[!i]);
		assert_true(foreign.compared == 1 && foreign.equal == 0);
		assert_int_equal(S_match(&p->r, p->main[i], p->main[i]).equal,
				 1);
	}
}

static void
a_fresh_wal_gives_no_evidence(void **state)
{
	struct pair p;

	(void)state;
	S_pair(&p);
	S_bind(&p);
	assert_int_equal(S_match(&p.r, p.wal[0], p.main[0]).compared, 0);
	assert_int_equal(S_match(&p.r, p.wal[0], p.main[1]).compared, 0);
	S_end(&p);
}

static void
backfilled_frames_bind_a_wal_to_its_main(void **state)
{
	struct pair p;

	(void)state;
	S_pair(&p);
	for (int i = 0; i < 2; i++)
		data_exec(p.db[i], "PRAGMA wal_checkpoint");
	S_bind(&p);
	S_check_bound(&p);
	/* Frames behind the checkpoint are in no main. */
	for (int i = 0; i < 2; i++)
		data_exec(p.db[i], "BEGIN; UPDATE t SET x = randomblob(500); "
			  "COMMIT; CREATE INDEX i ON t(x)");
	S_bind(&p);
	S_check_bound(&p);
	S_end(&p);
}

/* A reader holds the checkpoint back to where it stands. */
static void
a_partial_checkpoint_counts_as_far_as_it_went(void **state)
{
	struct pair p;
	sqlite3 *reader[2];

	(void)state;
	S_pair(&p);
	for (int i = 0; i < 2; i++) {
		reader[i] = data_open(p.path[i]);
		data_exec(reader[i], "BEGIN; SELECT count(*) FROM t");
		data_exec(p.db[i], "UPDATE t SET x = randomblob(600) "
			  "WHERE id < 10; PRAGMA wal_checkpoint");
	}
	S_bind(&p);
	S_check_bound(&p);
	for (int i = 0; i < 2; i++)
		(void)sqlite3_close(reader[i]);
	S_end(&p);
}

static void
what_survives_of_the_generation_before_binds_a_restarted_wal(void **state)
{
	struct pair p;

	(void)state;
	S_pair(&p);
	for (int i = 0; i < 2; i++)
		data_exec(p.db[i], "PRAGMA wal_checkpoint; "
			  "UPDATE t SET x = 1 WHERE id = 1");
	S_bind(&p);
	S_check_bound(&p);
	S_end(&p);
}

/*
 * A checkpoint is under way and has copied nothing: main holds the image of
 * the generation before, which is older than all that are looked at.
 */
static void
images_that_are_too_many_speak_against_no_main(void **state)
{
	static const uint32_t attempted = 20;
	struct pair p;
	char path[256];
	int fd;

	(void)state;
	S_pair(&p);
	for (int i = 0; i < 2; i++) {
		data_exec(p.db[i], "UPDATE t SET x = randomblob(600) WHERE "
			  "id = 1; PRAGMA wal_checkpoint(RESTART)");
		for (uint32_t k = 0; k < attempted; k++)
			data_exec(p.db[i], "UPDATE t SET x = randomblob(600) "
				  "WHERE id = 1");
		(void)snprintf(path, sizeof(path), "%s-shm", p.path[i]);
		fd = open(path, O_RDWR | O_CLOEXEC);
		assert_true(fd >= 0);
		/* nBackfillAttempted: wal.c, struct WalCkptInfo. */
		assert_int_equal(pwrite(fd, &attempted, 4, 128), 4);
		(void)close(fd);
	}
	S_bind(&p);
	S_check_bound(&p);
	S_end(&p);
}

static void
a_damaged_tail_ends_the_evidence(void **state)
{
	struct binding_match whole, cut;
	const char *copy;
	struct pair p;
	struct result r;
	int main, wal;
	size_t n;

	(void)state;
	S_pair(&p);
	data_exec(p.db[0], "PRAGMA wal_checkpoint; "
		  "UPDATE t SET x = 1 WHERE id = 1");
	S_bind(&p);
	whole = S_match(&p.r, p.wal[0], p.main[0]);
	copy = data_copy(p.path[0], DATA_ALL);
	free(data_slurp(copy, "-wal", &n));
	/* Halfway: what lies behind is of unknown origin. */
	data_xor(copy, "-wal", 32 + (n - 32) / 1048 / 2 * 1048 + 100, 1);
	memset(&r, 0, sizeof(r));
	ask_init(&r.ask, ASK_BIND);
	main = S_add(&r, copy, ROLE_MAIN);
	wal = S_add(&r, copy, ROLE_WAL);
	S_run(&r);
	cut = S_match(&r, wal, main);
	assert_true(cut.compared > 0 && cut.compared < whole.compared);
	S_done(&r);
	S_end(&p);
}

static void
copies_of_one_template_are_not_told_apart(void **state)
{
	struct binding_match m;
	const char *twin;
	struct pair p;
	int main;

	(void)state;
	S_pair(&p);
	data_exec(p.db[0], "PRAGMA wal_checkpoint");
	twin = data_copy(p.path[0], 1u << ROLE_MAIN);
	S_bind(&p);
	main = S_add(&p.r, twin, ROLE_MAIN);
	S_run(&p.r);
	m = S_match(&p.r, p.wal[0], p.main[0]);
	assert_int_equal(m.equal, m.compared);
	assert_int_equal(m.distinctive, 0);
	m = S_match(&p.r, p.wal[0], main);
	assert_int_equal(m.equal, m.compared);
	assert_int_equal(m.distinctive, 0);
	S_end(&p);
}

static void
a_journal_is_bound_by_the_pages_that_still_stand(void **state)
{
	const char *path[2], *said = "PRAGMA cache_size=50; BEGIN; "
		"UPDATE t SET x = zeroblob(600) WHERE id < 200";
	int main[2], journal[2];
	struct result r;

	(void)state;
	memset(&r, 0, sizeof(r));
	ask_init(&r.ask, ASK_BIND);
	for (int i = 0; i < 2; i++) {
		sqlite3 *db;

		path[i] = data_path();
		db = data_open(path[i]);
		data_exec(db, "PRAGMA page_size=1024; CREATE TABLE t(id "
			  "INTEGER PRIMARY KEY, x); WITH n(i) AS (VALUES(1) "
			  "UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
			  "INSERT INTO t SELECT i, randomblob(600) FROM n");
		(void)sqlite3_close(db);
		data_crash(path[i], said);
		main[i] = S_add(&r, path[i], ROLE_MAIN);
		journal[i] = S_add(&r, path[i], ROLE_JOURNAL);
	}
	S_run(&r);
	for (int i = 0; i < 2; i++) {
		struct binding_match own = S_match(&r, journal[i], main[i]);
		struct binding_match foreign = S_match(&r, journal[i],
						       main[!i]);

		assert_true(own.compared > 50);
		assert_true(own.distinctive > 0);
		assert_true(own.equal < own.compared);
		assert_int_equal(foreign.distinctive, 0);
		assert_int_equal(S_match(&r, main[i], main[i]).equal, 0);
	}
	S_done(&r);
}

static void
no_more_pages_are_compared_than_the_cap(void **state)
{
	const char *path = data_path();
	sqlite3 *db = data_open(path);
	struct binding_match m;
	struct result r;
	int main, wal;

	(void)state;
	data_exec(db, "PRAGMA page_size=512; PRAGMA journal_mode=WAL; PRAGMA "
		  "wal_autocheckpoint=0; CREATE TABLE t(x); WITH n(i) AS "
		  "(VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
		  "INSERT INTO t SELECT randomblob(450) FROM n; "
		  "PRAGMA wal_checkpoint");
	memset(&r, 0, sizeof(r));
	ask_init(&r.ask, ASK_BIND);
	main = S_add(&r, path, ROLE_MAIN);
	wal = S_add(&r, path, ROLE_WAL);
	(void)S_add(&r, path, ROLE_SHM);
	S_run(&r);
	m = S_match(&r, wal, main);
	assert_int_equal(m.compared, BINDING_PAGES_MAX);
	assert_int_equal(m.equal, BINDING_PAGES_MAX);
	assert_int_equal(m.distinctive, BINDING_PAGES_MAX);
	S_done(&r);
	(void)sqlite3_close(db);
}

static void
garbage_binds_to_nothing(void **state)
{
	struct pair p;
	unsigned char bytes[9000];
	int extra[3];

	(void)state;
	S_pair(&p);
	S_bind(&p);
	memset(bytes, 0x77, sizeof(bytes));
	data_spit(data_path(), "", "", 0);
	{
		const char *path = data_path();

		data_spit(path, "", bytes, 9000);
		data_spit(path, "-wal", bytes, 9000);
		data_spit(path, "-shm", bytes, 9000);
		data_spit(path, "-journal", bytes, 9000);
		extra[0] = S_add(&p.r, path, ROLE_WAL);
		extra[1] = S_add(&p.r, path, ROLE_JOURNAL);
		extra[2] = S_add(&p.r, path, ROLE_SHM);
		(void)S_add(&p.r, path, ROLE_MAIN);
	}
	S_run(&p.r);
	for (int i = 0; i < 3; i++)
		assert_int_equal(S_match(&p.r, extra[i], i == 2 ? p.wal[0]
					 : p.main[0]).compared, 0);
	S_end(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fresh_wal_gives_no_evidence),
		cmocka_unit_test(backfilled_frames_bind_a_wal_to_its_main),
		cmocka_unit_test(a_partial_checkpoint_counts_as_far_as_it_went),
		cmocka_unit_test(
		what_survives_of_the_generation_before_binds_a_restarted_wal),
		cmocka_unit_test(
			images_that_are_too_many_speak_against_no_main),
		cmocka_unit_test(a_damaged_tail_ends_the_evidence),
		cmocka_unit_test(copies_of_one_template_are_not_told_apart),
		cmocka_unit_test(
			a_journal_is_bound_by_the_pages_that_still_stand),
		cmocka_unit_test(no_more_pages_are_compared_than_the_cap),
		cmocka_unit_test(garbage_binds_to_nothing),
	};

	return cmocka_run_group_tests(tests, data_begin, data_end);
}
