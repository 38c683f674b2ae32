/*
 * facts.h - what was found out about one side, as FACT frames
 */
#ifndef HELPER_FACTS_H
#define HELPER_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "recover/state.h"
#include "reply/wire.h"

/* wal.present and the counts behind it; journal.state and its counts. */
int
facts_wal(struct wire *w, int side, const struct wal_account *a,
	  struct fault *f);
int
facts_journal(struct wire *w, int side, const struct journal_account *a,
	      struct fault *f);

/* All that state_open found. */
int
facts_state(struct wire *w, int side, const struct state_facts *s,
	    struct fault *f);

int
facts_blob(struct wire *w, int side, const char *key,
	   const unsigned char raw[DIGEST_BYTES], struct fault *f);
int
facts_null(struct wire *w, int side, const char *key, struct fault *f);

#endif
