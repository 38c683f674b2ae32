/*
 * cmds_run.c - hold while a command runs
 */
#include <unistd.h>

#include "base/own.h"
#include "lease/cmds.h"
#include "lease/counter.h"
#include "lease/render.h"
#include "lease/run.h"

/* What was new goes; what the owner held before stays held. */
static int
S_let_go(struct store *s, const struct cmds_request *r,
	 const struct answer *grant, struct fault *f)
{
	OWN_ANSWER(a);
	int rc = 0;

	for (size_t i = 0; i < r->q.npaths; i++)
		if (!grant->taken[i].kept) {
			rc = ops_release(s, r->session, r->q.epoch,
					 grant->taken[i].fence, &a, f);
			break;
		}
	counter_add(&(struct counter_line){
		.op = "release", .scope = "fence", .session = r->session,
		.epoch = r->q.epoch, .agent = r->q.agent, .answer = &a,
	});
	return rc;
}

static int
S_hold(struct run *run, const struct cmds_request *r,
       const struct answer *grant, char *const *argv, int *status,
       struct fault *f)
{
	struct fault later = FAULT_INIT;
	int rc, gone;

	run->q = &r->q;
	run->grant = grant;
	rc = run_start(run, argv, f);
	if (!rc)
		rc = run_watch(run, status, f);
	gone = S_let_go(run->store, r, grant, rc ? &later : f);
	if (!rc && run->stopping) {
		*f = run->lost;
		(void)fault_wrap(f, "the lease is lost, %s was stopped",
				 argv[0]);
		return -(int)f->code;
	}
	/* The command's status counts; the lease will expire by itself. */
	if (!rc && gone) {
		render_fault(stderr, f);
		*f = (struct fault)FAULT_INIT;
	}
	return rc;
}

int
cmds_run(const struct options *o, FILE *out, int *status, struct fault *f)
{
	struct instant_system clock;
	OWN_REQUEST(r);
	OWN_STORE(s);
	OWN_ANSWER(a);
	OWN_RUN(run);
	int rc = cmds_request(o, getpid(), &r, f);

	if (!rc)
		rc = cmds_open(o, &clock, &s, f);
	if (!rc) {
		run_guard(&run, s);
		rc = ops_acquire(s, &r.q, &a, f);
	}
	counter_add(&(struct counter_line){
		.op = "acquire", .scope = "paths",
		.session = r.session ? r.session : o->session,
		.epoch = o->epoch, .agent = o->agent,
		.paths = r.q.paths ? r.paths : o->paths,
		.npaths = r.q.paths ? r.q.npaths : (size_t)o->npaths,
		.ttl = r.q.ttl, .answer = &a,
	});
	*status = CMDS_RUN_FAILED;
	if (rc)
		return rc;
	/* Standard output is the command's, which does not run. */
	if (a.outcome == OUTCOME_BLOCKED)
		return render_acquire(o->json ? out : stderr, o->json, &r.q,
				      &a, f);
	return S_hold(&run, &r, &a, o->command, status, f);
}
