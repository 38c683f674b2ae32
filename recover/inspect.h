/*
 * inspect.h - what capture must know of staged images: no SQL runs
 */
#ifndef RECOVER_INSPECT_H
#define RECOVER_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "recover/header.h"
#include "recover/journal.h"
#include "recover/shm.h"
#include "recover/wal.h"
#include "reply/ask.h"

struct inspect_facts {
	struct header header;
	uint64_t pages;		/* header's where it is trusted, else main's
				   size in pages; 0: no page size */
	struct wal_account wal;
	struct shm_facts shm;
	bool salts_agree;	/* false only if WAL and SHM are initialised
				   and differ; a SHM without frames, as after
				   the restart of a WAL, agrees */
	struct journal_account journal;
};

/* Damage is a fact here, never a fault. memory: bytes; 0: the default. */
int
inspect_run(const struct ask_side *side, uint64_t memory,
	    struct inspect_facts *facts, struct fault *f);

#endif
