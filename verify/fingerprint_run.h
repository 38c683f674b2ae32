/*
 * fingerprint_run.h - the fingerprint of a plain connection
 */
#ifndef VERIFY_FINGERPRINT_RUN_H
#define VERIFY_FINGERPRINT_RUN_H

#include <sqlite3.h>

#include "verify/fingerprint.h"

/* As fingerprint_run; db is borrowed. */
int
fingerprint_database(sqlite3 *db, uint64_t memory,
		     const struct fingerprint_sink *sink,
		     unsigned char whole[DIGEST_BYTES],
		     unsigned char stat[DIGEST_BYTES], struct fault *f);

#endif
