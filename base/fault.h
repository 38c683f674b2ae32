/*
 * fault.h - why an operation failed, as a value the caller owns
 *
 * A fault never allocates. It is filled on failure only, by the layer that
 * saw the failure; each layer above adds one clause in front, so the text
 * reads from the outside in: "capture app.db: hold -wal: descriptor 7 ...".
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stddef.h>

enum fault_code {
	FAULT_NONE = 0,
	FAULT_USAGE,		/* the caller's words are wrong */
	FAULT_TROUBLE,		/* permission, I/O, memory */
	FAULT_CAP,		/* a limit of ours was hit: it is named */
	FAULT_SANDBOX,		/* the sandbox can't be put up, or was broken */
	FAULT_INTERRUPTED,	/* a signal asked us to stop */
	FAULT_REFUSED,		/* the evidence can't be established */
	FAULT_AMBIGUOUS,	/* refused: a sidecar can't be bound to main */
	FAULT_UNSTABLE,		/* refused: something moved while we read */
	FAULT_DAMAGED,		/* the evidence is damaged or unsupported */
};

#define FAULT_TEXT_MAX 1536
#define FAULT_HINT_MAX 768

struct fault {
	enum fault_code code;
	int err;			/* errno, or 0 */
	char text[FAULT_TEXT_MAX];	/* one sentence, no full stop */
	char hint[FAULT_HINT_MAX];	/* what to do, or empty */
};

#define FAULT_INIT { .code = FAULT_NONE }

/* Each returns -code, so that "return fault_set(f, ...)" reads well. */
int
fault_set(struct fault *f, enum fault_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As fault_set, with ": " and the text of err behind. */
int
fault_sys(struct fault *f, enum fault_code code, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Puts one clause and ": " in front of a filled fault. */
int
fault_wrap(struct fault *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* What to do about it: replaces an earlier hint. */
int
fault_hint(struct fault *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* "refused", "damaged" ...: the word that --json gives as "reason". */
const char *
fault_name(enum fault_code code);

/* Our own mistake, in every build; never for bytes from outside. */
#define MUST(cond) \
	((cond) ? (void)0 : fault_must_failed(#cond, __FILE__, __LINE__))

_Noreturn void
fault_must_failed(const char *cond, const char *file, int line);

#endif
