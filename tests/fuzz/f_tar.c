/*
 * f_tar.c - fuzzes packet/tar.h's decoder, and packet_open over whole files
 *
 * What the decoder takes must be exactly what the encoder makes of it.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "packet/packet.h"
#include "packet/tar.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void
S_headers(const uint8_t *bytes, size_t n)
{
	unsigned char again[TAR_HEAD_MAX];
	struct fault f = FAULT_INIT;
	struct tar_member m;
	size_t len;

	if (tar_head_parse(bytes, n, 0, &m, &f)) {
		MUST(f.code == FAULT_DAMAGED);
		return;
	}
	len = (size_t)(m.place.data - m.place.head);
	MUST(len <= n && m.place.data % TAR_ALIGN == 0);
	tar_head_make(&m, again);
	MUST(memcmp(again, bytes, len) == 0);
}

static void
S_packet(const uint8_t *bytes, size_t n)
{
	struct fault f = FAULT_INIT;
	OWN_PACKET(p);
	OWN_FD(fd);
	int rc;

	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || io_pwrite_all(fd, bytes, n, 0, &f))
		return;
	rc = packet_open(fd, &p, &f);
	MUST(rc == 0 || rc == 1 || rc == -FAULT_DAMAGED);
	if (rc == 0) {
		struct ask_side side;

		packet_side(p, EVIDENCE_FD, &side);
		for (int r = 0; r < ROLE_COUNT; r++)
			MUST(side.member[r].offset + side.member[r].size <= n);
		MUST(side.blocks_offset + side.blocks_count * DIGEST_BYTES
		     <= n);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	S_headers(bytes, n);
	S_packet(bytes, n);
	return 0;
}
