/*
 * result.h - what a hold tells the caller of a capture
 */
#ifndef CAPTURE_RESULT_H
#define CAPTURE_RESULT_H

#include "capture/capture.h"
#include "capture/hold.h"

/* All but packet, id, attempts and the digests; h hands its lists over. */
int
result_fill(struct capture_result *r, struct hold *h, const char *database,
	    struct fault *f);

#endif
