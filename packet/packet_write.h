/*
 * packet_write.h - makes one packet, which appears whole or not at all
 *
 * Lifecycle: packet_writer_open and packet_writer_prepare before the pause;
 * inside it packet_writer_reserve, then stage_copy and stage_compare against
 * packet_writer_fd at the offset of each role (again from reserve for
 * another attempt); after the resume packet_writer_side for the helper's
 * look, packet_writer_finish, packet_writer_publish; packet_writer_free in
 * every case: a packet that was not published leaves nothing behind.
 *
 * Headers and hashes are written by packet_writer_finish, since the pause
 * has no time for them.
 */
#ifndef PACKET_PACKET_WRITE_H
#define PACKET_PACKET_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/role.h"
#include "packet/manifest.h"
#include "packet/stage.h"
#include "reply/ask.h"

struct packet_writer;

#define PACKET_NAME_BYTES (NAME_MAX + 1)

/* "NAME-20260131T120000Z.holdfast": where the user names no output. */
void
packet_default_name(const char *database, uint64_t real_ns,
		    char name[PACKET_NAME_BYTES]);

/*
 * path: where it shall appear. Where that name is taken and force is false
 * the fault comes now, before any writer is paused.
 */
int
packet_writer_open(struct packet_writer **w, const char *path, bool force,
		   struct fault *f);
void
packet_writer_free(struct packet_writer *w);

/* interrupted and progress (either may be NULL) are called by prepare and
   finish; progress with bytes done of all bytes. */
void
packet_writer_watch(struct packet_writer *w, int (*interrupted)(void),
		    void (*progress)(void *arg, uint64_t done, uint64_t total),
		    void *arg);

/*
 * Disk space and memory for about so many bytes of each role, which may grow
 * until they are read. FAULT_TROUBLE where the disk has no room: then nobody
 * was paused for nothing.
 */
int
packet_writer_prepare(struct packet_writer *w, const char *database,
		      const uint64_t bytes[ROLE_COUNT], struct stage *s,
		      struct fault *f);

/*
 * Lays out the members: database is the base name, role r has bytes[r]
 * bytes where present[r] (main always is). No system call, no allocation.
 */
int
packet_writer_reserve(struct packet_writer *w, const char *database,
		      const bool present[ROLE_COUNT],
		      const uint64_t bytes[ROLE_COUNT], struct fault *f);

/* Read-write, and where role r's data starts. */
int
packet_writer_fd(const struct packet_writer *w);
uint64_t
packet_writer_offset(const struct packet_writer *w, enum role r);

/* The members are in it: see publish_begin_sync. */
void
packet_writer_begin_sync(const struct packet_writer *w);

/* The same file, read-only: for the helper. */
int
packet_writer_read_fd(const struct packet_writer *w);
/* Describes the staged members to the helper, as yet without a block list;
   now_ns as in struct ask_side. */
void
packet_writer_side(const struct packet_writer *w, int slot, uint64_t now_ns,
		   struct ask_side *side);

/* The output's name is at present that file: --force would take it away. */
bool
packet_writer_replaces(const struct packet_writer *w, dev_t dev, ino_t ino);

/*
 * FAULT_USAGE: the output's name is that of the database below dirfd or of
 * one of its sidecars, be it there or not. SQLite would take the packet for
 * a journal and delete it.
 */
int
packet_writer_check_name(const struct packet_writer *w, int dirfd,
			 const char *database, struct fault *f);

/*
 * Hashes, and writes everything but the data. m must be filled (its database
 * is the name given to reserve) but for each member's presence, bytes and
 * sha256 and the block list, which are set here. FAULT_USAGE where the output
 * would replace a file of the database itself.
 */
int
packet_writer_finish(struct packet_writer *w, struct stage *s,
		     struct manifest *m, struct fault *f);

/* Synced and under its name; id is the SHA-256 of the manifest in hex. */
int
packet_writer_publish(struct packet_writer *w, char id[DIGEST_HEX_BYTES],
		      struct fault *f);

static inline void
own_packet_writer_free(struct packet_writer **w)
{
	packet_writer_free(*w);
	*w = NULL;
}

#define OWN_PACKET_WRITER(name) \
	struct packet_writer *name \
		__attribute__((cleanup(own_packet_writer_free))) = NULL

#endif
