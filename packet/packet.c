/*
 * packet.c - one capture as one file: reading
 *
 * Trust: every byte may be the attacker's. The headers are walked once to
 * find the manifest; then the whole layout is made again from the manifest,
 * and what was walked must be exactly that.
 */
#include "packet/packet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/own.h"
#include "packet/packet_layout.h"
#include "packet/tar.h"

struct packet {
	struct manifest manifest;
	struct packet_layout layout;
	unsigned char digest[DIGEST_BYTES];
	char id[DIGEST_HEX_BYTES];
};

struct walked {
	struct tar_member member[PACKET_MEMBERS_MAX];
	size_t count;
};

static int
S_walk(int fd, uint64_t size, struct walked *w, struct fault *f)
{
	uint64_t at = 0;
	int rc;

	for (;;) {
		struct tar_member m;

		rc = tar_walk(fd, size, at, &m, f);
		if (rc)
			break;
		if (w->count == PACKET_MEMBERS_MAX)
			return fault_set(f, FAULT_DAMAGED, "packet, offset "
					 "%" PRIu64 ": more members than a "
					 "packet has", at);
		at = m.place.end;
		w->member[w->count++] = m;
	}
	return rc == 1 ? 0 : rc;
}

static int
S_read_manifest(int fd, const struct walked *w, struct packet *p,
		struct fault *f)
{
	const struct tar_member *last = w->member + (w->count ? w->count - 1
							     : 0);
	OWN_MEM(unsigned char, bytes);
	int rc;

	/* Of an empty archive the first name is empty. */
	if (strcmp(last->name, PACKET_MANIFEST) != 0)
		return fault_set(f, FAULT_DAMAGED, "packet: its last member "
				 "is not " PACKET_MANIFEST);
	if (last->size > MANIFEST_BYTES_MAX)
		return fault_set(f, FAULT_DAMAGED, PACKET_MANIFEST ": %" PRIu64
				 " bytes, and the cap is %u", last->size,
				 MANIFEST_BYTES_MAX);
	bytes = malloc((size_t)last->size + 1);
	if (!bytes)
		return fault_set(f, FAULT_TROUBLE, "out of memory: manifest");
	rc = io_pread_all(fd, bytes, (size_t)last->size, last->place.data, f);
	if (rc)
		return rc;
	digest_of(bytes, (size_t)last->size, p->digest);
	digest_hex(p->digest, p->id);
	return manifest_read(&p->manifest, bytes, (size_t)last->size, f);
}

static int
S_layout(struct packet *p, uint64_t manifest_bytes, struct fault *f)
{
	const struct manifest *m = &p->manifest;
	bool present[ROLE_COUNT];
	uint64_t bytes[ROLE_COUNT];
	int rc;

	for (int r = 0; r < ROLE_COUNT; r++) {
		present[r] = m->member[r].present;
		bytes[r] = m->member[r].bytes;
	}
	rc = packet_layout_make(&p->layout, m->database, present, bytes,
				m->utc_ns / CLOCK_NS_PER_SEC, f);
	if (rc == 0)
		rc = packet_layout_manifest(&p->layout, manifest_bytes, f);
	/* Sizes that nothing could have are damage, no cap of ours. */
	if (rc == -FAULT_CAP)
		rc = fault_set(f, FAULT_DAMAGED, "packet: the manifest's "
			       "members don't fit in a file");
	return rc;
}

static int
S_compare(const struct walked *w, const struct packet_layout *l,
	  struct fault *f)
{
	const struct tar_member *list[PACKET_MEMBERS_MAX];
	size_t n = packet_layout_list(l, list);

	if (w->count != n)
		return fault_set(f, FAULT_DAMAGED, "packet: %zu members where "
				 "the manifest makes %zu", w->count, n);
	for (size_t i = 0; i < n; i++) {
		const struct tar_member *m = &w->member[i];

		if (strcmp(m->name, list[i]->name) != 0
		    || m->size != list[i]->size
		    || m->mtime != list[i]->mtime
		    || m->place.data != list[i]->place.data)
			return fault_set(f, FAULT_DAMAGED, "packet: the "
					 "header at offset %" PRIu64 " is not "
					 "the one that the manifest makes",
					 m->place.head);
	}
	return 0;
}

static int
S_check(int fd, uint64_t size, struct packet *p, struct fault *f)
{
	OWN_MEM(struct walked, w);
	int rc;

	w = calloc(1, sizeof(*w));
	if (!w)
		return fault_set(f, FAULT_TROUBLE, "out of memory: packet");
	rc = S_walk(fd, size, w, f);
	if (rc == 0)
		rc = S_read_manifest(fd, w, p, f);
	if (rc == 0)
		rc = S_layout(p, w->member[w->count - 1].size, f);
	return rc ? rc : S_compare(w, &p->layout, f);
}

int
packet_open(int fd, struct packet **p, struct fault *f)
{
	unsigned char first[TAR_BLOCK];
	struct stat st;
	OWN_PACKET(n);
	size_t got;
	int rc;

	if (fstat(fd, &st))
		return fault_sys(f, FAULT_TROUBLE, errno, "fstat the packet");
	rc = io_pread(fd, first, sizeof(first), 0, &got, f);
	if (rc == 0 && tar_begins(first, got))
		return 1;
	if (rc == 0)
		rc = digest_setup(f);
	if (rc)
		return rc;
	n = calloc(1, sizeof(*n));
	if (!n)
		return fault_set(f, FAULT_TROUBLE, "out of memory: packet");
	rc = S_check(fd, (uint64_t)st.st_size, n, f);
	if (rc)
		return rc;
	*p = n;
	n = NULL;
	return 0;
}

void
packet_free(struct packet *p)
{
	if (!p)
		return;
	manifest_free(&p->manifest);
	free(p);
}

const char *
packet_id(const struct packet *p)
{
	return p->id;
}

const char *
packet_database(const struct packet *p)
{
	return p->manifest.database;
}

const struct manifest *
packet_manifest(const struct packet *p)
{
	return &p->manifest;
}

void
packet_side(const struct packet *p, int slot, struct ask_side *side)
{
	packet_layout_side(&p->layout, slot, side);
	side->blocks_fd = slot;
	side->blocks_offset = p->layout.blocks.place.data;
	side->blocks_count = p->layout.blocks_count;
	memcpy(side->blocks_sha256, p->manifest.blocks_sha256, DIGEST_BYTES);
	side->now_ns = p->manifest.utc_ns;
}
