/*
 * capture.c - takes one packet from the stopped writers of a database
 *
 * The order is that of docs/LAYOUT.md, "The path of the data": all that
 * allocates, hashes or prints stands before the pause or behind it.
 */
#include "capture/capture.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/own.h"
#include "capture/hold.h"
#include "capture/inspect.h"
#include "capture/result.h"
#include "capture/signals.h"
#include "packet/packet_write.h"

/* Tries for a moment that can be captured, within --timeout. */
#define ATTEMPTS_MAX 64u
#define FIRST_WAIT_NS 1000000ull
#define LONGEST_WAIT_NS 100000000ull
#define LOOK_EVERY_NS 10000000l

struct run {
	const struct capture_request *q;
	struct selection selection;
	struct hold_rules rules;
	char *output;		/* where the packet shall appear */
	struct stage *stage;
	struct packet_writer *packet;
	struct warden *helper;	/* of this attempt */
	struct hold hold;
	struct inspection found;
	uint64_t now_ns;	/* CLOCK_REALTIME of the pause */
	unsigned attempts;
	bool read;		/* this attempt came to the reads */
	int64_t confirmed;	/* pages that bear the memory's word out */
};

static void
S_run_free(struct run *r)
{
	hold_free(&r->hold);
	warden_free(r->helper);
	packet_writer_free(r->packet);
	stage_free(r->stage);
	selection_free(&r->selection);
	free(r->output);
}

#define OWN_RUN(name) \
	struct run name __attribute__((cleanup(S_run_free)))

static uint64_t
S_ns(double seconds)
{
	return (uint64_t)(seconds * (double)CLOCK_NS_PER_SEC);
}

static int
S_run_init(struct run *r, const struct capture_request *q, struct fault *f)
{
	memset(r, 0, sizeof(*r));
	r->q = q;
	r->selection = (struct selection)SELECTION_INIT;
	hold_init(&r->hold);
	r->rules = (struct hold_rules){
		.pids = q->pids,
		.npids = q->npids,
		.displaced = q->displaced,
		.accept_names = q->accept_names,
		.stop_ns = S_ns(q->timeout_s),
		.max_pause_ns = S_ns(q->max_pause_s),
	};
	if (selection_make(q->db, q->displaced, &r->selection, f))
		return -(int)f->code;
	return selection_no_sidecar(q->db, f);
}

/* Sizes that names give: good enough to make room before the pause. */
static int
S_look_at_names(const struct run *r, uint64_t bytes[ROLE_COUNT],
		struct fault *f)
{
	struct fault ignored = FAULT_INIT;
	struct names n = NAMES_INIT;
	int rc = 0;

	memset(bytes, 0, ROLE_COUNT * sizeof(*bytes));
	if (names_open(&n, r->selection.path, &ignored) == 0) {
		for (enum role k = 0; k < ROLE_COUNT; k++)
			if (n.entry[k].exists && S_ISREG(n.entry[k].mode))
				bytes[k] = (uint64_t)n.entry[k].size;
		rc = packet_writer_check_name(r->packet, n.dirfd, n.base, f);
	}
	names_free(&n);
	return rc;
}

static void
S_progress(void *arg, uint64_t done, uint64_t total)
{
	const struct run *r = arg;

	if (r->q->progress)
		r->q->progress(r->q->progress_arg, r->hold.began_ns ?
			       "hashing" : "making room", done, total);
}

static int
S_prepare(struct run *r, struct fault *f)
{
	char name[PACKET_NAME_BYTES];
	uint64_t bytes[ROLE_COUNT], most = 0;
	int rc;

	if (!r->q->output)
		packet_default_name(r->selection.base, clock_real_ns(), name);
	r->output = strdup(r->q->output ? r->q->output : name);
	if (!r->output)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	rc = packet_writer_open(&r->packet, r->output, r->q->force, f);
	/* It gets ready while we make room. */
	if (!rc)
		rc = inspect_begin(&r->helper, r->packet, f);
	if (!rc)
		rc = S_look_at_names(r, bytes, f);
	for (enum role k = 0; k < ROLE_COUNT; k++)
		if (!rc && bytes[k] > most)
			most = bytes[k];
	if (!rc)
		rc = stage_new(&r->stage, most, f);
	if (rc)
		return rc;
	packet_writer_watch(r->packet, signals_pending, S_progress, r);
	return packet_writer_prepare(r->packet, r->selection.base, bytes,
				     r->stage, f);
}

/* ---- inside the pause ---- */

static int
S_each_file(struct run *r, const char *doing,
	    int (*step)(struct stage *s, int from, uint64_t size, int to,
			uint64_t to_offset, uint64_t deadline_ns,
			int (*interrupted)(void), struct fault *f),
	    struct fault *f)
{
	uint64_t deadline = r->hold.deadline_ns ? r->hold.deadline_ns
						: UINT64_MAX;

	for (enum role k = 0; k < ROLE_COUNT; k++) {
		const struct held *h = &r->hold.held[k];

		if (h->fd >= 0 &&
		    step(r->stage, h->fd, (uint64_t)h->st.st_size,
			 packet_writer_fd(r->packet),
			 packet_writer_offset(r->packet, k), deadline,
			 signals_pending, f))
			return fault_wrap(f, "%s %s", doing, role_name(k));
	}
	return 0;
}

static int
S_read_twice(struct run *r, struct fault *f)
{
	bool present[ROLE_COUNT];
	uint64_t bytes[ROLE_COUNT];
	int rc;

	for (enum role k = 0; k < ROLE_COUNT; k++) {
		present[k] = r->hold.held[k].fd >= 0;
		bytes[k] = present[k] ?
			   (uint64_t)r->hold.held[k].st.st_size : 0;
	}
	r->now_ns = clock_real_ns();
	rc = packet_writer_reserve(r->packet, r->selection.base, present,
				   bytes, f);
	if (!rc)
		rc = S_each_file(r, "read", stage_copy, f);
	if (!rc)
		rc = hold_still(&r->hold, f);
	if (!rc)
		rc = S_each_file(r, "read again", stage_compare, f);
	if (!rc)
		rc = hold_still(&r->hold, f);
	/*
	 * Who came after the writers stood still shows by the change times;
	 * without a writer there is all the time to look for him as well.
	 */
	if (!rc && !r->hold.pause)
		rc = hold_alone(&r->hold, f);
	return rc;
}

/* ---- one attempt ---- */

/* What the writer's memory said is held against the pages. */
static int
S_confirm(struct run *r, struct fault *f)
{
	struct ask_side side;

	r->confirmed = 0;
	if (strcmp(r->hold.binding, "writer-memory") != 0)
		return 0;
	memset(&side, 0, sizeof(side));
	packet_writer_side(r->packet, EVIDENCE_FD, r->now_ns, &side);
	return bind_confirm(&side, packet_writer_read_fd(r->packet),
			    &r->confirmed, f);
}

/* Each helper answers once. */
static int
S_helper(struct run *r, struct fault *f)
{
	if (r->attempts == 1)
		return 0;
	warden_free(r->helper);
	r->helper = NULL;
	return inspect_begin(&r->helper, r->packet, f);
}

/* Nobody is paused before the sandbox stands. */
static int
S_hold(struct run *r, struct fault *f)
{
	int rc = hold_look(&r->hold, &r->selection, &r->rules, f);
	bool live = rc == 0;

	if (rc < 0)
		return rc;
	rc = warden_ready(r->helper, f);
	if (rc)
		return rc;
	return live ? hold_live(&r->hold, &r->selection, &r->rules, f)
		    : hold_stopped(&r->hold, &r->selection, &r->rules, f);
}

static int
S_attempt(struct run *r, struct fault *f)
{
	int rc;

	hold_free(&r->hold);
	r->read = false;
	r->attempts++;
	rc = S_helper(r, f);
	if (!rc)
		rc = S_hold(r, f);
	r->read = rc == 0;
	if (!rc)
		rc = S_read_twice(r, f);
	hold_resume(&r->hold);
	if (!rc)
		rc = inspect_ask(r->helper, r->packet, r->now_ns, f);
	hold_release(&r->hold);
	if (!rc)
		packet_writer_begin_sync(r->packet);
	if (!rc)
		rc = inspect_answer(r->helper, &r->found, f);
	if (!rc)
		rc = S_confirm(r, f);
	if (!rc)
		rc = inspect_judge(&r->found, &r->hold, r->q->refuse_journal,
				   f);
	return rc;
}

/* Lets the writers get on; ends early when a signal asks us to end. */
static void
S_let_them_run(uint64_t ns)
{
	uint64_t until = clock_mono_ns() + ns;
	struct pollfd p = { .fd = -1 };

	while (!signals_pending() && clock_left_ns(until) > 0) {
		struct timespec step = {
			.tv_nsec = clock_left_ns(until) < LOOK_EVERY_NS ?
				   (long)clock_left_ns(until) : LOOK_EVERY_NS,
		};

		(void)ppoll(&p, 0, &step, NULL);
	}
}

/*
 * What is ambiguous now may be plain after the writer's next commit or
 * checkpoint, and where a process came or went while we stopped the others
 * the next one may not. What moved during the reads is told instead.
 */
static bool
S_may_pass(const struct run *r, const struct fault *tried)
{
	if (tried->code == FAULT_AMBIGUOUS)
		return r->hold.nprocs > 0;
	return tried->code == FAULT_UNSTABLE && !r->read;
}

/* Other moments are tried, ever farther apart. */
static int
S_attempts(struct run *r, struct fault *f)
{
	uint64_t until = clock_mono_ns() + r->rules.stop_ns;
	uint64_t wait = FIRST_WAIT_NS;
	struct fault tried = FAULT_INIT;

	while (S_attempt(r, &tried)) {
		bool last = r->attempts == ATTEMPTS_MAX ||
			    clock_left_ns(until) == 0;

		if (!S_may_pass(r, &tried) || last) {
			*f = tried;
			return r->attempts > 1 ?
			       fault_wrap(f, "%u attempts", r->attempts) :
			       -(int)f->code;
		}
		S_let_them_run(wait);
		if (signals_pending())
			return fault_set(f, FAULT_INTERRUPTED, "interrupted");
		wait = wait * 2 > LONGEST_WAIT_NS ? LONGEST_WAIT_NS : wait * 2;
	}
	return 0;
}

/* ---- the packet ---- */

static int64_t
S_stat_ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * (int64_t)CLOCK_NS_PER_SEC + t->tv_nsec;
}

static void
S_fill_members(const struct run *r, struct manifest *m)
{
	for (enum role k = 0; k < ROLE_COUNT; k++) {
		const struct stat *st = &r->hold.held[k].st;

		if (r->hold.held[k].fd < 0)
			continue;
		m->member[k].dev = (uint64_t)st->st_dev;
		m->member[k].ino = (uint64_t)st->st_ino;
		m->member[k].nlink = (uint64_t)st->st_nlink;
		m->member[k].mode = st->st_mode & 07777;
		m->member[k].uid = st->st_uid;
		m->member[k].gid = st->st_gid;
		m->member[k].mtime_ns = S_stat_ns(&st->st_mtim);
		m->member[k].ctime_ns = S_stat_ns(&st->st_ctim);
	}
}

static int
S_fill_processes(const struct hold *h, struct manifest *m, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < h->writers.count; i++)
		rc = manifest_process(h->writers.writer[i].paused ?
				      &m->writers : &m->holders,
				      &h->writers.writer[i], f);
	return rc;
}

/* Did pages tie the WAL or the journal to main? */
static const char *
S_content(const struct run *r)
{
	if (strcmp(r->hold.binding, "content") == 0 || r->confirmed > 0)
		return "agrees";
	return strcmp(r->hold.binding, "writer-memory") == 0 ? "silent"
							     : "not-asked";
}

static int
S_fill_checks(const struct run *r, struct manifest *m, struct fault *f)
{
	const struct hold *h = &r->hold;
	const struct {
		const char *name, *outcome;
	} checks[] = {
		{ "states", h->nprocs ? "stopped" : "no-writer" },
		{ "identities", "same" },
		{ "second-read", "equal" },
		{ "names", h->displaced ? "displaced" : "agree" },
		{ "content", S_content(r) },
		{ "header", r->found.header },
		{ "journal", r->found.journal },
		{ "salts", "agree" },
		{ "super-journal", "none" },
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(checks) / sizeof(checks[0]);
	     i++)
		rc = manifest_check(m, checks[i].name, checks[i].outcome, f);
	return rc;
}

static int
S_fill_manifest(const struct run *r, struct manifest *m, struct fault *f)
{
	const struct hold *h = &r->hold;
	uint64_t past = clock_real_ns() - r->now_ns;
	int rc;

	manifest_init(m);
	(void)strncpy(m->version, HOLDFAST_VERSION, sizeof(m->version) - 1);
	(void)strncpy(m->authority, h->authority, sizeof(m->authority) - 1);
	(void)strncpy(m->binding, h->binding, sizeof(m->binding) - 1);
	m->utc_ns = r->now_ns;
	m->boottime_ns = clock_boot_ns() - past;
	if (clock_boot_id(m->boot_id))
		m->boot_id[0] = '\0';
	m->displaced = h->displaced;
	m->pause_ns = h->pause_ns;
	m->attempts = r->attempts;
	S_fill_members(r, m);
	rc = manifest_name(m, r->selection.base, f);
	if (!rc)
		rc = S_fill_processes(h, m, f);
	if (!rc)
		rc = S_fill_checks(r, m, f);
	for (size_t i = 0; rc == 0 && i < h->notes.count; i++)
		rc = notes_add(&m->not_checked, f, h->notes.note[i].what, "%s",
			       h->notes.note[i].why);
	return rc;
}

int
capture_run(const struct capture_request *q, struct capture_result *out,
	    struct fault *f)
{
	OWN_MANIFEST(m);
	OWN_RUN(r);
	int rc;

	memset(out, 0, sizeof(*out));
	rc = S_run_init(&r, q, f);
	if (!rc)
		rc = S_prepare(&r, f);
	if (!rc)
		rc = S_attempts(&r, f);
	if (!rc)
		rc = inspect_note(&r.found, &r.hold.notes, f);
	if (!rc)
		rc = hold_describe(&r.hold, f);
	if (!rc)
		rc = S_fill_manifest(&r, &m, f);
	if (!rc)
		rc = packet_writer_finish(r.packet, r.stage, &m, f);
	if (!rc)
		rc = result_fill(out, &r.hold, r.selection.base, f);
	if (!rc)
		rc = packet_writer_publish(r.packet, out->id, f);
	if (rc) {
		capture_result_free(out);
		return fault_wrap(f, "capture %s", q->db);
	}
	out->attempts = r.attempts;
	out->packet = TAKE_MEM(r.output);
	for (enum role k = 0; k < ROLE_COUNT; k++)
		if (out->file[k].present)
			digest_hex(m.member[k].sha256, out->file[k].sha256);
	return 0;
}
