/*
 * images.h - the files of one database as bytes that were checked
 *
 * Lifecycle: images_open, images_reader_new for each thread or connection,
 * images_read, images_reader_free, images_finish, images_free.
 *
 * Trust: with a block list nothing is given out that was not compared with
 * it after it had been copied into our own memory; whoever can write to the
 * storage meanwhile gains nothing. The list itself is copied once and must
 * have the digest that the manifest names. Without a list (a plain file)
 * the bytes are the file's; the front end shows that it did not move.
 */
#ifndef RECOVER_IMAGES_H
#define RECOVER_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/role.h"
#include "reply/ask.h"

struct images;
struct images_reader;

/*
 * The side is copied. FAULT_DAMAGED: "blocks.sha256 differs from the
 * manifest", or the list does not cover the members.
 */
int
images_open(struct images **im, const struct ask_side *side, struct fault *f);
void
images_free(struct images *im);

bool
images_has(const struct images *im, enum role role);
/* Bytes; 0 for one that is absent. */
uint64_t
images_size(const struct images *im, enum role role);

/* Reading state of one thread; im must outlive it. */
int
images_reader_new(struct images_reader **r, struct images *im,
		  struct fault *f);
void
images_reader_free(struct images_reader *r);
/* As images_has and images_size, of the images that r reads. */
bool
images_reader_has(const struct images_reader *r, enum role role);
uint64_t
images_reader_size(const struct images_reader *r, enum role role);

/*
 * n bytes at offset, all of them inside the member. FAULT_DAMAGED names the
 * block that differs; FAULT_UNSTABLE: the file became shorter.
 */
int
images_read(struct images_reader *r, enum role role, uint64_t offset,
	    void *bytes, size_t n, struct fault *f);

/* Checks each block that nothing has read yet. */
int
images_finish(struct images *im, struct fault *f);

/*
 * The first fault of any read is kept, since SQLite only passes on that an
 * I/O error happened. images_fault gives it: 0 there was none, or its code.
 */
void
images_keep(struct images *im, const struct fault *what);
int
images_fault(struct images *im, struct fault *f);

#endif
