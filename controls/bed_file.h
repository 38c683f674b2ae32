/*
 * bed_file.h - files of a control: relative names are in its folder
 */
#ifndef CONTROLS_BED_FILE_H
#define CONTROLS_BED_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "controls/trial.h"

struct bed_bytes {
	uint8_t *p;
	size_t n;
};

struct bed_bytes
bed_read(struct trial *t, const char *path);
/* Makes or empties the file. */
void
bed_write(struct trial *t, const char *path, const void *p, size_t n);
/* Changes bytes of a file in its place. */
void
bed_patch(struct trial *t, const char *path, off_t at, const void *p,
	  size_t n);
void
bed_copy(struct trial *t, const char *from, const char *to);
void
bed_rename(struct trial *t, const char *from, const char *to);
/* Both names stay, each shows the other's file (renameat2). */
void
bed_exchange(struct trial *t, const char *a, const char *b);
void
bed_link(struct trial *t, const char *from, const char *to);
void
bed_symlink(struct trial *t, const char *target, const char *path);
void
bed_fifo(struct trial *t, const char *path);
void
bed_mkdir(struct trial *t, const char *path);
void
bed_unlink(struct trial *t, const char *path);

bool
bed_exists(const char *path);
off_t
bed_size(struct trial *t, const char *path);
/* Same bytes. */
bool
bed_equal(struct trial *t, const char *a, const char *b);
/* Of the name itself, where it is a link. */
ino_t
bed_inode(struct trial *t, const char *path);

#endif
