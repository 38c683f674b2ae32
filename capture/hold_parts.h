/*
 * hold_parts.h - the steps of hold_live and hold_stopped, for hold*.c alone
 */
#ifndef CAPTURE_HOLD_PARTS_H
#define CAPTURE_HOLD_PARTS_H

#include "capture/hold.h"

/* hold_pause.c */

bool
hold_holds(const struct holder *who, dev_t dev, ino_t ino);
bool
hold_is_paused(const struct hold *h, const struct holder *who);
int
hold_scan(struct hold *h, const struct inode_id *ids, size_t n,
	  struct fault *f);
int
hold_refuse_strangers(const struct hold *h, const struct selection *s,
		      struct fault *f);
int
hold_list_writer(struct hold *h, const struct proc *p,
		 const struct holder *who, bool paused, struct fault *f);
/*
 * Searches the writers' memory, while they run, for what the binding will
 * want to know; nothing where one database is open. It may fail: then less
 * is known.
 */
void
hold_foresee(struct hold *h, const struct selection *s,
	     const struct hold_rules *rules);
/* Pauses, collects and binds to a fixpoint; fills h->held. */
int
hold_settle(struct hold *h, const struct selection *s,
	    const struct hold_rules *rules, struct fault *f);

/* hold_names.c */

int
hold_add_names(struct hold *h, const char *path, struct fault *f);
/* Each spelling by which a holder opened main. */
int
hold_gather_names(struct hold *h, const struct selection *s,
		  struct fault *f);
/* Judges all names, and takes what only a name shows, by the stopped rules. */
int
hold_judge_names(struct hold *h, const struct hold_rules *rules,
		 struct fault *f);

#endif
