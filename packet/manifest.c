/*
 * manifest.c - what a packet says about itself: the value
 */
#include "packet/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "reply/ask.h"

static void
S_free_processes(struct manifest_processes *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->item[i].exe);
	free(p->item);
	*p = (struct manifest_processes){ .count = 0 };
}

void
manifest_init(struct manifest *m)
{
	*m = (struct manifest){ .pause_ns = 0 };
}

void
manifest_free(struct manifest *m)
{
	S_free_processes(&m->writers);
	S_free_processes(&m->holders);
	free(m->check);
	notes_free(&m->not_checked);
	manifest_init(m);
}

int
manifest_name(struct manifest *m, const char *base, struct fault *f)
{
	if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0
	    || strchr(base, '/') || strlen(base) > NAME_MAX)
		return fault_set(f, FAULT_USAGE, "a database's name must be "
				 "the plain name of a file");
	(void)strcpy(m->database, base);
	return 0;
}

int
manifest_process(struct manifest_processes *to, const struct writer *w,
		 struct fault *f)
{
	struct writer *grown = reallocarray(to->item, to->count + 1,
					    sizeof(*grown));
	OWN_MEM(char, exe);

	if (grown)
		to->item = grown;
	exe = strdup(w->exe ? w->exe : "?");
	if (!grown || !exe)
		return fault_set(f, FAULT_TROUBLE, "out of memory: manifest");
	to->item[to->count] = *w;
	to->item[to->count++].exe = TAKE_MEM(exe);
	return 0;
}

int
manifest_check(struct manifest *m, const char *name, const char *outcome,
	       struct fault *f)
{
	struct manifest_check *grown = reallocarray(m->check, m->checks + 1,
						    sizeof(*grown));

	if (!grown)
		return fault_set(f, FAULT_TROUBLE, "out of memory: manifest");
	m->check = grown;
	MUST(strlen(name) < MANIFEST_WORD_MAX
	     && strlen(outcome) < MANIFEST_WORD_MAX);
	(void)strcpy(grown[m->checks].name, name);
	(void)strcpy(grown[m->checks].outcome, outcome);
	m->checks++;
	return 0;
}

uint64_t
manifest_blocks(const struct manifest *m)
{
	uint64_t n = 0;

	for (int r = 0; r < ROLE_COUNT; r++)
		if (m->member[r].present)
			n += m->member[r].bytes / BLOCK_BYTES
			     + (m->member[r].bytes % BLOCK_BYTES != 0);
	return n;
}
