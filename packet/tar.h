/*
 * tar.h - canonical tar headers of a packet's members
 *
 * Format (POSIX.1-2001 pax over ustar), for each member:
 *  1. a ustar header of type 'x', named "././@PaxHeader";
 *  2. its records, filling whole TAR_BLOCKs: first "comment=" with
 *     TAR_MARK and as many blanks as bring the data to a multiple of
 *     TAR_ALIGN; then, only where the name is longer than TAR_NAME_MAX,
 *     "hdrcharset=BINARY" (only where it is not UTF-8) and "path="; then,
 *     only from TAR_SIZE_PAX on, "size=";
 *  3. a ustar header of type '0': name (its first TAR_NAME_MAX bytes), mode
 *     0600, uid and gid 0, no owner names, size (0 where it is above), the
 *     capture's time in seconds;
 *  4. the data, and zeros up to a whole TAR_BLOCK.
 * Two blocks of zeros end the archive, and the file ends there.
 *
 * A header follows from where it stands, the name, the size and the time. So
 * a reader decodes these, makes the header again and compares every byte.
 */
#ifndef PACKET_TAR_H
#define PACKET_TAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define TAR_BLOCK 512u
#define TAR_ALIGN 4096u
#define TAR_END (2 * TAR_BLOCK)
#define TAR_NAME_MAX 100u	/* bytes that fit in the ustar header */
#define TAR_PATH_MAX 512u	/* bytes of a member's name */
#define TAR_SIZE_PAX (8ull << 30)
#define TAR_TIME_MAX ((8ull << 30) - 1)	/* seconds */
#define TAR_HEAD_MAX (TAR_BLOCK * (2 + 2 * TAR_ALIGN / TAR_BLOCK))
#define TAR_MARK "holdfast-packet/1"

/* Where one member stands, in bytes from the start of the archive. */
struct tar_place {
	uint64_t head;		/* the first header */
	uint64_t data;		/* a multiple of TAR_ALIGN */
	uint64_t end;		/* behind the padding: the next head */
};

struct tar_member {
	char name[TAR_PATH_MAX + 1];
	uint64_t size;
	uint64_t mtime;		/* seconds */
	struct tar_place place;
};

/*
 * head must be a multiple of TAR_BLOCK. FAULT_CAP where the name is longer
 * than TAR_PATH_MAX or the archive would pass 2^62 bytes.
 */
int
tar_place(uint64_t head, const char *name, uint64_t size, struct tar_place *p,
	  struct fault *f);

/* Writes the data - head bytes of m's headers; at most TAR_HEAD_MAX. */
void
tar_head_make(const struct tar_member *m, unsigned char *out);

/*
 * Decodes the headers at archive offset head from n bytes of it, as many as
 * there are up to TAR_HEAD_MAX. FAULT_DAMAGED where they are not exactly
 * what tar_head_make writes.
 */
int
tar_head_parse(const unsigned char *bytes, size_t n, uint64_t head,
	       struct tar_member *m, struct fault *f);

/*
 * As tar_head_parse from the archive fd of size bytes, and the padding
 * behind the data is zero. 1: the archive ends at head, properly.
 */
int
tar_walk(int fd, uint64_t size, uint64_t head, struct tar_member *m,
	 struct fault *f);

/*
 * 0: the n first bytes of a file are meant to be one of our archives (or of
 * any tar), whole or not. 1: they are something else.
 */
int
tar_begins(const unsigned char *bytes, size_t n);

#endif
