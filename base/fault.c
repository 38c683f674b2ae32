/*
 * fault.c - why an operation failed, as a value the caller owns
 */
#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 4, 0)))
static void
S_vset(struct fault *f, enum fault_code code, int err, const char *fmt,
       va_list ap)
{
	MUST(code != FAULT_NONE);
	f->code = code;
	f->err = err;
	f->hint[0] = '\0';
	(void)vsnprintf(f->text, sizeof(f->text), fmt, ap);
}

int
fault_set(struct fault *f, enum fault_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	S_vset(f, code, 0, fmt, ap);
	va_end(ap);
	return -(int)code;
}

int
fault_sys(struct fault *f, enum fault_code code, int err, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	S_vset(f, code, err, fmt, ap);
	va_end(ap);
	n = strlen(f->text);
	(void)snprintf(f->text + n, sizeof(f->text) - n, ": %s",
		       strerrordesc_np(err) ? strerrordesc_np(err)
					    : "unknown error");
	return -(int)code;
}

int
fault_wrap(struct fault *f, const char *fmt, ...)
{
	char inner[FAULT_TEXT_MAX];
	va_list ap;
	size_t n;

	MUST(f->code != FAULT_NONE);
	memcpy(inner, f->text, sizeof(inner));
	va_start(ap, fmt);
	(void)vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	n = strlen(f->text);
	(void)snprintf(f->text + n, sizeof(f->text) - n, ": %s", inner);
	return -(int)f->code;
}

int
fault_hint(struct fault *f, const char *fmt, ...)
{
	va_list ap;

	MUST(f->code != FAULT_NONE);
	va_start(ap, fmt);
	(void)vsnprintf(f->hint, sizeof(f->hint), fmt, ap);
	va_end(ap);
	return -(int)f->code;
}

const char *
fault_name(enum fault_code code)
{
	switch (code) {
	case FAULT_NONE:
		return "none";
	case FAULT_USAGE:
		return "usage";
	case FAULT_TROUBLE:
		return "trouble";
	case FAULT_CAP:
		return "cap";
	case FAULT_SANDBOX:
		return "sandbox";
	case FAULT_INTERRUPTED:
		return "interrupted";
	case FAULT_REFUSED:
		return "refused";
	case FAULT_AMBIGUOUS:
		return "ambiguous";
	case FAULT_UNSTABLE:
		return "unstable";
	case FAULT_DAMAGED:
		return "damaged";
	}
	return "unknown";
}

void
fault_must_failed(const char *cond, const char *file, int line)
{
	(void)fprintf(stderr, "holdfast: internal error: %s (%s:%d)\n", cond,
		      file, line);
	abort();
}
