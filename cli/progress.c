/*
 * progress.c - one moving line on a terminal's stderr
 */
#include "cli/progress.h"

#include <unistd.h>

#include "base/clock.h"
#include "cli/escape.h"

#define PROGRESS_FIRST_NS CLOCK_NS_PER_SEC
#define PROGRESS_NEXT_NS (CLOCK_NS_PER_SEC / 10)

void
progress_init(struct progress *p, FILE *to)
{
	*p = (struct progress){
		.to = isatty(fileno(to)) ? to : NULL,
		.start_ns = clock_mono_ns(),
	};
}

void
progress_step(void *arg, const char *step, uint64_t done, uint64_t total)
{
	struct progress *p = arg;
	uint64_t now;

	if (!p->to)
		return;
	now = clock_mono_ns();
	if (now - p->start_ns < PROGRESS_FIRST_NS ||
	    (p->shown_ns && now - p->shown_ns < PROGRESS_NEXT_NS))
		return;
	p->shown_ns = now;
	(void)fputs("\r\033[Kholdfast: ", p->to);
	escape_puts(p->to, step);
	if (total > 0)
		(void)fprintf(p->to, " %3.0f %%",
			      100.0 * (double)done / (double)total);
	(void)fflush(p->to);
}

void
progress_end(struct progress *p)
{
	if (!p->to || !p->shown_ns)
		return;
	(void)fputs("\r\033[K", p->to);
	(void)fflush(p->to);
	p->shown_ns = 0;
}
