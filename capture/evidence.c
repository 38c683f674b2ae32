/*
 * evidence.c - what a reader is given: a packet, or a plain database file
 */
#include "capture/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/own.h"
#include "capture/hold.h"
#include "packet/packet.h"

struct evidence {
	struct held file;	/* the packet */
	struct packet *packet;	/* NULL: a plain file */
	struct selection selection;
	struct hold hold;	/* of a plain file */
	uint64_t now_ns;
};

static int
S_is_live(const struct hold *h, const struct selection *s, const char *path,
	  struct fault *f)
{
	for (size_t i = 0; i < h->holders.count; i++) {
		const struct holder *who = &h->holders.holder[i];

		for (size_t k = 0; k < who->nfds; k++) {
			if (who->fd[k].dev != s->dev ||
			    who->fd[k].ino != s->ino)
				continue;
			fault_set(f, FAULT_REFUSED, "process %d has the "
				  "database open (%ju:%ju)", (int)who->pid,
				  (uintmax_t)s->dev, (uintmax_t)s->ino);
			return fault_hint(f, "capture it first: holdfast "
					  "capture -o FILE.holdfast %s", path);
		}
	}
	return 0;
}

static int
S_open_plain(struct evidence *e, const char *path, bool accept_names,
	     struct fault *f)
{
	const struct hold_rules rules = { .accept_names = accept_names };
	int rc = hold_look(&e->hold, &e->selection, &rules, f);

	if (rc >= 0)
		rc = S_is_live(&e->hold, &e->selection, path, f);
	if (!rc)
		rc = hold_stopped(&e->hold, &e->selection, &rules, f);
	if (!rc)
		rc = hold_describe(&e->hold, f);
	return rc;
}

static int
S_open(struct evidence *e, const char *path, const struct evidence_options *o,
       struct fault *f)
{
	int rc = selection_make(path, false, &e->selection, f);

	if (!rc)
		rc = held_from_path_fd(&e->file, e->selection.path_fd, f);
	if (!rc)
		rc = packet_open(e->file.fd, &e->packet, f);
	if (rc < 0)
		return rc;
	if (rc == 1 && o->expect_id) {
		fault_set(f, FAULT_DAMAGED, "expected the packet %s, found a "
			  "file that is no packet", o->expect_id);
		return fault_hint(f, "--expect-id goes with packets");
	}
	if (rc == 1 && selection_no_sidecar(path, f))
		return -(int)f->code;
	if (rc == 1)
		return S_open_plain(e, path, o->accept_names, f);
	if (o->expect_id && strcmp(o->expect_id, packet_id(e->packet)) != 0)
		return fault_set(f, FAULT_DAMAGED, "expected the packet %s, "
				 "found %s", o->expect_id,
				 packet_id(e->packet));
	return 0;
}

int
evidence_open(const char *path, const struct evidence_options *o,
	      struct evidence **out, struct fault *f)
{
	OWN_EVIDENCE(e);

	e = calloc(1, sizeof(*e));
	if (!e)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	e->file = (struct held)HELD_INIT;
	e->selection = (struct selection)SELECTION_INIT;
	hold_init(&e->hold);
	e->now_ns = clock_real_ns();
	if (S_open(e, path, o, f))
		return fault_wrap(f, "%s", path);
	*out = e;
	e = NULL;
	return 0;
}

void
evidence_side(const struct evidence *e, int slot, int *fds, size_t *n,
	      struct ask_side *side)
{
	*n = 0;
	if (e->packet) {
		fds[(*n)++] = e->file.fd;
		packet_side(e->packet, slot, side);
		return;
	}
	memset(side, 0, sizeof(*side));
	side->now_ns = e->now_ns;
	for (enum role r = 0; r < ROLE_COUNT; r++) {
		const struct held *h = &e->hold.held[r];

		if (h->fd < 0)
			continue;
		side->member[r] = (struct ask_member){
			.present = 1,
			.role = r,
			.fd = slot + (int)*n,
			.size = (uint64_t)h->st.st_size,
		};
		fds[(*n)++] = h->fd;
	}
}

const char *
evidence_id(const struct evidence *e)
{
	return e->packet ? packet_id(e->packet) : NULL;
}

const struct notes *
evidence_notes(const struct evidence *e)
{
	return e->packet ? &packet_manifest(e->packet)->not_checked
			 : &e->hold.notes;
}

int
evidence_still(const struct evidence *e, struct fault *f)
{
	/* Each block of a packet is checked as it is read. */
	if (e->packet)
		return 0;
	if (hold_still(&e->hold, f) || hold_alone(&e->hold, f))
		return fault_wrap(f, "%s", e->selection.path);
	return 0;
}

void
evidence_free(struct evidence *e)
{
	if (!e)
		return;
	packet_free(e->packet);
	held_free(&e->file);
	hold_free(&e->hold);
	selection_free(&e->selection);
	free(e);
}
