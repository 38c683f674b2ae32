/*
 * bind_pages.c - what the pages say of sidecars and mains
 */
#include "capture/bind.h"

#include <string.h>

#include "base/clock.h"
#include "base/plural.h"
#include "capture/bind_pages.h"
#include "capture/signals.h"
#include "warden/warden.h"

#define CONFIRM_SECONDS 10u

static int
S_collect(struct warden *w, struct matches *ms, struct fault *f)
{
	struct wire_frame fr;
	int rc;

	while ((rc = warden_next(w, &fr, f)) == 0) {
		int64_t side, against;
		struct match m;

		if (fr.type != WIRE_MATCH)
			continue;
		if (wire_get_int(&fr, &side, f) ||
		    wire_get_int(&fr, &against, f) ||
		    wire_get_int(&fr, &m.compared, f) ||
		    wire_get_int(&fr, &m.equal, f) ||
		    wire_get_int(&fr, &m.distinctive, f) ||
		    wire_get_done(&fr, f))
			return -(int)f->code;
		if (side < 0 || side >= (int64_t)ms->n || against < 0 ||
		    against >= (int64_t)ms->n)
			return fault_set(f, FAULT_SANDBOX, "the helper's answer"
					 " names a file that it was not given");
		ms->m[side][against] = m;
	}
	return rc == 1 ? 0 : rc;
}

static int
S_run(const struct ask *ask, const int *fds, size_t nfds,
      uint32_t wall_seconds, struct matches *ms, struct fault *f)
{
	struct warden_limits limits = {
		.cpu_seconds = 5,
		.wall_seconds = wall_seconds,
		.interrupted = signals_pending,
	};
	OWN_WARDEN(w);
	int rc;

	memset(ms, 0, sizeof(*ms));
	ms->n = ask->nextras;
	rc = warden_start(&w, fds, nfds, ask, NULL, &limits, f);
	if (!rc)
		rc = S_collect(w, ms, f);
	if (rc)
		return fault_wrap(f, "compare sidecars with mains");
	return 0;
}

int
bind_ask(const struct candidates *c, uint64_t deadline_ns, struct matches *ms,
	 struct fault *f)
{
	int fds[ASK_EXTRAS];
	struct ask ask;

	if (c->count > ASK_EXTRAS)
		return fault_set(f, FAULT_CAP, "the writers have %zu database "
				 "files open, more than can be told apart (%u)",
				 c->count, ASK_EXTRAS);
	ask_init(&ask, ASK_BIND);
	ask.nextras = (uint32_t)c->count;
	for (size_t i = 0; i < c->count; i++) {
		const struct held *h = &c->list[i].held;

		fds[i] = h->fd;
		ask.extra[i] = (struct ask_member){
			.present = 1,
			.role = h->role,
			.fd = EVIDENCE_FD + (int)i,
			.size = (uint64_t)h->st.st_size,
		};
	}
	return S_run(&ask, fds, c->count,
		     (uint32_t)(clock_left_ns(deadline_ns) /
				CLOCK_NS_PER_SEC) + 1, ms, f);
}

static int
S_not_descended(const struct held held[ROLE_COUNT], const struct match *m,
		struct fault *f)
{
	const struct stat *wal = &held[ROLE_WAL].st;
	const struct stat *main = &held[ROLE_MAIN].st;

	fault_set(f, FAULT_REFUSED, "the WAL %ju:%ju does not descend from "
		  "main %ju:%ju: main lacks %lld of %lld page%s that a "
		  "checkpoint copied back", (uintmax_t)wal->st_dev,
		  (uintmax_t)wal->st_ino, (uintmax_t)main->st_dev,
		  (uintmax_t)main->st_ino,
		  (long long)(m->compared - m->equal), (long long)m->compared,
		  plural_s((uint64_t)m->compared));
	return fault_hint(f, "they were copied at different times, or one of "
			  "them was replaced: stock SQLite would replay one "
			  "over the other");
}

int
bind_idle(const struct held held[ROLE_COUNT], enum role sidecar,
	  uint64_t deadline_ns, bool *proven, struct fault *f)
{
	struct candidate list[ROLE_COUNT] = { { .held = held[ROLE_MAIN] } };
	struct candidates c = { .list = list, .count = 1 };
	static struct matches ms;
	const struct match *m, *shm;
	int rc;

	list[c.count++].held = held[sidecar];
	if (sidecar == ROLE_WAL && held[ROLE_SHM].fd >= 0)
		list[c.count++].held = held[ROLE_SHM];
	rc = bind_ask(&c, deadline_ns, &ms, f);
	if (rc)
		return rc;
	m = &ms.m[1][0];
	shm = &ms.m[2][1];
	if (sidecar == ROLE_WAL && m->equal < m->compared)
		return S_not_descended(held, m, f);
	/*
	 * Frames that main holds show the same database, not the same time: a
	 * main copied later than its WAL has them too. The SHM is of its time.
	 */
	*proven = sidecar == ROLE_WAL ? shm->equal > 0 : m->equal > 0;
	return 0;
}

int
bind_confirm(const struct ask_side *side, int fd, int64_t *compared,
	     struct fault *f)
{
	static struct matches ms;
	const struct match *m = &ms.m[1][0];
	struct ask ask;
	int rc;

	*compared = 0;
	ask_init(&ask, ASK_BIND);
	for (enum role r = ROLE_MAIN; r <= ROLE_SHM; r++)
		if (side->member[r].present)
			ask.extra[ask.nextras++] = side->member[r];
	if (!side->member[ROLE_WAL].present)
		return 0;
	rc = S_run(&ask, &fd, 1, CONFIRM_SECONDS, &ms, f);
	if (rc)
		return rc;
	*compared = m->compared;
	if (m->equal == m->compared)
		return 0;
	return fault_set(f, FAULT_REFUSED, "contradicting evidence: by its "
			 "writer's memory the WAL belongs to main, yet main "
			 "lacks %lld of %lld page%s that a checkpoint copied "
			 "back", (long long)(m->compared - m->equal),
			 (long long)m->compared,
			 plural_s((uint64_t)m->compared));
}
