/*
 * account.h - what the images of one database hold, before SQLite sees them
 *
 * Lifecycle: account_open, account_judge, account_free.
 */
#ifndef RECOVER_ACCOUNT_H
#define RECOVER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "recover/header.h"
#include "recover/images.h"
#include "recover/journal.h"
#include "recover/shm.h"
#include "recover/state.h"
#include "recover/wal.h"
#include "reply/ask.h"

struct account {
	struct images *images;		/* owned, as all below */
	struct images_reader *reader;
	struct wal *wal;
	struct journal *journal;
	struct shm_facts shm;
	struct header header;		/* of main as it lies there */
	/* Filled by account_judge: */
	bool live_known;
	uint32_t live_frames;
	bool views_agree;
	uint64_t frames;	/* of the WAL that the chosen view has */
};

/* What the bytes say never fails: a fault is one of reading, or a cap. */
int
account_open(struct account *a, const struct ask_side *side, uint64_t memory,
	     struct fault *f);
void
account_free(struct account *a);

/*
 * Settles the view. FAULT_DAMAGED: commits are lost, or main is truncated,
 * or no database; FAULT_REFUSED: a super-journal, a live view that nothing
 * shows.
 */
int
account_judge(struct account *a, enum state_view view, struct fault *f);

/* 0, or FAULT_DAMAGED that says in which way it is no database. */
int
account_header(const struct header *h, uint64_t size, struct fault *f);

#endif
