/*
 * warden.c - starts the recover helper, watches it, reads its answer
 */
#include "warden/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "warden/ended.h"
#include "warden/hello.h"
#include "warden/place.h"
#include "warden/seen.h"
#include "warden/spawn.h"

#define WARDEN_MAGIC 0x77617264u
#define WARDEN_READY_NS (10 * CLOCK_NS_PER_SEC)	/* until HELLO */
#define WARDEN_END_NS (5 * CLOCK_NS_PER_SEC)	/* from its EOF to its exit */
#define WARDEN_PIPE_BYTES (1 << 20)
#define WARDEN_WALL_FACTOR 4ull

/*
 * BOUNDARY warden.reply
 *
 * Before:   a helper in its sandbox, evidence in its hands.
 * After:    frames of the promised shape in the caller's.
 * Crosses:  bytes that the evidence may have chosen.
 * If it is broken: the front end would act on an answer that no helper of
 *           ours gives. So: sizes and times are capped here, shapes are
 *           checked by reply/wire, a fault may carry only the codes that
 *           evidence can cause, and an answer counts only with its END, the
 *           right number of frames, and exit status 0.
 * Shown by: tests/unit/t_warden.c, tests/fuzz/f_reply.c
 */

struct warden {
	unsigned magic;
	pid_t pid;			/* 0: reaped, or never started */
	int pidfd, ask, reply;		/* owned */
	uint32_t cpu_seconds;
	uint64_t wall_seconds;
	uint64_t memory;
	bool ready;			/* its sandbox was seen to stand */
	bool handed;			/* the ask went out */
	uint64_t began_ns;
	struct seen_want want;
	struct wire_reader reader;
	unsigned char *last;		/* owned: END's payload */
	struct warden_seen seen;
};

/* The codes that a helper in its sandbox has a right to. */
static bool
S_may_say(enum fault_code code, bool handed)
{
	switch (code) {
	case FAULT_USAGE:
	case FAULT_TROUBLE:
	case FAULT_CAP:
	case FAULT_REFUSED:
	case FAULT_AMBIGUOUS:
	case FAULT_UNSTABLE:
	case FAULT_DAMAGED:
		return true;
	case FAULT_SANDBOX:
		return !handed;
	case FAULT_NONE:
	case FAULT_INTERRUPTED:
		break;
	}
	return false;
}

static int
S_malformed(struct fault *f, const char *what)
{
	return fault_set(f, FAULT_SANDBOX,
			 "the helper's answer is malformed: %s", what);
}

static int
S_said_fault(const struct warden *w, struct wire_frame *fr, struct fault *f)
{
	int64_t code;
	int rc = wire_get_int(fr, &code, f);
	OWN_MEM(char, text);
	OWN_MEM(char, hint);

	if (!rc)
		rc = wire_get_text(fr, &text, f);
	if (!rc)
		rc = wire_get_text(fr, &hint, f);
	if (!rc)
		rc = wire_get_done(fr, f);
	if (rc)
		return rc;
	if (code <= 0 || code > FAULT_DAMAGED ||
	    !S_may_say((enum fault_code)code, w->handed))
		return S_malformed(f, "a fault of no known kind");
	rc = fault_set(f, (enum fault_code)code, "%s", text);
	if (hint[0])
		(void)fault_hint(f, "%s", hint);
	return rc;
}

/* Waits for its end: 0 where it exited with 0, else why it did not. */
static int
S_end(struct warden *w, struct fault *f)
{
	struct spawn_end e = { 0 };
	int rc = spawn_wait(w->pid, w->pidfd, clock_mono_ns() + WARDEN_END_NS,
			    &e, f);

	if (rc == 1)
		return S_malformed(f, "it ended and the helper did not");
	w->pid = 0;
	return rc ? rc : ended_say(&e, w->cpu_seconds, w->memory, f);
}

/*
 * A stream that stopped early, or inside a frame: how the helper died says
 * more than where its answer broke off.
 */
static int
S_broke_off(struct warden *w, struct fault *f)
{
	struct pollfd p = { .fd = w->reply, .events = POLLIN };
	struct fault how = FAULT_INIT;

	if (poll(&p, 1, 0) != 1 || (p.revents & POLLIN))
		return -(int)f->code;	/* not at its end: it still writes */
	if (S_end(w, &how))
		*f = how;
	return -(int)f->code;
}

/* END is the last: its count is right, nothing follows, exit status 0. */
static int
S_finish(struct warden *w, struct wire_frame *fr, struct fault *f)
{
	size_t n = (size_t)(fr->end - fr->at);
	uint64_t before = w->reader.frames - 1;
	struct wire_frame end = *fr, extra;
	int64_t count;
	int rc;

	/* The reader's buffer moves when it looks for more. */
	w->last = malloc(n + 1);
	if (!w->last)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	if (n > 0)
		memcpy(w->last, fr->at, n);
	end.at = w->last;
	end.end = w->last + n;
	rc = wire_get_int(&end, &count, f);
	if (rc)
		return rc;
	if (count < 0 || (uint64_t)count != before)
		return S_malformed(f, "frames are missing");
	rc = wire_read(&w->reader, &extra, f);
	if (rc == 0)
		return S_malformed(f, "it goes on behind its end");
	if (rc < 0)
		return rc;
	rc = S_end(w, f);
	if (rc)
		return rc;
	*fr = end;
	return 1;
}

static int
S_read(struct warden *w, struct wire_frame *fr, struct fault *f)
{
	int rc = wire_read(&w->reader, fr, f);

	if (rc == 1) {
		(void)S_malformed(f, "it ends before its end");
		return S_broke_off(w, f);
	}
	if (rc == -FAULT_SANDBOX)
		return S_broke_off(w, f);
	if (rc == -FAULT_CAP && w->reader.deadline_ns &&
	    clock_left_ns(w->reader.deadline_ns) == 0) {
		if (!w->handed)
			return fault_set(f, FAULT_SANDBOX,
					 "the helper did not get ready in"
					 " time");
		fault_set(f, FAULT_CAP, "the answer took more than %llu s",
			  (unsigned long long)w->wall_seconds);
		return fault_hint(f, "--time-limit SEC allows more");
	}
	return rc;
}

int
warden_next(struct warden *w, struct wire_frame *fr, struct fault *f)
{
	int rc;

	MUST(w->magic == WARDEN_MAGIC && w->handed && !w->last);
	rc = S_read(w, fr, f);
	if (rc)
		return rc;
	switch (fr->type) {
	case WIRE_HELLO:
		return S_malformed(f, "a second greeting");
	case WIRE_FAULT:
		return S_said_fault(w, fr, f);
	case WIRE_END:
		return S_finish(w, fr, f);
	default:
		return 0;
	}
}

/* One text of the greeting; a longer one is cut. */
static int
S_hello(struct warden *w, struct fault *f)
{
	struct wire_frame fr;
	int rc;

	w->reader.deadline_ns = clock_mono_ns() + WARDEN_READY_NS;
	rc = S_read(w, &fr, f);
	if (rc)
		return rc;
	if (fr.type == WIRE_FAULT)
		return S_said_fault(w, &fr, f);
	if (fr.type != WIRE_HELLO)
		return S_malformed(f, "it does not start with a greeting");
	return hello_take(&fr, &w->seen, f);
}

/*
 * A socket on our side, so that a helper that died gives EPIPE and no
 * SIGPIPE whatever the caller does with that signal.
 */
static int
S_send(const struct warden *w, const void *bytes, size_t n, struct fault *f)
{
	const char *at = bytes;
	struct pollfd p = { .fd = w->ask, .events = POLLOUT };

	while (n > 0) {
		ssize_t sent = send(w->ask, at, n,
				    MSG_NOSIGNAL | MSG_DONTWAIT);
		uint64_t left = clock_left_ns(w->reader.deadline_ns);

		if (sent >= 0) {
			at += sent;
			n -= (size_t)sent;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return fault_sys(f, FAULT_TROUBLE, errno,
					 "hand the ask to the helper");
		if (left == 0)
			return fault_set(f, FAULT_CAP,
					 "the helper did not take the ask in"
					 " time");
		(void)poll(&p, 1, (int)(left / 1000000) + 1);
	}
	return 0;
}

static int
S_hand_over(struct warden *w, const struct ask *ask, const char *text,
	    struct fault *f)
{
	struct ask sent = *ask;
	int rc;

	sent.memory_limit = w->memory;
	sent.output_limit = w->reader.limit;
	w->handed = true;
	w->reader.deadline_ns = clock_mono_ns() +
				w->wall_seconds * CLOCK_NS_PER_SEC;
	rc = S_send(w, &sent, sizeof(sent), f);
	if (!rc)
		rc = S_send(w, text, sent.text_bytes, f);
	own_fd_close(&w->ask);
	/* It may be gone: then how it ended is the better answer. */
	return rc == -FAULT_TROUBLE ? S_broke_off(w, f) : rc;
}

static int
S_channels(struct warden *w, int *ask, int *reply, struct fault *f)
{
	int pair[2], pipes[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "make a channel to the helper");
	w->ask = pair[0];
	*ask = pair[1];
	(void)shutdown(*ask, SHUT_WR);
	if (pipe2(pipes, O_CLOEXEC))
		return fault_sys(f, FAULT_TROUBLE, errno,
				 "make a channel from the helper");
	w->reply = pipes[0];
	*reply = pipes[1];
	/* Fewer turns between the two; a small pipe works too. */
	(void)fcntl(w->reply, F_SETPIPE_SZ, WARDEN_PIPE_BYTES);
	return 0;
}

static int
S_spawn(struct warden *w, int program, const int *evidence, size_t n,
	struct fault *f)
{
	struct spawn s = { .helper = program, .evidence = evidence, .n = n,
			   .cpu_seconds = w->cpu_seconds };
	OWN_FD(ask);
	OWN_FD(reply);
	int rc = S_channels(w, &ask, &reply, f);

	if (rc)
		return rc;
	s.ask = ask;
	s.reply = reply;
	return spawn_run(&s, &w->pid, &w->pidfd, f);
}

static struct warden *
S_new(const struct warden_limits *limits)
{
	static const struct warden_limits defaults;
	struct warden *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	if (!limits)
		limits = &defaults;
	w->magic = WARDEN_MAGIC;
	w->pidfd = w->ask = w->reply = -1;
	w->memory = limits->memory ? limits->memory : ASK_MEMORY_DEFAULT;
	w->cpu_seconds = limits->cpu_seconds ? limits->cpu_seconds
					     : WARDEN_CPU_DEFAULT;
	w->wall_seconds = limits->wall_seconds ? limits->wall_seconds
			  : w->cpu_seconds * WARDEN_WALL_FACTOR;
	wire_reader_init(&w->reader, -1, limits->output ? limits->output
							: ASK_OUTPUT_DEFAULT);
	w->reader.interrupted = limits->interrupted;
	return w;
}

static int
S_begin(struct warden **w, int program, const int *evidence, size_t n,
	const struct warden_limits *limits, struct fault *f)
{
	int rc;
	OWN_WARDEN(new);

	if (n > SPAWN_EVIDENCE_MAX)
		return fault_set(f, FAULT_CAP,
				 "more than %u files of evidence at once",
				 SPAWN_EVIDENCE_MAX);
	new = S_new(limits);
	if (!new)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	new->began_ns = clock_mono_ns();
	seen_want(&new->want, n);
	rc = S_spawn(new, program, evidence, n, f);
	if (rc)
		return rc;
	new->seen.pid = new->pid;
	new->reader.fd = new->reply;
	*w = new;
	new = NULL;
	return 0;
}

int
warden_begin(struct warden **w, const int *evidence, size_t n,
	     const struct warden_limits *limits, struct fault *f)
{
	int rc;
	OWN_FD(program);

	rc = place_open(&program, f);
	if (!rc)
		rc = S_begin(w, program, evidence, n, limits, f);
	return rc;
}

int
warden_ready(struct warden *w, struct fault *f)
{
	int rc;

	MUST(w->magic == WARDEN_MAGIC);
	if (w->ready)
		return 0;
	rc = S_hello(w, f);
	if (!rc)
		rc = seen_check(w->pid, &w->want, &w->seen, f);
	w->seen.ready_ns = clock_mono_ns() - w->began_ns;
	w->ready = rc == 0;
	return rc;
}

int
warden_ask(struct warden *w, const struct ask *ask, const char *text,
	   struct fault *f)
{
	int rc;

	MUST(w->magic == WARDEN_MAGIC && w->ready && !w->handed);
	MUST(ask->text_bytes == 0 || text);
	rc = ask_check(ask, f);
	return rc ? rc : S_hand_over(w, ask, text, f);
}

int
warden_start_program(struct warden **w, int program, const int *evidence,
		     size_t n, const struct ask *ask, const char *text,
		     const struct warden_limits *limits, struct fault *f)
{
	int rc;
	OWN_WARDEN(new);

	rc = ask_check(ask, f);
	if (!rc)
		rc = S_begin(&new, program, evidence, n, limits, f);
	if (!rc)
		rc = warden_ready(new, f);
	if (!rc)
		rc = warden_ask(new, ask, text, f);
	if (rc)
		return rc;
	*w = new;
	new = NULL;
	return 0;
}

int
warden_start(struct warden **w, const int *evidence, size_t n,
	     const struct ask *ask, const char *text,
	     const struct warden_limits *limits, struct fault *f)
{
	int rc;
	OWN_FD(program);

	rc = place_open(&program, f);
	if (!rc)
		rc = warden_start_program(w, program, evidence, n, ask, text,
					  limits, f);
	return rc;
}

const struct warden_seen *
warden_seen(const struct warden *w)
{
	MUST(w->magic == WARDEN_MAGIC);
	return &w->seen;
}

void
warden_free(struct warden *w)
{
	if (!w)
		return;
	MUST(w->magic == WARDEN_MAGIC);
	if (w->pid > 0)
		spawn_kill(w->pid, w->pidfd);
	own_fd_close(&w->pidfd);
	own_fd_close(&w->ask);
	own_fd_close(&w->reply);
	wire_reader_free(&w->reader);
	free(w->last);
	w->magic = 0;
	free(w);
}
