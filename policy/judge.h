/*
 * judge.h - holds a delta against a policy
 *
 * Lifecycle: judge_new, changes_read with judge_sink, judge_end, then the
 * violations; judge_free.
 *
 * Rows are judged as they pass. Only rows that patterns may take are kept: of
 * a section with n patterns, n rows and a few, and a bounded number of bytes;
 * rows past that are counted, and break the policy.
 */
#ifndef POLICY_JUDGE_H
#define POLICY_JUDGE_H

#include "base/fault.h"
#include "policy/policy.h"
#include "policy/violation.h"
#include "reply/changes.h"

struct judge;

/* p is borrowed; the judge writes its marks into it. *j is the caller's. */
int
judge_new(struct judge **j, struct policy *p, struct fault *f);
void
judge_free(struct judge *j);

struct changes_sink
judge_sink(struct judge *j);

/* All has passed: patterns, names, and what was declared and did not happen. */
int
judge_end(struct judge *j, struct fault *f);

/* Borrowed. None: the policy holds. */
const struct violations *
judge_violations(const struct judge *j);

static inline void
own_judge_free(struct judge **j)
{
	judge_free(*j);
	*j = NULL;
}

#define OWN_JUDGE(name) \
	struct judge *name __attribute__((cleanup(own_judge_free))) = NULL

#endif
