/*
 * bed_sides.c - tells what a side showed, held against exact rows
 */
#include "controls/bed_sides.h"

#include <string.h>

#include "controls/bed_file.h"

static const char *
S_fresh(struct trial *t)
{
	static unsigned n;

	return bed_text(t, "packet-%u", n++);
}

struct bed_shown
bed_show_sqlite3(struct trial *t, const char *db, const char *sql)
{
	return bed_show_run(bed_command(t, BED_ARGV(
		"sqlite3", "-batch", "-init", "/dev/null", db, sql)));
}

struct bed_shown
bed_show_run(const struct bed_run *r)
{
	struct bed_shown s = { NULL, r };

	if (r->late || r->status)
		return s;
	if (r->nout && r->out[r->nout - 1] == '\n')
		r->out[r->nout - 1] = '\0';
	s.rows = r->out;
	return s;
}

struct bed_shown
bed_show_captured(struct trial *t, const char *db, const char *option,
		  const char *sql)
{
	const char *packet = S_fresh(t);
	struct bed_shown s = { NULL, bed_capture(t, db, packet, option) };

	if (bed_yes(s.why))
		s.rows = bed_product_rows(t, packet, sql, &s.why);
	return s;
}

struct bed_shown
bed_show_file(struct trial *t, const char *file, const char *sql)
{
	struct bed_shown s;

	s.rows = bed_product_rows(t, file, sql, &s.why);
	return s;
}

static bool
S_is(struct bed_shown s, const char *rows)
{
	return s.rows && strcmp(s.rows, rows) == 0;
}

/* What it showed, and where that is not so, what is. */
static const char *
S_text(struct trial *t, struct bed_shown s, const char *want)
{
	const char *showed = s.rows ? s.rows : bed_told(t, s.why);

	return S_is(s, want) ? showed
			     : bed_text(t, "%s, and not %s", showed, want);
}

void
bed_naive(struct trial *t, struct bed_shown s, const char *symptom,
	  const char *fooled, const char *want)
{
	trial_examined(t, 1);
	trial_predecessor(t, S_is(s, fooled) ? symptom : NULL,
			  "%s", S_text(t, s, want));
}

void
bed_naive_inverse(struct trial *t, struct bed_shown s, const char *want)
{
	trial_examined(t, 1);
	trial_inverse_predecessor(t, S_is(s, want), "%s",
				  S_text(t, s, want));
}

void
bed_ours(struct trial *t, struct bed_shown s, const char *want)
{
	trial_examined(t, 1);
	trial_product(t, S_is(s, want), "%s%s", s.rows ? "shows " : "",
		      S_text(t, s, want));
}

void
bed_ours_inverse(struct trial *t, struct bed_shown s, const char *want)
{
	trial_examined(t, 1);
	trial_inverse_product(t, S_is(s, want), "%s", S_text(t, s, want));
}

void
bed_ours_refuses(struct trial *t, const struct bed_run *r, int status,
		 const char *word, const char *packet)
{
	bool stays = packet && bed_exists(packet);

	trial_examined(t, 1);
	trial_product(t, !r->late && r->status == status &&
		      bed_says(r, word) && !stays, "%s%s", bed_told(t, r),
		      stays ? ", and leaves a packet" : "");
}

void
bed_ours_refuses_capture(struct trial *t, const char *db, int status,
			 const char *word)
{
	const char *packet = S_fresh(t);

	bed_ours_refuses(t, bed_product(t, BED_ARGV(
		"capture", "--timeout", "0.5", "-o", packet, db)), status,
		word, packet);
}
