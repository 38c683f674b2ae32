/*
 * overlay.h - main as a hot journal's rollback changes it, in memory
 *
 * Copy on write: what was written is ours, all else is read from the image.
 * Written by the connection that rolls back, before any other exists.
 */
#ifndef RECOVER_OVERLAY_H
#define RECOVER_OVERLAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "recover/images.h"

struct overlay;

/* im is borrowed; memory: bytes that the written parts may take. */
int
overlay_new(struct overlay **o, struct images *im, uint64_t memory,
	    struct fault *f);
void
overlay_free(struct overlay *o);

uint64_t
overlay_size(const struct overlay *o);

/* n bytes at offset, inside the size; r reads the image. */
int
overlay_read(const struct overlay *o, struct images_reader *r,
	     uint64_t offset, void *bytes, size_t n, struct fault *f);

/* Grows the size where it must; a gap reads as zeros. FAULT_CAP. */
int
overlay_write(struct overlay *o, struct images_reader *r, uint64_t offset,
	      const void *bytes, size_t n, struct fault *f);

/* Makes the size smaller, or larger by zeros. */
int
overlay_truncate(struct overlay *o, struct images_reader *r, uint64_t size,
		 struct fault *f);

#endif
