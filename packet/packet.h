/*
 * packet.h - one capture as one file
 *
 * Format: docs/FORMATS.md, "Packet". An uncompressed POSIX tar: db/NAME and
 * its sidecars, each page-aligned in the archive; blocks.sha256; and last
 * manifest.json. Every header is canonical: a reader makes it again from
 * the manifest and compares the bytes.
 */
#ifndef PACKET_PACKET_H
#define PACKET_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/role.h"
#include "packet/manifest.h"
#include "reply/ask.h"

/*
 * Reading. Lifecycle: packet_open, packet_side, packet_free.
 * packet_open checks the manifest, all headers and padding, not the data:
 * the helper checks each block as it copies it.
 */
struct packet;

/*
 * fd is borrowed until packet_free. 1: its first bytes are those of no tar
 * archive, so it is no packet at all: a plain file? Anything that begins as
 * a packet and is not one to the last byte is FAULT_DAMAGED.
 */
int
packet_open(int fd, struct packet **p, struct fault *f);
void
packet_free(struct packet *p);

/* The SHA-256 of the manifest's bytes, in hex; borrowed. */
const char *
packet_id(const struct packet *p);
/* The database's base name, raw bytes; borrowed. */
const char *
packet_database(const struct packet *p);

/* Borrowed. */
const struct manifest *
packet_manifest(const struct packet *p);

/*
 * Describes it to the helper: all members are of descriptor slot (an
 * EVIDENCE_FD number of the child).
 */
void
packet_side(const struct packet *p, int slot, struct ask_side *side);

static inline void
own_packet_free(struct packet **p)
{
	packet_free(*p);
	*p = NULL;
}

#define OWN_PACKET(name) \
	struct packet *name __attribute__((cleanup(own_packet_free))) = NULL

#endif
