/*
 * wal.c - our own account of every frame of a WAL
 */
#include "recover/wal.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/own.h"
#include "base/plural.h"

#define WAL_MAGIC 0x377f0682u
#define WAL_STRETCH (256u << 10)	/* bytes read at once, about */

struct wal {
	struct wal_account acct;
	uint32_t *pgno;			/* owned; of each valid frame */
	size_t npgno, room_pgno;
	struct wal_commit *commit;	/* owned; ascending */
	size_t ncommit, room_commit;
	uint32_t *slot;			/* owned; frame numbers by page */
	uint32_t mask;			/* slots - 1 */
	uint64_t memory;		/* bytes left of the budget */
};

/* The scan of one file. */
struct wal_scan {
	struct wal *w;
	const struct wal_options *o;
	uint32_t sum[2];	/* running, as recovery computes it */
	uint32_t stored[2];	/* as the frame before stored it */
	bool broken;		/* a frame failed: nothing behind it counts */
	bool big_endian;
};

static inline uint32_t
S_word(bool big_endian, const unsigned char *p)
{
	return big_endian ? bytes_be32(p) : bytes_le32(p);
}

void
wal_checksum(bool big_endian, const void *bytes, size_t n, uint32_t sum[2])
{
	const unsigned char *p = bytes, *end = p + n;
	uint32_t s1 = sum[0], s2 = sum[1];

	for (; p < end; p += 8) {
		s1 += S_word(big_endian, p) + s2;
		s2 += S_word(big_endian, p + 4) + s1;
	}
	sum[0] = s1;
	sum[1] = s2;
}

static bool
S_page_size_ok(uint32_t n)
{
	return n >= 512 && n <= 65536 && (n & (n - 1)) == 0;
}

static void
S_frame_sum(bool big_endian, const unsigned char *frame, uint32_t page_size,
	    uint32_t sum[2])
{
	wal_checksum(big_endian, frame, 8, sum);
	wal_checksum(big_endian, frame + WAL_FRAME_HEAD_BYTES, page_size, sum);
}

void
wal_header(const unsigned char h[WAL_HEADER_BYTES], struct wal_account *a)
{
	uint32_t magic = bytes_be32(h), sum[2] = { 0, 0 };

	memset(a, 0, sizeof(*a));
	a->present = true;
	a->big_endian = magic & 1;
	wal_checksum(a->big_endian, h, 24, sum);
	a->version = bytes_be32(h + 4);
	a->page_size = bytes_be32(h + 8);
	a->checkpoint_seq = bytes_be32(h + 12);
	a->salt[0] = bytes_be32(h + 16);
	a->salt[1] = bytes_be32(h + 20);
	a->header_valid = (magic & ~1u) == WAL_MAGIC &&
		S_page_size_ok(a->page_size) &&
		sum[0] == bytes_be32(h + 24) && sum[1] == bytes_be32(h + 28);
	a->header_damaged = !a->header_valid;
	a->header_zero = true;
	for (size_t i = 0; i < WAL_HEADER_BYTES; i++)
		a->header_zero &= h[i] == 0;
}

/* Room for one more element of an array that counts against the budget. */
static int
S_room(struct wal *w, void **array, size_t n, size_t *room, size_t each,
       struct fault *f)
{
	size_t more = *room ? *room : 256;
	void *grown;

	if (n < *room)
		return 0;
	if (more * each > w->memory)
		return fault_set(f, FAULT_CAP,
				 "the account of the WAL passes its memory: "
				 "see --memory-limit");
	grown = realloc(*array, (*room + more) * each);
	if (!grown)
		return fault_set(f, FAULT_CAP, "out of memory for the account "
				 "of the WAL: see --memory-limit");
	w->memory -= more * each;
	*array = grown;
	*room += more;
	return 0;
}

static int
S_add_valid(struct wal_scan *sc, const struct wal_frame *fr, struct fault *f)
{
	struct wal *w = sc->w;
	void *array = w->pgno;
	int rc = S_room(w, &array, w->npgno, &w->room_pgno, sizeof(*w->pgno),
			f);

	if (rc)
		return rc;
	w->pgno = array;
	w->pgno[w->npgno++] = fr->pgno;
	if (fr->truncate == 0)
		return 0;
	array = w->commit;
	rc = S_room(w, &array, w->ncommit, &w->room_commit,
		    sizeof(*w->commit), f);
	if (rc)
		return rc;
	w->commit = array;
	w->commit[w->ncommit++] = (struct wal_commit) {
		.frame = (uint32_t)fr->number,
		.pages = fr->truncate,
		.checksum = { sc->sum[0], sc->sum[1] },
	};
	w->acct.committed = fr->number;
	w->acct.commits++;
	w->acct.pages = fr->truncate;
	memcpy(w->acct.checksum, sc->sum, sizeof(sc->sum));
	return 0;
}

/* Rules 2 to 4; sc->sum moves on only over frames that count. */
static bool
S_counts(struct wal_scan *sc, const unsigned char *frame,
	 const struct wal_frame *fr)
{
	const struct wal_account *a = &sc->w->acct;
	uint32_t sum[2] = { sc->sum[0], sc->sum[1] };

	if (sc->broken || !a->header_valid || fr->pgno == 0 ||
	    fr->salt[0] != a->salt[0] || fr->salt[1] != a->salt[1])
		return false;
	S_frame_sum(sc->big_endian, frame, a->page_size, sum);
	if (sum[0] != bytes_be32(frame + 16) ||
	    sum[1] != bytes_be32(frame + 20))
		return false;
	memcpy(sc->sum, sum, sizeof(sum));
	return true;
}

/*
 * A frame that recovery does not reach. Where the header can't be believed,
 * only a checksum that chains shows that something was a frame.
 */
static void
S_add_unreached(struct wal_scan *sc, struct wal_frame *fr)
{
	struct wal_account *a = &sc->w->acct;
	bool ours = a->header_valid ? fr->salt[0] == a->salt[0] &&
				      fr->salt[1] == a->salt[1]
				    : fr->chained;

	if (!sc->broken)
		a->first_bad = fr->number;
	fr->kind = ours ? WAL_DAMAGED : WAL_STALE;
	if (!ours) {
		a->stale++;
	} else {
		a->damaged++;
		if (!a->first_damaged)
			a->first_damaged = fr->number;
		/* The first bad frame may be a commit that was torn. */
		if (fr->truncate != 0 && (sc->broken || !a->header_valid)) {
			a->lost_commits++;
			a->last_lost = fr->number;
		}
	}
	sc->broken = true;
}

static bool
S_chained(struct wal_scan *sc, const unsigned char *frame)
{
	for (int e = 0; e < 2; e++) {
		bool big_endian = e ? !sc->big_endian : sc->big_endian;
		uint32_t sum[2] = { sc->stored[0], sc->stored[1] };

		if (e && sc->w->acct.header_valid)
			break;
		S_frame_sum(big_endian, frame, sc->w->acct.page_size, sum);
		if (sum[0] == bytes_be32(frame + 16) &&
		    sum[1] == bytes_be32(frame + 20))
			return true;
	}
	return false;
}

static int
S_frame(struct wal_scan *sc, uint64_t number, const unsigned char *frame,
	struct fault *f)
{
	struct wal_frame fr = {
		.number = number,
		.kind = WAL_VALID,
		.pgno = bytes_be32(frame),
		.truncate = bytes_be32(frame + 4),
		.salt = { bytes_be32(frame + 8), bytes_be32(frame + 12) },
		.chained = true,
	};
	int rc = 0;

	if (S_counts(sc, frame, &fr)) {
		rc = S_add_valid(sc, &fr, f);
	} else {
		/* Its cost is worth it only where somebody wants to know. */
		fr.chained = (sc->o->frame || !sc->w->acct.header_valid) &&
			S_chained(sc, frame);
		S_add_unreached(sc, &fr);
	}
	sc->stored[0] = bytes_be32(frame + 16);
	sc->stored[1] = bytes_be32(frame + 20);
	if (!rc && sc->o->frame)
		rc = sc->o->frame(sc->o->arg, &fr, f);
	return rc;
}

static int
S_frames(struct wal_scan *sc, struct images_reader *r, struct fault *f)
{
	const struct wal_account *a = &sc->w->acct;
	size_t each = WAL_FRAME_HEAD_BYTES + a->page_size;
	size_t batch = WAL_STRETCH / each ? WAL_STRETCH / each : 1;
	uint64_t at = WAL_HEADER_BYTES, number = 1;
	OWN_MEM(unsigned char, bytes);
	int rc = 0;

	bytes = malloc(batch * each);
	if (!bytes)
		return fault_set(f, FAULT_TROUBLE, "out of memory: frames");
	while (!rc && number <= a->frames) {
		size_t n = batch;

		if (n > a->frames - number + 1)
			n = (size_t)(a->frames - number + 1);
		rc = images_read(r, ROLE_WAL, at, bytes, n * each, f);
		for (size_t i = 0; !rc && i < n; i++)
			rc = S_frame(sc, number++, bytes + i * each, f);
		at += n * each;
	}
	return rc;
}

static int
S_read(struct wal *w, struct images_reader *r, uint64_t size,
       const struct wal_options *o, struct fault *f)
{
	struct wal_account *a = &w->acct;
	struct wal_scan sc = { .w = w, .o = o };
	unsigned char head[WAL_HEADER_BYTES];
	int rc;

	a->present = size > 0;
	if (size < sizeof(head)) {
		a->torn_bytes = size;
		return 0;
	}
	rc = images_read(r, ROLE_WAL, 0, head, sizeof(head), f);
	if (rc)
		return rc;
	wal_header(head, a);
	sc.big_endian = a->big_endian;
	sc.sum[0] = sc.stored[0] = bytes_be32(head + 24);
	sc.sum[1] = sc.stored[1] = bytes_be32(head + 28);
	size -= sizeof(head);
	if (!S_page_size_ok(a->page_size))
		a->page_size = o->page_size;
	if (!S_page_size_ok(a->page_size)) {
		a->torn_bytes = size;
		return 0;
	}
	a->frames = size / (WAL_FRAME_HEAD_BYTES + a->page_size);
	a->torn_bytes = size % (WAL_FRAME_HEAD_BYTES + a->page_size);
	if (a->frames > UINT32_MAX)
		return fault_set(f, FAULT_CAP, "the WAL has %llu frames",
				 (unsigned long long)a->frames);
	rc = S_frames(&sc, r, f);
	a->uncommitted = w->npgno - a->committed;
	return rc;
}

int
wal_read(struct images_reader *r, const struct wal_options *o,
	 struct wal **w, struct fault *f)
{
	struct wal *n = calloc(1, sizeof(*n));
	int rc;

	if (!n)
		return fault_set(f, FAULT_TROUBLE, "out of memory: WAL");
	n->memory = o->memory;
	rc = S_read(n, r, images_reader_size(r, ROLE_WAL), o, f);
	if (rc) {
		wal_free(n);
		return rc;
	}
	*w = n;
	return 0;
}

void
wal_free(struct wal *w)
{
	if (!w)
		return;
	free(w->pgno);
	free(w->commit);
	free(w->slot);
	free(w);
}

const struct wal_account *
wal_account(const struct wal *w)
{
	return &w->acct;
}

int
wal_loss(const struct wal *w, struct fault *f)
{
	const struct wal_account *a = &w->acct;

	if (a->header_valid && a->version != WAL_VERSION)
		return fault_set(f, FAULT_DAMAGED,
				 "the WAL is of version %u, which SQLite "
				 "does not read", a->version);
	if (a->header_damaged && a->lost_commits)
		return fault_set(f, FAULT_DAMAGED,
				 "the WAL header is damaged: SQLite would "
				 "ignore the WAL, whose frames hold %llu "
				 "commit%s up to frame %llu",
				 (unsigned long long)a->lost_commits,
				 plural_s(a->lost_commits),
				 (unsigned long long)a->last_lost);
	if (a->header_damaged && !a->header_zero &&
	    (a->frames || a->torn_bytes))
		return fault_set(f, FAULT_DAMAGED,
				 "the WAL header is damaged: SQLite would "
				 "ignore the WAL, and what its %llu frame%s "
				 "hold can't be told",
				 (unsigned long long)a->frames,
				 plural_s(a->frames));
	if (a->lost_commits)
		return fault_set(f, FAULT_DAMAGED,
				 "WAL frame %llu is damaged: SQLite would "
				 "stop at frame %llu and lose %llu commit%s "
				 "of the same generation, up to frame %llu",
				 (unsigned long long)a->first_bad,
				 (unsigned long long)a->committed,
				 (unsigned long long)a->lost_commits,
				 plural_s(a->lost_commits),
				 (unsigned long long)a->last_lost);
	return 0;
}

int
wal_commit_at(const struct wal *w, uint64_t frame, struct wal_commit *c)
{
	size_t lo = 0, hi = w->ncommit;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->commit[mid].frame < frame)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == w->ncommit || w->commit[lo].frame != frame)
		return 1;
	*c = w->commit[lo];
	return 0;
}

uint32_t
wal_pgno(const struct wal *w, uint64_t frame)
{
	MUST(frame >= 1 && frame <= w->npgno);
	return w->pgno[frame - 1];
}

/* The slot of a page, or the empty one where it belongs. */
static uint32_t *
S_find(const struct wal *w, uint32_t pgno)
{
	uint32_t i = (uint32_t)((pgno * 0x9e3779b97f4a7c15ull) >> 32);

	for (;; i++) {
		uint32_t *slot = &w->slot[i & w->mask];

		if (*slot == 0 || w->pgno[*slot - 1] == pgno)
			return slot;
	}
}

int
wal_view(struct wal *w, uint64_t frames, struct fault *f)
{
	uint64_t slots = 16;

	MUST(frames <= w->npgno);
	free(w->slot);
	w->slot = NULL;
	while (slots < 2 * frames)
		slots *= 2;
	if (slots > UINT32_MAX || slots * sizeof(*w->slot) > w->memory)
		return fault_set(f, FAULT_CAP,
				 "the map of the WAL's pages passes its "
				 "memory: see --memory-limit");
	w->slot = calloc((size_t)slots, sizeof(*w->slot));
	if (!w->slot)
		return fault_set(f, FAULT_CAP, "out of memory for the map of "
				 "the WAL's pages: see --memory-limit");
	w->mask = (uint32_t)(slots - 1);
	for (uint64_t i = 1; i <= frames; i++)
		*S_find(w, w->pgno[i - 1]) = (uint32_t)i;
	return 0;
}

uint64_t
wal_find(const struct wal *w, uint32_t pgno)
{
	return w->slot ? *S_find(w, pgno) : 0;
}

int
wal_page(const struct wal *w, struct images_reader *r, uint64_t frame,
	 void *bytes, struct fault *f)
{
	uint64_t each = WAL_FRAME_HEAD_BYTES + w->acct.page_size;

	MUST(frame >= 1 && frame <= w->acct.frames);
	return images_read(r, ROLE_WAL, WAL_HEADER_BYTES +
			   (frame - 1) * each + WAL_FRAME_HEAD_BYTES,
			   bytes, w->acct.page_size, f);
}
