/*
 * trial.c - what a control tells while it runs
 */
#include "controls/trial.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "controls/findings.h"

/* Longer ones are cut: they are for a table. */
#define TRIAL_TEXT_MAX 600

static void
S_send(struct trial *t, const char *line, size_t n)
{
	while (n > 0) {
		ssize_t put = write(t->report, line, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			_exit(1);
		line += put;
		n -= (size_t)put;
	}
}

__attribute__((format(printf, 5, 0)))
static void
S_tell(struct trial *t, enum findings_kind kind, bool good,
       const char *symptom, const char *fmt, va_list ap)
{
	char text[TRIAL_TEXT_MAX], line[FINDINGS_LINE_MAX];

	(void)vsnprintf(text, sizeof(text), fmt, ap);
	S_send(t, line, findings_line(line, kind, good, symptom, text));
}

#define S_TELL(t, kind, good, symptom) do { \
	va_list ap_; \
	va_start(ap_, fmt); \
	S_tell(t, kind, good, symptom, fmt, ap_); \
	va_end(ap_); \
} while (0)

void
trial_examined(struct trial *t, unsigned long n)
{
	char line[FINDINGS_LINE_MAX], text[32];

	(void)snprintf(text, sizeof(text), "%lu", n);
	S_send(t, line, findings_line(line, FINDINGS_EXAMINED, true, NULL,
				      text));
}

void
trial_predecessor(struct trial *t, const char *symptom, const char *fmt, ...)
{
	S_TELL(t, FINDINGS_PREDECESSOR, symptom != NULL, symptom);
}

void
trial_product(struct trial *t, bool held, const char *fmt, ...)
{
	S_TELL(t, FINDINGS_PRODUCT, held, NULL);
}

void
trial_inverse_predecessor(struct trial *t, bool right, const char *fmt, ...)
{
	S_TELL(t, FINDINGS_INVERSE_PREDECESSOR, right, NULL);
}

void
trial_inverse_product(struct trial *t, bool right, const char *fmt, ...)
{
	S_TELL(t, FINDINGS_INVERSE_PRODUCT, right, NULL);
}

_Noreturn void
trial_die(struct trial *t, const char *fmt, ...)
{
	S_TELL(t, FINDINGS_DIED, false, NULL);
	_exit(1);
}

_Noreturn void
trial_skip(struct trial *t, const char *fmt, ...)
{
	S_TELL(t, FINDINGS_SKIPPED, true, NULL);
	_exit(0);
}

_Noreturn void
trial_run(struct trial *t)
{
	t->control->run(t);
	_exit(0);
}
