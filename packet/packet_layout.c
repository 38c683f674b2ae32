/*
 * packet_layout.c - where everything stands in a packet
 */
#include "packet/packet_layout.h"

#include <stdio.h>
#include <string.h>

#include "base/digest.h"

static int
S_place(struct tar_member *m, uint64_t *at, uint64_t size, uint64_t mtime,
	struct fault *f)
{
	int rc = tar_place(*at, m->name, size, &m->place, f);

	if (rc)
		return rc;
	m->size = size;
	m->mtime = mtime;
	*at = m->place.end;
	return 0;
}

int
packet_layout_make(struct packet_layout *l, const char *database,
		   const bool present[ROLE_COUNT],
		   const uint64_t bytes[ROLE_COUNT], uint64_t mtime,
		   struct fault *f)
{
	uint64_t at = 0, blocks = 0;
	int rc = 0;

	for (int r = 0; rc == 0 && r < ROLE_COUNT; r++) {
		struct tar_member *m = &l->member[r];

		l->present[r] = present[r];
		if (!present[r])
			continue;
		(void)snprintf(m->name, sizeof(m->name), PACKET_FOLDER "%s%s",
			       database, role_suffix((enum role)r));
		l->first_block[r] = blocks;
		blocks += bytes[r] / BLOCK_BYTES
			  + (bytes[r] % BLOCK_BYTES != 0);
		rc = S_place(m, &at, bytes[r], mtime, f);
	}
	l->blocks_count = blocks;
	(void)strcpy(l->blocks.name, PACKET_BLOCKS);
	if (rc == 0)
		rc = S_place(&l->blocks, &at, blocks * DIGEST_BYTES, mtime, f);
	return rc;
}

int
packet_layout_manifest(struct packet_layout *l, uint64_t bytes,
		       struct fault *f)
{
	uint64_t at = l->blocks.place.end;

	(void)strcpy(l->manifest.name, PACKET_MANIFEST);
	return S_place(&l->manifest, &at, bytes, l->blocks.mtime, f);
}

size_t
packet_layout_list(const struct packet_layout *l,
		   const struct tar_member *list[PACKET_MEMBERS_MAX])
{
	size_t n = 0;

	for (int r = 0; r < ROLE_COUNT; r++)
		if (l->present[r])
			list[n++] = &l->member[r];
	list[n++] = &l->blocks;
	list[n++] = &l->manifest;
	return n;
}

void
packet_layout_side(const struct packet_layout *l, int slot,
		   struct ask_side *side)
{
	memset(side, 0, sizeof(*side));
	side->blocks_fd = -1;
	for (int r = 0; r < ROLE_COUNT; r++) {
		struct ask_member *m = &side->member[r];

		m->role = (uint32_t)r;
		m->fd = -1;
		if (!l->present[r])
			continue;
		m->present = 1;
		m->fd = slot;
		m->offset = l->member[r].place.data;
		m->size = l->member[r].size;
		m->first_block = l->first_block[r];
	}
}
