/*
 * attack_swap.h - one file in the place of another, and back
 *
 * Lifecycle: swap_open, then swap_look, swap_in and swap_back for each
 * exchange, swap_close.
 */
#ifndef CONTROLS_ATTACK_SWAP_H
#define CONTROLS_ATTACK_SWAP_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

enum swap_kind {
	SWAP_EXCHANGE,		/* both names exist */
	SWAP_PUT_IN,		/* the name is free: the substitute gets it */
	SWAP_TAKE_OUT,		/* there is no substitute: the name is freed */
	SWAP_KINDS,
};

/* Two names and who stands there when nothing is crossed; 0: nobody. */
struct crossing {
	enum swap_kind kind;
	int dir, other_dir;
	char name[NAME_MAX + 1];
	char other[NAME_MAX + 1];
	ino_t name_ino, other_ino;
};

enum crossing_state {
	CROSSING_STRAIGHT,	/* all names are as before the attack */
	CROSSING_CROSSED,
	CROSSING_CHANGED,	/* one of the two stands in the other's place */
	CROSSING_FOREIGN,	/* neither does, and others stand there */
};

struct swap {
	struct crossing c;
	dev_t dir_dev;		/* of the folder of the name */
	ino_t dir_ino;
	dev_t other_dev;	/* of the substitute */
	char folder[PATH_MAX];	/* of the substitute; empty: the same */
	bool absent;		/* the substitute is "-" */
	int journal;
	bool crossed;		/* not put back yet */
	unsigned long opens, attacks;
	unsigned long paths;	/* opens with O_PATH that went on as they were */
};

/*
 * Takes NAME=SUBSTITUTE apart and holds both folders. `exchange` says that
 * the two will be exchanged by name: they must be on one file system then.
 * 0, or -1 and it is said why.
 */
int
swap_open(struct swap *s, const char *arg, bool exchange);

void
swap_close(struct swap *s);

/*
 * Fills kind and inodes as the names are now. 0; 1: the name is free
 * already and shall be free, so there is nothing to do; -1: said why.
 */
int
swap_look(struct swap *s);

/* Crosses. 0, or -1: said why, and nothing is crossed. */
int
swap_in(const struct crossing *c);

enum crossing_state
swap_state(const struct crossing *c);

/* Puts back what is crossed. 0 when all is straight; -1: said what is found. */
int
swap_back(const struct crossing *c);

#endif
