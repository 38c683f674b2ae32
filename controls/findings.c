/*
 * findings.c - the lines of a control, and what they amount to
 */
#include "controls/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controls/text.h"

static const char *const S_kinds[FINDINGS_KINDS] = {
	[FINDINGS_PREDECESSOR] = "predecessor",
	[FINDINGS_PRODUCT] = "product",
	[FINDINGS_INVERSE_PREDECESSOR] = "inverse-predecessor",
	[FINDINGS_INVERSE_PRODUCT] = "inverse-product",
	[FINDINGS_EXAMINED] = "examined",
	[FINDINGS_SKIPPED] = "skipped",
	[FINDINGS_DIED] = "died",
	[FINDINGS_LEFT] = "left",
};

const char *const findings_outcome_name[OUTCOMES] = {
	[OUTCOME_HELD] = "held",
	[OUTCOME_FOOLED] = "FOOLED",
	[OUTCOME_BROKEN] = "BROKEN",
	[OUTCOME_SKIPPED] = "skipped",
};

size_t
findings_line(char *line, enum findings_kind kind, bool good,
	      const char *symptom, const char *text)
{
	size_t n = (size_t)snprintf(line, FINDINGS_LINE_MAX, "%s\t%s\t%s\t",
				    S_kinds[kind], good ? "good" : "bad",
				    symptom ? symptom : "");

	n += text_clean(line + n, FINDINGS_LINE_MAX - n - 1, text);
	line[n++] = '\n';
	return n;
}

static void
S_take_side(struct findings_side *s, bool good, const char *symptom,
	    const char *text)
{
	if (!s->told || (s->good && !good)) {
		(void)snprintf(s->text, sizeof(s->text), "%s", text);
		(void)snprintf(s->symptom, sizeof(s->symptom), "%s", symptom);
		s->good = good;
	} else if (s->good && strcmp(s->symptom, symptom)) {
		/* Two symptoms are never the named one. */
		(void)snprintf(s->symptom, sizeof(s->symptom), "several");
	}
	s->told = true;
}

bool
findings_take(struct findings *f, char *line)
{
	const char *word = strsep(&line, "\t"), *good = strsep(&line, "\t"),
		*symptom = strsep(&line, "\t");
	int kind = 0;

	if (!line)
		return false;
	while (kind < FINDINGS_KINDS && strcmp(S_kinds[kind], word))
		kind++;
	if (kind < FINDINGS_SIDES)
		S_take_side(&f->side[kind], strcmp(good, "good") == 0,
			    symptom, line);
	else if (kind == FINDINGS_EXAMINED)
		f->examined += strtoul(line, NULL, 10);
	else if (kind == FINDINGS_SKIPPED)
		(void)snprintf(f->skipped, sizeof(f->skipped), "%s", line);
	else if (kind == FINDINGS_DIED && !f->died[0])
		(void)snprintf(f->died, sizeof(f->died), "%s", line);
	else if (kind == FINDINGS_LEFT && f->nleft++ < FINDINGS_LEFT_MAX)
		(void)snprintf(f->left[f->nleft - 1], sizeof(f->left[0]),
			       "%s", line);
	return kind < FINDINGS_KINDS;
}

__attribute__((format(printf, 2, 3))) static void
S_reason(struct verdict *v, const char *fmt, ...)
{
	va_list ap;

	if (v->nreasons == FINDINGS_REASONS_MAX)
		return;
	va_start(ap, fmt);
	if (vasprintf(&v->reason[v->nreasons], fmt, ap) >= 0)
		v->nreasons++;
	va_end(ap);
}

static const char *const S_bad[FINDINGS_SIDES] = {
	[FINDINGS_PREDECESSOR] = "the predecessor is not fooled",
	[FINDINGS_PRODUCT] = "the product is fooled",
	[FINDINGS_INVERSE_PREDECESSOR] =
		"the predecessor is wrong without the attack",
	[FINDINGS_INVERSE_PRODUCT] =
		"the product is wrong without the attack",
};

static const char *const S_untold[FINDINGS_SIDES] = {
	[FINDINGS_PREDECESSOR] = "the predecessor was not tried",
	[FINDINGS_PRODUCT] = "the product was not tried",
	[FINDINGS_INVERSE_PREDECESSOR] =
		"the predecessor was not tried without the attack",
	[FINDINGS_INVERSE_PRODUCT] =
		"the product was not tried without the attack",
};

static void
S_judge_sides(const struct control *c, const struct findings *f,
	      struct verdict *v)
{
	const struct findings_side *s = f->side;

	for (int i = 0; i < FINDINGS_SIDES; i++)
		if (s[i].told && !s[i].good)
			S_reason(v, "%s: %s", S_bad[i], s[i].text);
	if (s->told && s->good && strcmp(s->symptom, c->symptom))
		S_reason(v, "the predecessor is fooled otherwise than by"
			 " \"%s\": %s: %s", c->symptom, s->symptom, s->text);
	if (f->died[0])
		return;
	for (int i = 0; i < FINDINGS_SIDES; i++)
		if (!s[i].told)
			S_reason(v, "%s", S_untold[i]);
	if (f->examined == 0)
		S_reason(v, "nothing was examined");
}

void
findings_judge(const struct control *c, const struct findings *f,
	       struct verdict *v)
{
	const struct findings_side *product = &f->side[FINDINGS_PRODUCT];

	*v = (struct verdict){ .outcome = OUTCOME_HELD };
	if (f->died[0])
		S_reason(v, "%s", f->died);
	if (!f->skipped[0])
		S_judge_sides(c, f, v);
	for (size_t i = 0; i < f->nleft && i < FINDINGS_LEFT_MAX; i++)
		S_reason(v, "it left %s", f->left[i]);
	if (product->told && !product->good)
		v->outcome = OUTCOME_FOOLED;
	else if (v->nreasons > 0)
		v->outcome = OUTCOME_BROKEN;
	else if (f->skipped[0])
		v->outcome = OUTCOME_SKIPPED;
	if (v->outcome == OUTCOME_SKIPPED)
		S_reason(v, "%s", f->skipped);
}

void
findings_release(struct verdict *v)
{
	for (size_t i = 0; i < v->nreasons; i++)
		free(v->reason[i]);
	v->nreasons = 0;
}
