/*
 * f_journal.c - fuzzes recover/journal.h's account of a rollback journal
 *
 * Whatever the bytes are, each record lies inside the file and names a page
 * that main had, and a super-journal's name is printable.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "recover/images.h"
#include "recover/journal.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void
S_check(const struct journal *j, size_t n)
{
	const struct journal_account *a = journal_account(j);

	MUST(a->records == 0 || journal_hot(j));
	MUST(strlen(a->super_name) < sizeof(a->super_name));
	for (const char *p = a->super_name; *p; p++)
		MUST(*p >= 0x20 && *p < 0x7f);
	for (uint64_t i = 0; i < a->records; i++) {
		struct journal_record r = journal_record(j, i);

		MUST(r.pgno >= 1 && r.pgno <= a->pages);
		MUST(r.offset + a->page_size + 4 <= n);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct images_reader *r = NULL;
	struct images *im = NULL;
	struct fault f = FAULT_INIT;
	struct ask_side side;
	OWN_FD(fd);

	fd = memfd_create("journal", MFD_CLOEXEC);
	if (fd < 0 || io_pwrite_all(fd, bytes, n, 0, &f))
		return 0;
	memset(&side, 0, sizeof(side));
	side.member[ROLE_JOURNAL] = (struct ask_member) {
		.present = 1, .role = ROLE_JOURNAL, .fd = fd, .size = n
	};
	if (images_open(&im, &side, &f) || images_reader_new(&r, im, &f))
		n = 0;
	for (int unsynced = 0; r && unsynced < 2; unsynced++) {
		struct journal *j = NULL;
		int rc = unsynced
			? journal_read_unsynced(r, 64u << 20, &j, &f)
			: journal_read(r, 1024, 64u << 20, &j, &f);

		if (!rc)
			S_check(j, n);
		journal_free(j);
	}
	images_reader_free(r);
	images_free(im);
	return 0;
}
