/*
 * t_lease_model.c - random operations of eight processes against a model
 *
 * All share one clock that goes on with every reading. It is read under the
 * lock, so its readings put the operations in the order in which they were
 * done. Each process writes down what it asked and what it was told; then a
 * model does it all again and must have been told the same.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/unit/lease_data.h"

enum { PROCESSES = 8, EACH = 1250, PATHS = 14, OWNERS = 6, PICK = 3 };
enum verb { ACQUIRE, RELEASE, RENEW, REAP, VERBS };

static const char *const S_path[PATHS] = {
	"/m/a", "/m/a/b", "/m/a/b/c", "/m/a-", "/m/a0", "/m/d", "/m/d/e",
	"/m/d/f", "/m/g", "/m/h/i", "/m/h", "/m/j", "/m/k", "/m/k/l",
};
static const struct {
	const char *session, *epoch;
} S_owner[OWNERS] = {
	{ "s", "" }, { "s", "1" }, { "s", "2" }, { "t", "" }, { "t", "1" },
	{ "u", "1" },
};

struct record {
	enum verb verb;
	int owner, npaths, path[PICK];
	int64_t at, ttl, fence, asked;
	enum outcome outcome;
	size_t count, reaped;
	char blocker[32], holder[8], holder_epoch[8];
	int64_t blocking_fence;
};

struct shared {
	atomic_llong clock;
	struct record log[PROCESSES][EACH];
};

static struct lease_data S_data;
static struct lease_data *const d = &S_data;
static struct shared *S_shared;
static __thread unsigned S_seed;

static int
S_read(void *arg, struct instant *now, struct fault *f)
{
	long long step = 1 + rand_r(&S_seed) % (int)(SECOND / 100);

	(void)arg;
	(void)f;
	now->at = atomic_fetch_add(&S_shared->clock, step) + step;
	now->utc = now->at;
	(void)strcpy(now->boot, BOOT_A);
	return 0;
}

static struct store *
S_open(void)
{
	struct store_options o = {
		.path = d->db, .clock = { .read = S_read },
		.wait_ns = 60ull * 1000000000,
	};
	struct fault f = FAULT_INIT;
	struct store *s = NULL;

	if (store_open(&s, &o, &f)) {
		print_error("%s\n", f.text);
		_exit(1);
	}
	return s;
}

static int
S_acquire(struct store *s, struct record *r, struct answer *a,
	  struct fault *f)
{
	char *paths[PICK];
	struct ops_acquire q = {
		.paths = paths, .session = S_owner[r->owner].session,
		.epoch = S_owner[r->owner].epoch,
	};
	int rc;

	r->ttl = SECOND / 2 + rand_r(&S_seed) % (int)SECOND;
	r->npaths = 1 + rand_r(&S_seed) % PICK;
	for (int i = 0; i < r->npaths; i++) {
		/* Each once: 3 and 5 steps on are others of the fourteen. */
		r->path[i] = i ? (r->path[0] + 2 * i + 1) % PATHS
			       : rand_r(&S_seed) % PATHS;
		paths[i] = (char *)(uintptr_t)S_path[r->path[i]];
	}
	q.npaths = (size_t)r->npaths;
	q.ttl = r->ttl;
	rc = ops_acquire(s, &q, a, f);
	if (!rc && a->outcome == OUTCOME_BLOCKED) {
		(void)strcpy(r->blocker, a->held.at[0].resource);
		(void)strcpy(r->holder, a->held.at[0].session);
		(void)strcpy(r->holder_epoch, a->held.at[0].epoch);
		r->blocking_fence = a->held.at[0].fence;
	}
	return rc;
}

static void
S_one(struct store *s, struct record *r, int64_t *last)
{
	struct fault f = FAULT_INIT;
	OWN_ANSWER(a);
	int rc = 0;

	r->verb = (enum verb)(rand_r(&S_seed) % 8);
	if (r->verb >= VERBS)
		r->verb = ACQUIRE;
	if (r->verb == REAP && rand_r(&S_seed) % 4)
		r->verb = RELEASE;
	r->owner = rand_r(&S_seed) % OWNERS;
	r->asked = *last;
	if (r->verb == ACQUIRE)
		rc = S_acquire(s, r, &a, &f);
	else if (r->verb == RELEASE)
		rc = ops_release(s, S_owner[r->owner].session,
				 S_owner[r->owner].epoch, 0, &a, &f);
	else if (r->verb == RENEW)
		rc = ops_renew(s, r->asked, NULL, "", SECOND, &a, &f);
	else
		rc = ops_reap(s, &a, &f);
	if (rc) {
		print_error("%s\n", f.text);
		_exit(1);
	}
	r->at = a.now.at;
	r->outcome = a.outcome;
	r->count = a.count;
	r->reaped = a.reaped;
	r->fence = a.fence;
	if (r->verb == ACQUIRE && r->outcome == OUTCOME_ACQUIRED)
		*last = r->fence;
}

_Noreturn static void
S_work(int me)
{
	struct store *s;
	int64_t last = 1;

	S_seed = (unsigned)(me * 7919 + 17);
	s = S_open();
	for (int i = 0; i < EACH; i++)
		S_one(s, &S_shared->log[me][i], &last);
	store_close(&s);
	_exit(0);
}

/* The model */

static struct {
	int64_t fence, expires;		/* fence 0: nobody's */
	int owner;
} S_row[PATHS];
static int64_t S_fence, S_events;

static bool
S_below(const char *a, const char *b)
{
	size_t n = strlen(a);

	return strncmp(a, b, n) == 0 && (b[n] == '/' || b[n] == '\0');
}

static size_t
S_model_reap(int64_t at)
{
	size_t n = 0;

	for (int i = 0; i < PATHS; i++)
		if (S_row[i].fence && S_row[i].expires <= at) {
			S_row[i].fence = 0;
			n++;
		}
	S_events += (int64_t)n;
	return n;
}

static bool
S_in_the_way(const struct record *r, int row)
{
	if (!S_row[row].fence || S_row[row].owner == r->owner)
		return false;
	for (int i = 0; i < r->npaths; i++)
		if (S_below(S_path[row], S_path[r->path[i]]) ||
		    S_below(S_path[r->path[i]], S_path[row]))
			return true;
	return false;
}

static void
S_model_acquire(const struct record *r)
{
	int64_t fresh = 0, newest = 0;
	bool blocked = false, named = false;

	assert_int_equal(r->reaped, S_model_reap(r->at));
	for (int i = 0; i < PATHS; i++) {
		if (!S_in_the_way(r, i))
			continue;
		blocked = true;
		named = named || (r->blocking_fence == S_row[i].fence &&
			!strcmp(r->blocker, S_path[i]) &&
			!strcmp(r->holder, S_owner[S_row[i].owner].session) &&
			!strcmp(r->holder_epoch,
				S_owner[S_row[i].owner].epoch));
	}
	assert_int_equal(r->outcome, blocked ? OUTCOME_BLOCKED
					     : OUTCOME_ACQUIRED);
	assert_true(blocked == named);
	for (int i = 0; !blocked && i < r->npaths; i++) {
		int p = r->path[i];

		if (!S_row[p].fence) {
			fresh = fresh ? fresh : ++S_fence;
			S_row[p].fence = fresh;
			S_row[p].expires = 0;
			S_row[p].owner = r->owner;
		}
		if (S_row[p].expires < r->at + r->ttl)
			S_row[p].expires = r->at + r->ttl;
		if (S_row[p].fence > newest)
			newest = S_row[p].fence;
		S_events++;
	}
	assert_int_equal(r->fence, newest);
}

static void
S_model_release(const struct record *r)
{
	const char *session = S_owner[r->owner].session;
	bool others = false;
	size_t n = 0;

	for (int i = 0; i < PATHS; i++) {
		if (!S_row[i].fence || S_row[i].expires <= r->at)
			continue;
		if (S_row[i].owner == r->owner) {
			S_row[i].fence = 0;
			n++;
		} else if (!strcmp(S_owner[S_row[i].owner].session,
				   session)) {
			others = true;
		}
	}
	assert_int_equal(r->count, n);
	assert_int_equal(r->outcome, n ? OUTCOME_RELEASED : others
			 ? OUTCOME_EPOCH_MISMATCH : OUTCOME_ABSENT);
	S_events += (int64_t)n;
}

static void
S_model_renew(const struct record *r)
{
	size_t n = 0;

	for (int i = 0; i < PATHS; i++)
		if (S_row[i].fence == r->asked &&
		    S_row[i].expires > r->at) {
			if (S_row[i].expires < r->at + SECOND)
				S_row[i].expires = r->at + SECOND;
			n++;
		}
	assert_int_equal(r->count, n);
	assert_int_equal(r->outcome, n ? OUTCOME_ACQUIRED : OUTCOME_ABSENT);
	S_events += (int64_t)n;
}

static int
S_by_instant(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void
ten_thousand_operations_are_those_of_the_model(void **state)
{
	struct record *all = S_shared->log[0];
	struct store *s = S_open();
	size_t kinds[OUTCOME_HELD + 1] = { 0 };
	int status, held = 0;

	(void)state;
	store_close(&s);
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0)
			S_work(i);
	while (wait(&status) > 0)
		assert_int_equal(status, 0);
	qsort(all, (size_t)PROCESSES * EACH, sizeof(*all), S_by_instant);
	for (size_t i = 0; i < (size_t)PROCESSES * EACH; i++) {
		if (i > 0)
			assert_true(all[i].at > all[i - 1].at);
		kinds[all[i].outcome]++;
		switch (all[i].verb) {
		case ACQUIRE:
			S_model_acquire(&all[i]);
			break;
		case RELEASE:
			S_model_release(&all[i]);
			break;
		case RENEW:
			S_model_renew(&all[i]);
			break;
		default:
			assert_int_equal(all[i].reaped,
					 S_model_reap(all[i].at));
		}
	}
	for (int i = 0; i < PATHS; i++)
		held += S_row[i].fence != 0;
	assert_int_equal(lease_number(d, "SELECT count(*) FROM held"), held);
	assert_int_equal(lease_number(d, "SELECT count(*) = max(seq) AND"
				      " min(seq) = 1 FROM events"), 1);
	assert_int_equal(lease_number(d, "SELECT max(seq) FROM events"),
			 S_events);
	assert_int_equal(lease_number(d, "SELECT count(*) FROM grants"),
			 S_fence);
	/* It was about something. */
	assert_true(kinds[OUTCOME_ACQUIRED] > 500);
	assert_true(kinds[OUTCOME_BLOCKED] > 500);
	assert_true(kinds[OUTCOME_RELEASED] > 200);
	assert_true(kinds[OUTCOME_EPOCH_MISMATCH] > 50);
}

static int
S_setup(void **state)
{
	(void)state;
	S_shared = mmap(NULL, sizeof(*S_shared), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (S_shared == MAP_FAILED)
		return -1;
	atomic_init(&S_shared->clock, 1000 * SECOND);
	lease_setup(d);
	return 0;
}

static int
S_teardown(void **state)
{
	(void)state;
	lease_teardown(d);
	(void)munmap(S_shared, sizeof(*S_shared));
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			ten_thousand_operations_are_those_of_the_model,
			S_setup, S_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
