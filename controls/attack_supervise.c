/*
 * attack_supervise.c - answers the command's calls, and attacks
 *
 * While a window is awaited or open (attack_window.h) no call but the one
 * that it is about is answered: the others are put off, in their order.
 */
#include "controls/attack_supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "controls/attack.h"
#include "controls/attack_answer.h"
#include "controls/attack_target.h"
#include "controls/attack_where.h"
#include "controls/attack_window.h"

#define WINDOW_TICK 1		/* ms */
/* One for each thread of the command at most. */
#define WAITING_MAX (1 << 16)
#define NS 1000000000L

struct supervise {
	const struct plan *p;
	const struct launch *l;
	struct account *r;
	struct outcome *out;
	int signals;
	int64_t until;		/* 0: no deadline */
	bool over;
	struct seccomp_notif *got;	/* as large as the kernel's */
	size_t size;
	struct window window;
	struct seccomp_notif *waiting;	/* put off, in their order */
	size_t nwaiting, room;
};

static int64_t
S_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS + t.tv_nsec;
}

static void
S_over(struct supervise *s, int status)
{
	if (!s->over || status == ATTACK_TROUBLE) {
		s->out->status = status;
		s->out->ended = false;
	}
	s->over = true;
}

static void
S_must(struct supervise *s, int rc)
{
	if (rc < 0)
		S_over(s, ATTACK_TROUBLE);
}

static void
S_continue(struct supervise *s, const struct seccomp_notif *n)
{
	int rc = answer_continue(s->window.listener, n->id);

	S_must(s, rc);
	if (!rc && !s->p->inject && flight_went(&s->window.flight, n)) {
		attack_say("no memory");
		S_over(s, ATTACK_TROUBLE);
	}
}

static bool
S_valid(const struct supervise *s, const struct seccomp_notif *n)
{
	__u64 id = n->id;

	return !ioctl(s->window.listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id);
}

static void
S_inject(struct supervise *s, const struct seccomp_notif *n,
	 const struct target_open *o, struct swap *swap, cJSON *line)
{
	struct injected got;

	if (o->flags & O_PATH) {
		/* The kernel does not pass such a descriptor on. */
		swap->paths++;
		account_done(s->r, line, "not injected: O_PATH");
		S_continue(s, n);
		return;
	}
	if (answer_inject(s->window.listener, n->id, o->flags, swap, &got)) {
		account_done(s->r, line, "failed");
		S_over(s, ATTACK_TROUBLE);
		return;
	}
	if (got.gone) {
		swap->opens--;
		account_done(s->r, line, "gone");
		return;
	}
	swap->attacks++;
	if (line && got.error)
		cJSON_AddStringToObject(line, "error", strerror(got.error));
	else if (line)
		cJSON_AddNumberToObject(line, "descriptor", got.descriptor);
	account_done(s->r, line, got.error ? "answered" : "injected");
}

static void
S_open(struct supervise *s, const struct seccomp_notif *n,
       const struct target_open *o, const struct where *w)
{
	cJSON *line = account_seen(s->r, (pid_t)n->pid, o, w);
	const char *done = "passed";

	if (w->swap && w->by_descriptor && !s->p->inject) {
		/* No name is looked up: none can lead it astray. */
		done = "by descriptor";
	} else if (w->swap) {
		unsigned long k = ++w->swap->opens;

		if (s->p->every || k == s->p->at) {
			if (s->p->inject)
				S_inject(s, n, o, w->swap, line);
			else
				S_must(s, window_open(&s->window, n,
						      w->swap, line));
			return;
		}
	}
	account_done(s->r, line, done);
	S_continue(s, n);
}

static void
S_call(struct supervise *s, const struct seccomp_notif *n)
{
	struct target_open o;
	struct where w = { .dir = -1 };
	int rc = target_decode(n, &o);

	if (rc > 0) {
		S_continue(s, n);
		return;
	}
	if (!rc)
		where_find(&w, (pid_t)n->pid, &o, s->p->swaps, s->p->nswaps);
	/* What was read was of another thread, if this one has died. */
	if (!S_valid(s, n))
		;
	else if (rc < 0) {
		account_done(s->r, account_seen(s->r, (pid_t)n->pid, &o, &w),
			    "unread");
		S_continue(s, n);
	} else {
		S_open(s, n, &o, &w);
	}
	where_release(&w);
}

static void
S_put_off(struct supervise *s, const struct seccomp_notif *n)
{
	if (s->nwaiting == s->room) {
		size_t room = s->room ? 2 * s->room : 16;
		struct seccomp_notif *more = room > WAITING_MAX ? NULL :
			realloc(s->waiting, room * sizeof(*more));

		if (!more) {
			attack_say("too many calls wait");
			S_over(s, ATTACK_TROUBLE);
			return;
		}
		s->waiting = more;
		s->room = room;
	}
	s->waiting[s->nwaiting++] = *n;
}

static void
S_go_on(struct supervise *s)
{
	while (s->window.stage == WINDOW_SHUT && s->nwaiting && !s->over) {
		struct seccomp_notif n = s->waiting[0];

		s->nwaiting--;
		memmove(s->waiting, s->waiting + 1,
			s->nwaiting * sizeof(*s->waiting));
		S_call(s, &n);
	}
}

static void
S_receive(struct supervise *s)
{
	memset(s->got, 0, s->size);
	if (ioctl(s->window.listener, SECCOMP_IOCTL_NOTIF_RECV, s->got)) {
		/* It died before we could read it. */
		if (errno != ENOENT && errno != EINTR) {
			attack_say("receive a call: %s", strerror(errno));
			S_over(s, ATTACK_TROUBLE);
		}
		return;
	}
	S_must(s, window_came(&s->window, s->got));
	if (s->window.stage == WINDOW_SHUT)
		S_call(s, s->got);
	else
		S_put_off(s, s->got);
}

/* The command is left as it is, so that its number stays its own. */
static void
S_child(struct supervise *s)
{
	siginfo_t si = { 0 };

	if (waitid(P_PID, (id_t)s->l->pid, &si, WEXITED | WNOHANG | WNOWAIT) ||
	    si.si_pid != s->l->pid)
		return;
	if (s->over)
		return;
	s->over = true;
	s->out->ended = true;
	s->out->status = si.si_code == CLD_EXITED ? si.si_status
						  : 128 + si.si_status;
}

static void
S_signal(struct supervise *s)
{
	struct signalfd_siginfo si;

	if (read(s->signals, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return;
	if (si.ssi_signo == SIGCHLD)
		S_child(s);
	else
		S_over(s, 128 + (int)si.ssi_signo);
}

static int
S_wait_ms(const struct supervise *s)
{
	int64_t left;

	if (s->window.stage != WINDOW_SHUT)
		return WINDOW_TICK;
	if (!s->until)
		return -1;
	left = (s->until - S_now()) / 1000000 + 1;
	return left < 0 ? 0 : left > 1000000 ? 1000000 : (int)left;
}

static void
S_loop(struct supervise *s)
{
	struct pollfd p[2] = {
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = s->window.listener, .events = POLLIN },
	};

	while (!s->over) {
		if (poll(p, 2, S_wait_ms(s)) < 0 && errno != EINTR) {
			attack_say("poll: %s", strerror(errno));
			S_over(s, ATTACK_TROUBLE);
		}
		if (p[0].revents & POLLIN)
			S_signal(s);
		if (p[1].revents & POLLIN)
			S_receive(s);
		else if (p[1].revents)
			p[1].fd = -1;	/* nobody is under the filter */
		S_must(s, window_look(&s->window));
		S_go_on(s);
		if (s->until && S_now() > s->until && !s->over) {
			attack_say("the deadline of %lu s is over",
				   s->p->seconds);
			S_over(s, ATTACK_DEADLINE);
		}
	}
	S_must(s, window_end(&s->window));
}

static int
S_begin(struct supervise *s)
{
	struct seccomp_notif_sizes sizes;
	sigset_t set;

	if (syscall(__NR_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes)) {
		attack_say("seccomp: %s", strerror(errno));
		return -1;
	}
	s->size = sizes.seccomp_notif > sizeof(*s->got) ?
		sizes.seccomp_notif : sizeof(*s->got);
	s->got = calloc(1, s->size);
	supervise_signals(&set);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (s->got && s->signals >= 0)
		return 0;
	attack_say("begin: %s", strerror(errno));
	return -1;
}

void
supervise_signals(sigset_t *set)
{
	static const int ours[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP,
				    SIGQUIT };

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		sigaddset(set, ours[i]);
}

void
supervise_run(const struct plan *p, const struct launch *l,
	      const struct filter_listener *listener, struct account *r,
	      struct outcome *out)
{
	struct supervise s = {
		.p = p, .l = l, .r = r, .out = out,
		.signals = -1,
		.until = p->seconds ?
			S_now() + (int64_t)p->seconds * NS : 0,
	};

	*out = (struct outcome){ .status = ATTACK_TROUBLE };
	window_begin(&s.window, listener, r);
	if (!S_begin(&s))
		S_loop(&s);
	if (s.signals >= 0)
		close(s.signals);
	free(s.got);
	free(s.waiting);
}
