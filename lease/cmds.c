/*
 * cmds.c - what each verb does with the words and the answer
 */
#include "lease/cmds.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "lease/counter.h"
#include "lease/path.h"
#include "lease/render.h"

static int
S_acquire(const struct options *o, struct cmds_request *r, struct answer *a,
	  FILE *out, struct fault *f)
{
	struct instant_system clock;
	OWN_STORE(s);
	int rc = cmds_request(o, getppid(), r, f);

	if (!rc)
		rc = cmds_open(o, &clock, &s, f);
	if (!rc)
		rc = ops_acquire(s, &r->q, a, f);
	return rc ? rc : render_acquire(out, o->json, &r->q, a, f);
}

int
cmds_acquire(const struct options *o, FILE *out, int *status, struct fault *f)
{
	OWN_REQUEST(r);
	OWN_ANSWER(a);
	int rc = S_acquire(o, &r, &a, out, f);

	counter_add(&(struct counter_line){
		.op = "acquire", .scope = "paths",
		.session = r.session ? r.session : o->session,
		.epoch = o->epoch, .agent = o->agent,
		.paths = r.q.paths ? r.paths : o->paths,
		.npaths = r.q.paths ? r.q.npaths : (size_t)o->npaths,
		.ttl = r.q.ttl ? r.q.ttl : o->ttl, .answer = &a,
	});
	*status = a.outcome == OUTCOME_BLOCKED ? CMDS_BUSY : CMDS_YES;
	return rc;
}

int
cmds_renew(const struct options *o, FILE *out, int *status, struct fault *f)
{
	struct instant_system clock;
	OWN_MEM(char, session);
	OWN_STORE(s);
	OWN_ANSWER(a);
	int rc = o->session ? owner_session(o->session, &session, f) : 0;

	if (!rc)
		rc = cmds_open(o, &clock, &s, f);
	if (!rc)
		rc = ops_renew(s, o->fence, session, o->epoch, o->ttl, &a, f);
	if (!rc)
		rc = render_renew(out, o->json, &a, f);
	counter_add(&(struct counter_line){
		.op = "renew", .scope = "fence",
		.session = a.session ? a.session : o->session,
		.epoch = a.epoch ? a.epoch : o->epoch, .agent = a.agent,
		.ttl = a.ttl, .answer = &a,
	});
	*status = a.outcome == OUTCOME_ACQUIRED ? CMDS_YES : CMDS_NO;
	return rc;
}

int
cmds_release(const struct options *o, FILE *out, int *status,
	     struct fault *f)
{
	struct instant_system clock;
	OWN_MEM(char, session);
	OWN_STORE(s);
	OWN_ANSWER(a);
	int rc = owner_session(o->session, &session, f);

	if (!rc)
		rc = cmds_open(o, &clock, &s, f);
	if (!rc)
		rc = ops_release(s, session, o->epoch, 0, &a, f);
	if (!rc)
		rc = render_release(out, o->json, session, o->epoch, &a, f);
	counter_add(&(struct counter_line){
		.op = "release", .scope = "owner",
		.session = session ? session : o->session, .epoch = o->epoch,
		.answer = &a,
	});
	*status = CMDS_YES;
	return rc;
}

int
cmds_force(const struct options *o, FILE *out, int *status, struct fault *f)
{
	struct instant_system clock;
	char uid[32];
	OWN_MEM(char, session);
	OWN_STORE(s);
	OWN_ANSWER(a);
	int rc = o->session ? owner_session(o->session, &session, f) : 0;

	(void)snprintf(uid, sizeof(uid), "uid %u", getuid());
	if (!rc)
		rc = cmds_open(o, &clock, &s, f);
	if (!rc)
		rc = ops_force(s, o->fence, session ? session : uid,
			       o->reason, &a, f);
	if (!rc)
		rc = render_force(out, o->json, &a, f);
	*status = a.outcome == OUTCOME_RELEASED ? CMDS_YES : CMDS_NO;
	return rc;
}

static int
S_check_key(const struct options *o, char key[PATH_MAX], struct fault *f)
{
	char here[PATH_MAX], from[PATH_MAX];
	int rc = 0;

	if (!getcwd(here, sizeof(here)))
		(void)strcpy(here, ".");
	(void)strcpy(from, here);
	if (o->cwd)
		rc = path_key(here, o->cwd, from, f);
	return rc ? rc : path_key(from, o->paths[0], key, f);
}

int
cmds_check(const struct options *o, FILE *out, int *status, struct fault *f)
{
	struct instant_system clock;
	char key[PATH_MAX];
	OWN_STORE(s);
	OWN_ANSWER(a);
	int rc = S_check_key(o, key, f);

	if (!rc)
		rc = cmds_open(o, &clock, &s, f);
	if (!rc)
		rc = ops_check(s, key, o->fence, &a, f);
	if (!rc)
		rc = render_check(out, o->json, key, o->fence, &a, f);
	*status = a.outcome == OUTCOME_BLOCKED ? CMDS_BUSY
		: a.outcome == OUTCOME_ABSENT ? CMDS_NO : CMDS_YES;
	return rc;
}

int
cmds_status(const struct options *o, FILE *out, int *status, struct fault *f)
{
	struct instant_system clock;
	OWN_STORE(s);
	OWN_ANSWER(a);
	int rc = cmds_open(o, &clock, &s, f);

	if (!rc)
		rc = ops_status(s, &a, f);
	*status = CMDS_YES;
	return rc ? rc : render_status(out, o->json, &a, f);
}

int
cmds_reap(const struct options *o, FILE *out, int *status, struct fault *f)
{
	struct instant_system clock;
	OWN_STORE(s);
	OWN_ANSWER(a);
	int rc = cmds_open(o, &clock, &s, f);

	if (!rc)
		rc = ops_reap(s, &a, f);
	*status = CMDS_YES;
	return rc ? rc : render_reap(out, o->json, &a, f);
}

struct events {
	FILE *out;
	bool json;
	uint64_t n;
	int64_t last;
};

static int
S_event(void *arg, const struct ops_event *e, struct fault *f)
{
	struct events *v = arg;

	v->n++;
	v->last = e->seq;
	return render_event(v->out, v->json, e, f);
}

int
cmds_events(const struct options *o, FILE *out, int *status, struct fault *f)
{
	struct events v = { .out = out, .json = o->json, .last = o->since };
	struct instant_system clock;
	OWN_STORE(s);
	OWN_ANSWER(a);
	int rc = cmds_open(o, &clock, &s, f);

	if (!rc && o->prune)
		rc = ops_prune(s, o->prune, &a, f);
	if (!rc)
		rc = ops_events(s, o->since, S_event, &v, f);
	if (!rc && o->json)
		rc = render_events_end(out, v.n, v.last, a.count, f);
	*status = CMDS_YES;
	return rc;
}
