/*
 * pause.c - stops processes by ptrace, and owns that they run again
 *
 * BOUNDARY capture.pause
 *
 * Before:   the process runs; its files change under us.
 * After:    every thread is in a ptrace stop that only we, our death or
 *           SIGKILL can end.
 * Crosses:  nothing is read from or written to the process.
 * If it cannot be put up: a fault; what was seized is let go.
 * If it is broken: pause_check says so; what was read is thrown away.
 * Shown by: tests/unit/t_pause.c
 */
#include "capture/pause.h"

#include <stdlib.h>

#include "base/clock.h"
#include "capture/threads.h"
#include "capture/tracer.h"

struct target {
	struct tracer *tracer;
	struct threads *threads;
	uint64_t deadline_ns;
	bool resumed;
};

struct pause {
	struct target *target;
	size_t count;
	uint64_t began_ns;
};

int
pause_new(struct pause **p, struct fault *f)
{
	struct pause *made = calloc(1, sizeof(*made));

	if (!made)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	*p = made;
	return 0;
}

/* The jobs of the tracer thread. */
static int
S_stop(void *arg, struct fault *f)
{
	struct target *t = arg;

	return threads_stop(t->threads, t->deadline_ns, f);
}

static int
S_check(void *arg, struct fault *f)
{
	struct target *t = arg;

	return threads_check(t->threads, f);
}

static int
S_resume(void *arg, struct fault *f)
{
	struct target *t = arg;

	(void)f;
	threads_resume(t->threads);
	return 0;
}

static void
S_reap(void *arg)
{
	struct target *t = arg;

	threads_reap(threads_of(t->threads));
}

static struct target *
S_find(const struct pause *p, pid_t pid)
{
	for (size_t i = 0; i < p->count; i++)
		if (threads_of(p->target[i].threads)->pid == pid)
			return &p->target[i];
	return NULL;
}

static int
S_begin(struct pause *p, const struct proc *who, struct target **t,
	struct fault *f)
{
	struct target *grown = reallocarray(p->target, p->count + 1,
					    sizeof(*grown));
	struct target made = { .tracer = NULL };
	int rc;

	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	p->target = grown;
	rc = threads_new(&made.threads, who, f);
	if (rc)
		return rc;
	rc = tracer_start(&made.tracer, f);
	if (rc) {
		threads_free(made.threads);
		return rc;
	}
	*t = &grown[p->count++];
	**t = made;
	return 0;
}

/* What is stopped is detached by name, so that it runs when we return. */
static void
S_let_go(struct target *t)
{
	struct fault unused = FAULT_INIT;

	if (!t->resumed)
		(void)tracer_call(t->tracer, S_resume, S_reap, t, &unused);
	t->resumed = true;
}

/* What would not stop: the end of the tracer thread lets it go. */
static void
S_end(struct pause *p, struct target *t)
{
	S_let_go(t);
	tracer_end(t->tracer);
	threads_free(t->threads);
	*t = p->target[--p->count];
}

int
pause_add(struct pause *p, const struct proc *who, uint64_t deadline_ns,
	  struct fault *f)
{
	struct target *t = S_find(p, who->pid);
	int rc = t ? 0 : S_begin(p, who, &t, f);

	if (rc)
		return rc;
	t->deadline_ns = deadline_ns;
	if (!p->began_ns)
		p->began_ns = clock_mono_ns();
	rc = tracer_call(t->tracer, S_stop, S_reap, t, f);
	if (rc)
		S_end(p, t);
	return rc;
}

uint64_t
pause_began_ns(const struct pause *p)
{
	return p->began_ns;
}

int
pause_check(struct pause *p, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->count; i++)
		rc = tracer_call(p->target[i].tracer, S_check, S_reap,
				 &p->target[i], f);
	return rc;
}

unsigned
pause_threads(const struct pause *p, pid_t pid)
{
	const struct target *t = S_find(p, pid);

	return t ? threads_stopped(t->threads) : 0;
}

bool
pause_was_stopped(const struct pause *p, pid_t pid)
{
	const struct target *t = S_find(p, pid);

	return t && threads_were_stopped(t->threads);
}

void
pause_resume(struct pause *p)
{
	for (size_t i = p->count; i > 0; i--)
		S_let_go(&p->target[i - 1]);
}

void
pause_free(struct pause *p)
{
	if (!p)
		return;
	while (p->count)
		S_end(p, &p->target[p->count - 1]);
	free(p->target);
	free(p);
}
