/*
 * bed_journal.c - rollback journals of a transaction that did not end
 */
#include "controls/bed_journal.h"

#include <stdlib.h>
#include <string.h>

#include "controls/bed.h"
#include "controls/bed_file.h"

#define JOURNAL_LOCK_BYTE 0x40000000u

unsigned
bed_spilled(struct trial *t, struct bed_writer *w, const char *path,
	    unsigned rows)
{
	unsigned c = bed_bank(t, w, path, "delete", rows);

	(void)bed_sql(t, w, c, "update acct set who = who ||"
		      " printf('%%.100c', 'x')");
	(void)bed_sql(t, w, c, "pragma cache_size=2; begin immediate;"
		      " update acct set bal = 7");
	return c;
}

static uint8_t *
S_put32(uint8_t *p, uint32_t v)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		*p++ = (uint8_t)(v >> shift);
	return p;
}

void
bed_name_super(struct trial *t, const char *db, unsigned page_size,
	       const char *super)
{
	static const uint8_t magic[] = {
		0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	const char *journal = bed_text(t, "%s-journal", db);
	struct bed_bytes b = bed_read(t, journal);
	size_t n = strlen(super);
	uint8_t *all = realloc(b.p, b.n + n + 20), *p;
	uint32_t sum = 0;

	if (!all)
		trial_die(t, "no memory");
	for (size_t i = 0; i < n; i++)
		sum = (uint32_t)((int64_t)sum + (signed char)super[i]);
	p = S_put32(all + b.n, JOURNAL_LOCK_BYTE / page_size + 1);
	memcpy(p, super, n);
	p = S_put32(p + n, (uint32_t)n);
	p = S_put32(p, sum);
	memcpy(p, magic, sizeof(magic));
	bed_write(t, journal, all, b.n + n + 20);
	free(all);
}
