/*
 * packet_layout.h - where everything stands in a packet
 *
 * It follows from the database's name, the members' sizes and the capture's
 * time alone: the writer lays out what it is going to write, the reader what
 * it must find.
 */
#ifndef PACKET_PACKET_LAYOUT_H
#define PACKET_PACKET_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/role.h"
#include "packet/tar.h"
#include "reply/ask.h"

#define PACKET_FOLDER "db/"
#define PACKET_BLOCKS "blocks.sha256"
#define PACKET_MANIFEST "manifest.json"

struct packet_layout {
	bool present[ROLE_COUNT];
	struct tar_member member[ROLE_COUNT];	/* where present */
	uint64_t first_block[ROLE_COUNT];
	uint64_t blocks_count;
	struct tar_member blocks;
	struct tar_member manifest;
};

/* All but the manifest's place. mtime: seconds. */
int
packet_layout_make(struct packet_layout *l, const char *database,
		   const bool present[ROLE_COUNT],
		   const uint64_t bytes[ROLE_COUNT], uint64_t mtime,
		   struct fault *f);

/* Places the manifest of that many bytes behind the rest. */
int
packet_layout_manifest(struct packet_layout *l, uint64_t bytes,
		       struct fault *f);

/* Puts the members in their order into list; returns how many. */
#define PACKET_MEMBERS_MAX (ROLE_COUNT + 2)
size_t
packet_layout_list(const struct packet_layout *l,
		   const struct tar_member *list[PACKET_MEMBERS_MAX]);

/* The members without a block list. */
void
packet_layout_side(const struct packet_layout *l, int slot,
		   struct ask_side *side);

#endif
