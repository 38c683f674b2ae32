/*
 * feed.h - the rows of one side, one at a time, read ahead by a thread
 *
 * Lifecycle: feed_start, {feed_fill, take rows}…, feed_stop. The worker
 * reads one batch while the caller uses the other; between feed_start and
 * feed_stop the connection belongs to it.
 */
#ifndef VERIFY_FEED_H
#define VERIFY_FEED_H

#include <stdbool.h>

#include "base/fault.h"
#include "base/worker.h"
#include "verify/rows.h"

struct feed {
	struct rows *rows;		/* borrowed; NULL: no rows at all */
	struct worker *worker;		/* borrowed; NULL: no read-ahead */
	struct rows_batch batch[2];
	struct rows_batch *now;		/* the batch in use */
	size_t at;			/* next row of it */
	size_t byte;			/* where that row starts */
	bool ended;
	bool ahead;			/* the worker fills the other batch */
	int rc;				/* of what the worker did */
	struct fault fault;
};

void
feed_start(struct feed *d, struct rows *rows, struct worker *worker);

/* 0: a row is there or ended is set; 2: rows_why; or a fault. */
int
feed_fill(struct feed *d, struct fault *f);

void
feed_stop(struct feed *d);

static inline bool
feed_has(const struct feed *d)
{
	return d->now && d->at < d->now->nrow;
}

static inline const unsigned char *
feed_bytes(const struct feed *d)
{
	return d->now->bytes.data + d->byte;
}

/* Lengths of the row at hand. */
static inline size_t
feed_len(const struct feed *d)
{
	return d->now->row[d->at].end - d->byte;
}

static inline size_t
feed_common(const struct feed *d)
{
	return d->now->row[d->at].common - d->byte;
}

static inline void
feed_take(struct feed *d)
{
	d->byte = d->now->row[d->at].end;
	d->at++;
}

static inline void
feed_take_batch(struct feed *d)
{
	d->at = d->now->nrow;
}

#endif
