/*
 * attack_journal.h - what is crossed, for whoever has to put it back
 *
 * Format: a file .holdfast-attack-HASH in the folder of the name, where HASH
 * is FNV-1a of the name. Empty, or one JSON object with format, pid, kind,
 * name, name_inode, other, other_inode, folder. It is written and on the
 * disk before anything is crossed; what it says is true until the next
 * write, and those are done only when nothing is crossed. So an empty or a
 * torn one means that nothing is.
 *
 * Who lives holds it by flock: the supervisor and its guardian together.
 *
 * Trust: another user's file under that name is never followed.
 */
#ifndef CONTROLS_ATTACK_JOURNAL_H
#define CONTROLS_ATTACK_JOURNAL_H

#include "controls/attack_swap.h"

/*
 * Puts back what runs that died left crossed in the folder of the name, and
 * takes an empty journal for this swap. 0, or -1 and it is said why.
 */
int
journal_open(struct swap *s);

/* Before swap_in: writes and syncs, where it does not say this already. */
int
journal_record(const struct swap *s);

/* Puts back what the journal says is crossed. 0: all is straight. */
int
journal_undo(const struct swap *s);

/* At the end, when all is straight. */
void
journal_remove(struct swap *s);

#endif
