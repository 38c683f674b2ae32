/*
 * stage.c - the two reads of a file into the packet, and the hashing after
 *
 * Both reads hand out chunks in order to two lanes: the calling thread and
 * one worker; a small file has one lane. A chunk fits in the processor's second-level cache, so what a
 * lane read is still there when it writes or compares. Reading the staged
 * copy with pread costs little more than a mapping would, and can't fault.
 */
#include "packet/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/memory.h"
#include "base/own.h"
#include "base/worker.h"
#include "reply/ask.h"

#define CHUNK (256u << 10)
#define LANES 2
/* Below so many bytes a worker and its buffers cost more than they help. */
#define SHARE_FROM (4 * CHUNK)
#define SMALL_CHUNK (64u << 10)
/*
 * Of the memory that is available, 1/N may hold pages that wait for a copy:
 * below the share from which the kernel makes writers of dirty pages wait.
 */
#define PREFAULT_SHARE 8

enum pass {
	PASS_FILL,
	PASS_COPY,
	PASS_COMPARE,
};

struct job {
	size_t chunk;			/* bytes: CHUNK or SMALL_CHUNK */
	enum pass pass;
	int from, to;
	uint64_t size, to_offset, deadline_ns;
	int (*interrupted)(void);
	_Atomic uint64_t next;		/* the first byte nobody has taken */
	_Atomic bool stop;		/* a lane failed: take no more */
};

struct lane {
	struct job *job;
	unsigned char *source, *staged;	/* a chunk each */
	bool caller;			/* may ask whether we are interrupted */
	int rc;
	uint64_t at;			/* rc: the first byte that failed */
	struct fault fault;
};

struct stage {
	struct worker *worker;		/* NULL: one lane does all */
	unsigned char *buffers;		/* owned: two chunks for each lane */
	struct lane lane[LANES];
	struct job job;
	struct digest *whole, *block;
	unsigned char list[CHUNK / BLOCK_BYTES * DIGEST_BYTES];
};

static size_t
S_lanes(const struct stage *s)
{
	return s->job.chunk == CHUNK ? LANES : 1;
}

static size_t
S_buffers_bytes(const struct stage *s)
{
	return S_lanes(s) * 2 * s->job.chunk;
}

/*
 * All in one step: page by page the faults would take longer than the reads.
 * Each is written to as well: where we run in a virtual machine, the first
 * use of a page can cost as much as its fault.
 */
static int
S_new_buffers(struct stage *s, struct fault *f)
{
	size_t bytes = S_buffers_bytes(s), chunk = s->job.chunk;

	s->buffers = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (s->buffers == MAP_FAILED) {
		s->buffers = NULL;
		return fault_sys(f, FAULT_TROUBLE, errno, "buffers");
	}
	memset(s->buffers, 0, bytes);
	for (size_t i = 0; i < S_lanes(s); i++) {
		s->lane[i].source = s->buffers + 2 * i * chunk;
		s->lane[i].staged = s->lane[i].source + chunk;
	}
	return 0;
}

int
stage_new(struct stage **s, uint64_t foreseen, struct fault *f)
{
	OWN_STAGE(n);
	int rc;

	n = calloc(1, sizeof(*n));
	if (!n)
		return fault_set(f, FAULT_TROUBLE, "out of memory: buffers");
	n->job.chunk = foreseen < SHARE_FROM ? SMALL_CHUNK : CHUNK;
	for (int i = 0; i < LANES; i++) {
		n->lane[i].job = &n->job;
		n->lane[i].caller = i == 0;
	}
	rc = S_new_buffers(n, f);
	if (rc == 0)
		rc = digest_new(&n->whole, f);
	if (rc == 0)
		rc = digest_new(&n->block, f);
	if (rc == 0 && n->job.chunk == CHUNK)
		rc = worker_start(&n->worker, f);
	if (rc)
		return rc;
	*s = n;
	n = NULL;
	return 0;
}

void
stage_free(struct stage *s)
{
	if (!s)
		return;
	worker_free(s->worker);
	if (s->buffers)
		(void)munmap(s->buffers, S_buffers_bytes(s));
	digest_free(s->whole);
	digest_free(s->block);
	free(s);
}

static int
S_check_time(const struct lane *l, struct fault *f)
{
	const struct job *j = l->job;

	if (l->caller && j->interrupted && j->interrupted())
		return fault_set(f, FAULT_INTERRUPTED, "interrupted");
	if (j->deadline_ns && clock_mono_ns() >= j->deadline_ns) {
		(void)fault_set(f, FAULT_REFUSED, "the files could not be "
				"read twice within --max-pause");
		return fault_hint(f, "give a longer --max-pause, or capture "
				  "when less is going on");
	}
	return 0;
}

static int
S_differs(const struct lane *l, uint64_t at, size_t n, struct fault *f)
{
	size_t i = 0;

	while (i < n && l->source[i] == l->staged[i])
		i++;
	return fault_set(f, FAULT_UNSTABLE, "the second read differs at "
			 "offset %llu", (unsigned long long)(at + i));
}

static int
S_chunk(struct lane *l, uint64_t at, size_t n, struct fault *f)
{
	const struct job *j = l->job;
	int rc = 0;

	if (j->pass != PASS_FILL)
		rc = io_pread_all(j->from, l->source, n, at, f);
	if (rc)
		return rc;
	if (j->pass != PASS_COMPARE) {
		rc = io_pwrite_all(j->to, j->pass == PASS_FILL ? l->staged
							       : l->source,
				   n, j->to_offset + at, f);
		return rc ? fault_wrap(f, "the packet") : 0;
	}
	rc = io_pread_all(j->to, l->staged, n, j->to_offset + at, f);
	if (rc)
		return fault_wrap(f, "the packet");
	return memcmp(l->source, l->staged, n) ? S_differs(l, at, n, f) : 0;
}

/*
 * Chunks are taken in order and a lane ends what it took, so all before the
 * lowest failure are done when both lanes are.
 */
static void
S_lane(void *arg)
{
	struct lane *l = arg;
	struct job *j = l->job;

	while (l->rc == 0 && !atomic_load(&j->stop)) {
		uint64_t at = atomic_fetch_add(&j->next, j->chunk);
		uint64_t left;

		if (at >= j->size)
			return;
		left = j->size - at;
		l->at = at;
		l->rc = S_check_time(l, &l->fault);
		if (l->rc == 0)
			l->rc = S_chunk(l, at, left < j->chunk ? (size_t)left
							       : j->chunk,
					&l->fault);
	}
	if (l->rc)
		atomic_store(&j->stop, true);
}

static int
S_run(struct stage *s, struct fault *f)
{
	struct lane *first = &s->lane[0], *second = &s->lane[1];
	int rc = S_check_time(first, f);

	if (rc)
		return rc;
	atomic_store(&s->job.next, 0);
	atomic_store(&s->job.stop, false);
	first->rc = second->rc = 0;
	if (s->worker && s->job.size >= SHARE_FROM)
		worker_run(s->worker, S_lane, second);
	S_lane(first);
	if (s->worker)
		worker_wait(s->worker);
	if (second->rc && (!first->rc || second->at < first->at))
		first = second;
	if (first->rc)
		*f = first->fault;
	return first->rc;
}

static int
S_pass(struct stage *s, enum pass pass, int from, uint64_t size, int to,
       uint64_t to_offset, uint64_t deadline_ns, int (*interrupted)(void),
       struct fault *f)
{
	s->job.pass = pass;
	s->job.from = from;
	s->job.to = to;
	s->job.size = size;
	s->job.to_offset = to_offset;
	s->job.deadline_ns = deadline_ns;
	s->job.interrupted = interrupted;
	return S_run(s, f);
}

int
stage_copy(struct stage *s, int from, uint64_t size, int to,
	   uint64_t to_offset, uint64_t deadline_ns, int (*interrupted)(void),
	   struct fault *f)
{
	return S_pass(s, PASS_COPY, from, size, to, to_offset, deadline_ns,
		      interrupted, f);
}

int
stage_compare(struct stage *s, int from, uint64_t size, int to,
	      uint64_t to_offset, uint64_t deadline_ns,
	      int (*interrupted)(void), struct fault *f)
{
	return S_pass(s, PASS_COMPARE, from, size, to, to_offset, deadline_ns,
		      interrupted, f);
}

static int
S_allocate(int to, uint64_t offset, uint64_t size, int (*interrupted)(void),
	   struct fault *f)
{
	while (fallocate(to, 0, (off_t)offset, (off_t)size)) {
		if (errno == EOPNOTSUPP || errno == ENOSYS)
			return 0;
		if (errno != EINTR)
			return fault_sys(f, FAULT_TROUBLE, errno,
					 "the packet: room for %llu bytes",
					 (unsigned long long)size);
		if (interrupted && interrupted())
			return fault_set(f, FAULT_INTERRUPTED, "interrupted");
	}
	return 0;
}

int
stage_prepare(struct stage *s, int to, uint64_t offset, uint64_t size,
	      int (*interrupted)(void), struct fault *f)
{
	uint64_t most = memory_available() / PREFAULT_SHARE;
	int rc;

	if (size == 0)
		return 0;
	rc = S_allocate(to, offset, size, interrupted, f);
	if (rc)
		return rc;
	for (size_t i = 0; i < S_lanes(s); i++)
		memset(s->lane[i].staged, 0, s->job.chunk);
	return S_pass(s, PASS_FILL, -1, size < most ? size : most, to, offset,
		      0, interrupted, f);
}

struct whole {
	struct digest *digest;
	const unsigned char *bytes;
	size_t n;
};

static void
S_hash_whole(void *arg)
{
	struct whole *w = arg;

	digest_bytes(w->digest, w->bytes, w->n);
}

/* Each block of one chunk into the list; only the last may be short. */
static int
S_hash_blocks(struct stage *s, const unsigned char *bytes, size_t n,
	      struct stage_blocks *blocks, struct fault *f)
{
	size_t len = 0;
	int rc;

	for (size_t at = 0; at < n; at += BLOCK_BYTES) {
		size_t left = n - at;

		digest_bytes(s->block, bytes + at,
			     left < BLOCK_BYTES ? left : BLOCK_BYTES);
		digest_final(s->block, s->list + len);
		len += DIGEST_BYTES;
	}
	rc = io_pwrite_all(blocks->fd, s->list, len, blocks->offset, f);
	if (rc)
		return fault_wrap(f, "the packet");
	blocks->offset += len;
	if (blocks->digest)
		digest_bytes(blocks->digest, s->list, len);
	return 0;
}

/* A worker digests the whole while we digest the blocks. */
static int
S_hash_chunk(struct stage *s, const unsigned char *bytes, size_t n,
	     struct stage_blocks *blocks, struct fault *f)
{
	struct whole w = { .digest = s->whole, .bytes = bytes, .n = n };
	int rc;

	if (!s->worker) {
		S_hash_whole(&w);
		return S_hash_blocks(s, bytes, n, blocks, f);
	}
	worker_run(s->worker, S_hash_whole, &w);
	rc = S_hash_blocks(s, bytes, n, blocks, f);
	worker_wait(s->worker);
	return rc;
}

int
stage_hash(struct stage *s, int fd, uint64_t offset, uint64_t size,
	   struct stage_blocks *blocks, int (*interrupted)(void),
	   void (*progress)(void *arg, uint64_t bytes), void *arg,
	   unsigned char sha256[DIGEST_BYTES], struct fault *f)
{
	unsigned char *bytes = s->lane[0].source;
	const size_t chunk = s->job.chunk;
	int rc = 0;

	digest_reset(s->whole);
	for (uint64_t at = 0; at < size; at += chunk) {
		uint64_t left = size - at;
		size_t n = left < chunk ? (size_t)left : chunk;

		if (interrupted && interrupted())
			return fault_set(f, FAULT_INTERRUPTED, "interrupted");
		rc = io_pread_all(fd, bytes, n, offset + at, f);
		if (rc)
			return fault_wrap(f, "the packet");
		rc = S_hash_chunk(s, bytes, n, blocks, f);
		if (rc)
			return rc;
		if (progress)
			progress(arg, at + n);
	}
	digest_final(s->whole, sha256);
	return 0;
}
