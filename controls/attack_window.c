/*
 * attack_window.c - the time in which a name shows another file
 *
 * It begins when the calls that were let go before have returned
 * (attack_flight.h); until then nothing else is let go. It is from the
 * exchange until the thread that opens has left its open. What shuts it,
 * whichever is first:
 *   - that thread's next call that stops for us: it waits until the names
 *     are back, so whatever it looks at is as before;
 *   - a look at the thread that sees it outside its open (target_through).
 * Calls of all other threads and processes of the command wait meanwhile. It
 * is never shut under the open itself, so the attack does not depend on who
 * is faster.
 *
 * Signals: where the kernel knows WAIT_KILLABLE_RECV a call that we have
 * read is not restarted by them. Elsewhere it comes again with another id;
 * the answer to the first one fails then, the exchange is taken back, and
 * that open is not counted. A signal at the very answer is seen only later:
 * the same call comes again, and nothing was opened (S_restarted).
 */
#include "controls/attack_window.h"

#include <string.h>
#include <time.h>

#include "controls/attack_answer.h"
#include "controls/attack_journal.h"

#define NS 1000000000L

static int64_t
S_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

/* Nothing is crossed, and this open does not count. */
static void
S_forget(struct window *w, const char *done)
{
	account_done(w->account, w->line, done);
	w->line = NULL;
	w->stage = WINDOW_SHUT;
}

static int
S_put_back(struct window *w)
{
	if (swap_back(&w->swap->c))
		return -1;
	w->swap->crossed = false;
	return 0;
}

static int
S_shut(struct window *w)
{
	static const char *const done[SWAP_KINDS] = { "exchanged", "put in",
						      "taken out" };
	int gained = target_gained(&w->mark);
	int rc = S_put_back(w);

	w->swap->attacks++;
	if (w->line && gained >= 0)
		cJSON_AddNumberToObject(w->line, "descriptor", gained);
	if (w->line)
		cJSON_AddNumberToObject(w->line, "window_ns",
					(double)(S_now() - w->since));
	S_forget(w, done[w->swap->c.kind]);
	return rc;
}

static int
S_cross(struct window *w)
{
	struct swap *s = w->swap;
	int rc = swap_look(s);

	if (rc > 0) {
		S_forget(w, "absent already");
		return answer_continue(w->listener, w->call.id) < 0 ? -1 : 0;
	}
	if (!rc)
		rc = journal_record(s);
	if (rc) {
		S_forget(w, "failed");
		return -1;
	}
	target_mark(&w->mark, &w->call, s->other_dev, s->c.other_ino);
	if (swap_in(&s->c)) {
		S_forget(w, "failed");
		return -1;
	}
	s->crossed = true;
	w->stage = WINDOW_OPEN;
	w->since = S_now();
	rc = answer_continue(w->listener, w->call.id);
	if (!rc)
		return 0;
	s->opens--;
	S_forget(w, "gone");
	return S_put_back(w) || rc < 0 ? -1 : 0;
}

void
window_begin(struct window *w, const struct filter_listener *listener,
	     struct account *account)
{
	*w = (struct window){
		.listener = listener->fd,
		.killable = listener->killable,
		.account = account,
	};
}

int
window_open(struct window *w, const struct seccomp_notif *n,
	    struct swap *swap, cJSON *line)
{
	w->stage = WINDOW_AWAITED;
	w->swap = swap;
	w->call = *n;
	w->line = line;
	flight_watch(&w->flight);
	return window_look(w);
}

/*
 * A program that asks again by itself, as nothing was there, looks the same;
 * so where nothing can be gained it is not taken for a restart.
 */
static bool
S_restarted(const struct window *w, const struct seccomp_notif *n)
{
	return !w->killable && w->mark.ino &&
	       !memcmp(&n->data, &w->call.data, sizeof(n->data)) &&
	       target_gained(&w->mark) < 0;
}

int
window_came(struct window *w, const struct seccomp_notif *n)
{
	int rc = 0;

	flight_came(&w->flight, (pid_t)n->pid);
	if (w->stage == WINDOW_SHUT || w->call.pid != n->pid)
		return 0;
	if (w->stage == WINDOW_OPEN && !S_restarted(w, n))
		return S_shut(w);
	/* A signal took it out of its call, and it asks again. */
	if (w->stage == WINDOW_OPEN)
		rc = S_put_back(w);
	w->swap->opens--;
	S_forget(w, "gone");
	return rc;
}

int
window_look(struct window *w)
{
	switch (w->stage) {
	case WINDOW_AWAITED:
		return flight_landed(&w->flight) ? S_cross(w) : 0;
	case WINDOW_OPEN:
		return target_through(&w->mark) ? S_shut(w) : 0;
	default:
		return 0;
	}
}

int
window_end(struct window *w)
{
	int rc = 0;

	if (w->stage == WINDOW_OPEN)
		rc = S_shut(w);
	else if (w->stage == WINDOW_AWAITED)
		S_forget(w, "gone");
	flight_release(&w->flight);
	return rc;
}
