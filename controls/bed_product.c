/*
 * bed_product.c - the product, and the rows that it shows
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controls/bed.h"

#define BED_WORDS_MAX 32

static size_t
S_add(struct trial *t, const char **argv, size_t n, const char *const *words)
{
	while (*words && n < BED_WORDS_MAX)
		argv[n++] = *words++;
	if (*words)
		trial_die(t, "too many words for %s", argv[0]);
	return n;
}

const struct bed_run *
bed_command_with(struct trial *t, const char *const *first,
		 const char *const *then, const char *const *last)
{
	const char *argv[BED_WORDS_MAX + 1] = { NULL };
	size_t n = S_add(t, argv, 0, first);

	n = S_add(t, argv, n, then);
	(void)S_add(t, argv, n, last);
	return bed_command(t, argv);
}

const struct bed_run *
bed_product(struct trial *t, const char *const *words)
{
	return bed_command_with(t, BED_ARGV(t->product), words, BED_ARGV(NULL));
}

const struct bed_run *
bed_attack(struct trial *t, const char *const *words)
{
	return bed_command_with(t, BED_ARGV("/proc/self/exe", "attack"), words,
				BED_ARGV(NULL));
}

bool
bed_yes(const struct bed_run *r)
{
	return !r->late && (r->status == 0 || r->status == 6);
}

const struct bed_run *
bed_capture(struct trial *t, const char *db, const char *packet,
	    const char *option)
{
	return option ? bed_product(t, BED_ARGV("capture", "--json", "-o",
						packet, option, db))
		      : bed_product(t, BED_ARGV("capture", "--json", "-o",
						packet, db));
}

const cJSON *
bed_json_next(const char **rest)
{
	const char *start = *rest;
	size_t n = strcspn(start, "\n");

	*rest = start + n + (start[n] == '\n');
	return n ? cJSON_ParseWithLength(start, n) : NULL;
}

const cJSON *
bed_json(struct trial *t, const struct bed_run *r)
{
	const char *rest = r->out;
	const cJSON *last = NULL;

	while (*rest)
		last = bed_json_next(&rest);
	if (!last)
		trial_die(t, "no JSON: %s", bed_told(t, r));
	return last;
}

/* Cells are null or [type, value]; a blob's value is an object. */
static void
S_cell(FILE *out, const cJSON *cell)
{
	const cJSON *value = cJSON_GetArrayItem(cell, 1);

	if (cJSON_IsString(value))
		(void)fputs(value->valuestring, out);
	else if (value)
		(void)fprintf(out, "blob of %g bytes",
			      cJSON_GetNumberValue(
				cJSON_GetObjectItem(value, "bytes")));
}

static void
S_row(FILE *out, const cJSON *cells, bool first)
{
	const cJSON *cell;
	bool behind = false;

	if (!first)
		(void)fputc('\n', out);
	cJSON_ArrayForEach(cell, cells) {
		if (behind)
			(void)fputc('|', out);
		S_cell(out, cell);
		behind = true;
	}
}

const char *
bed_rows(struct trial *t, const struct bed_run *r)
{
	const char *rest = r->out;
	bool first = true, good = true;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	while (out && good && *rest) {
		const cJSON *o = bed_json_next(&rest);
		const char *kind = cJSON_GetStringValue(
			cJSON_GetObjectItem(o, "kind"));

		good = kind && strcmp(kind, "error");
		if (!good || strcmp(kind, "row"))
			continue;
		S_row(out, cJSON_GetObjectItem(o, "cells"), first);
		first = false;
	}
	if (!out || fclose(out))
		trial_die(t, "no memory");
	return good ? text : NULL;
}

const char *
bed_product_rows(struct trial *t, const char *evidence, const char *sql,
		 const struct bed_run **why)
{
	const struct bed_run *r = bed_product(t, BED_ARGV(
		"query", "--json", evidence, sql));

	if (why)
		*why = r;
	return bed_yes(r) ? bed_rows(t, r) : NULL;
}
