/*
 * inspect.c - what the sandboxed helper finds in the staged files
 */
#include "capture/inspect.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/plural.h"
#include "capture/signals.h"

#define INSPECT_CPU_SECONDS 120u

static const struct {
	const char *key;
	size_t offset, room;
} texts[] = {
#define TEXT(key, field) \
	{ key, offsetof(struct inspection, field), \
	  sizeof(((struct inspection *)0)->field) }
	TEXT("header", header),
	TEXT("journal.state", journal),
	TEXT("journal.super", super),
#undef TEXT
};

static void
S_take_text(struct inspection *i, const char *key, const struct cell *v)
{
	for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
		if (strcmp(key, texts[k].key) == 0 &&
		    (v->tag == CELL_TEXT || v->tag == CELL_TEXT8))
			(void)snprintf((char *)i + texts[k].offset,
				       texts[k].room, "%.*s", (int)v->len,
				       (const char *)v->bytes);
}

static void
S_take_int(struct inspection *i, const char *key, const struct cell *v)
{
	if (v->tag != CELL_INT)
		return;
	if (strcmp(key, "wal_mode") == 0)
		i->wal_mode = v->integer != 0;
	else if (strcmp(key, "salts_agree") == 0)
		i->salts_agree = v->integer != 0;
	else if (strcmp(key, "wal.committed_frames") == 0)
		i->wal_committed = v->integer;
}

static int
S_take_fact(struct inspection *i, struct wire_frame *fr, struct fault *f)
{
	OWN_MEM(char, key);
	struct cell value;
	int64_t side;

	if (wire_get_int(fr, &side, f) || wire_get_text(fr, &key, f) ||
	    wire_get(fr, &value, f) || wire_get_done(fr, f))
		return -(int)f->code;
	S_take_text(i, key, &value);
	S_take_int(i, key, &value);
	return 0;
}

int
inspect_begin(struct warden **helper, const struct packet_writer *w,
	      struct fault *f)
{
	const struct warden_limits limits = {
		.cpu_seconds = INSPECT_CPU_SECONDS,
		.interrupted = signals_pending,
	};
	int fd = packet_writer_read_fd(w);
	int rc = warden_begin(helper, &fd, 1, &limits, f);

	return rc ? fault_wrap(f, "inspect") : 0;
}

int
inspect_ask(struct warden *helper, const struct packet_writer *w,
	    uint64_t now_ns, struct fault *f)
{
	struct ask ask;
	int rc;

	ask_init(&ask, ASK_INSPECT);
	ask.nsides = 1;
	packet_writer_side(w, EVIDENCE_FD, now_ns, &ask.side[0]);
	rc = warden_ask(helper, &ask, NULL, f);
	return rc ? fault_wrap(f, "inspect") : 0;
}

int
inspect_answer(struct warden *helper, struct inspection *i, struct fault *f)
{
	struct wire_frame fr;
	int rc = 0;

	memset(i, 0, sizeof(*i));
	while (rc == 0) {
		rc = warden_next(helper, &fr, f);
		if (rc == 0 && fr.type == WIRE_FACT)
			rc = S_take_fact(i, &fr, f);
	}
	if (rc == 1 && i->header[0])
		return 0;
	if (rc == 1)
		return fault_set(f, FAULT_SANDBOX, "inspect: the helper's "
				 "answer leaves out the header");
	return fault_wrap(f, "inspect");
}

int
inspect_judge(const struct inspection *i, const struct hold *h,
	      bool refuse_journal, struct fault *f)
{
	bool rollback = strcmp(i->header, "ok") == 0 && !i->wal_mode;

	if (i->super[0]) {
		fault_set(f, FAULT_REFUSED, "the journal names the "
			  "super-journal %s: one commit over several "
			  "databases is under way, and alone this one is "
			  "neither before nor after it", i->super);
		return fault_hint(f, "capture again when the commit is over; "
				  "after a crash open the database once with "
				  "the program that owns it");
	}
	if (refuse_journal && strcmp(i->journal, "hot") == 0)
		return fault_set(f, FAULT_REFUSED, "a transaction is in its "
				 "rollback journal, and --journal refuse was "
				 "given");
	if (!i->salts_agree)
		return fault_set(f, FAULT_REFUSED, "the salts of WAL and SHM "
				 "differ: they are not of one generation");
	if (rollback && i->wal_committed > 0) {
		fault_set(f, FAULT_REFUSED, "main is in rollback mode, yet a "
			  "WAL with %lld committed frame%s lies beside it: it "
			  "is the WAL of another file or time",
			  (long long)i->wal_committed,
			  plural_s((uint64_t)i->wal_committed));
		return fault_hint(f, "stock SQLite would replay it over this "
				  "main: find out where it came from before "
				  "anything opens the database");
	}
	if (rollback && h->locks.exclusive && !hold_has_journal(h)) {
		fault_set(f, FAULT_AMBIGUOUS, "process %d holds an EXCLUSIVE "
			  "lock on main and has no journal of it open: inside "
			  "a transaction with journal_mode MEMORY or OFF it "
			  "looks so, and the original pages are in no file",
			  (int)h->locks.exclusive_pid);
		return fault_hint(f, "where the writer keeps that lock between"
				  " transactions (locking_mode EXCLUSIVE) or "
				  "began with BEGIN EXCLUSIVE, capture it when "
				  "it has let go");
	}
	return 0;
}

int
inspect_note(const struct inspection *i, struct notes *notes, struct fault *f)
{
	bool foreign = strcmp(i->header, "not-a-database") == 0;
	bool cut = strcmp(i->header, "short") == 0;

	/* A hot journal can bring a first page back that main has lost. */
	if ((!foreign && !cut) || strcmp(i->journal, "hot") == 0)
		return 0;
	return notes_add(notes, f, "content", "%s: it was kept as it is, and "
			 "recover will not read it", foreign ?
			 "not a database, or encrypted" :
			 "truncated: the database header is not whole");
}
