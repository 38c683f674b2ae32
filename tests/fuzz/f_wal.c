/*
 * f_wal.c - fuzzes recover/wal.h's account of a WAL
 *
 * Whatever the bytes are, the counts add up, and a look-up gives the last
 * frame that holds its page.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "recover/images.h"
#include "recover/wal.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int
S_count(void *arg, const struct wal_frame *fr, struct fault *f)
{
	uint64_t *frames = arg;

	(void)f;
	MUST(fr->number == ++*frames);
	return 0;
}

static void
S_check(struct wal *w, uint64_t frames, size_t n)
{
	const struct wal_account *a = wal_account(w);
	uint64_t valid = a->committed + a->uncommitted;
	struct fault f = FAULT_INIT;
	struct wal_commit c;

	MUST(a->frames == frames);
	MUST(valid + a->stale + a->damaged == a->frames);
	MUST(a->present == (n > 0));
	MUST(!(a->header_valid && a->header_damaged));
	MUST(a->first_bad == (valid < frames ? valid + 1 : 0));
	MUST(a->committed == 0 || wal_commit_at(w, a->committed, &c) == 0);
	if (wal_loss(w, &f))
		MUST(f.code == FAULT_DAMAGED);
	MUST(wal_view(w, valid, &f) == 0);
	for (uint64_t i = valid; i > 0; i--)
		MUST(wal_find(w, wal_pgno(w, i)) >= i);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint64_t frames = 0;
	struct wal_options o = {
		.page_size = 512, .memory = 64u << 20,
		.frame = S_count, .arg = &frames
	};
	struct images_reader *r = NULL;
	struct images *im = NULL;
	struct fault f = FAULT_INIT;
	struct ask_side side;
	struct wal *w = NULL;
	OWN_FD(fd);

	fd = memfd_create("wal", MFD_CLOEXEC);
	if (fd < 0 || io_pwrite_all(fd, bytes, n, 0, &f))
		return 0;
	memset(&side, 0, sizeof(side));
	side.member[ROLE_WAL] = (struct ask_member) {
		.present = 1, .role = ROLE_WAL, .fd = fd, .size = n
	};
	if (!images_open(&im, &side, &f) && !images_reader_new(&r, im, &f) &&
	    !wal_read(r, &o, &w, &f))
		S_check(w, frames, n);
	wal_free(w);
	images_reader_free(r);
	images_free(im);
	return 0;
}
