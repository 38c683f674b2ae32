/*
 * feed.c - the rows of one side, one at a time, read ahead by a thread
 */
#include "verify/feed.h"

static struct rows_batch *
S_other(struct feed *d)
{
	return d->now == &d->batch[0] ? &d->batch[1] : &d->batch[0];
}

static void
S_work(void *arg)
{
	struct feed *d = arg;

	d->rc = rows_next_batch(d->rows, S_other(d), &d->fault);
}

static void
S_read_ahead(struct feed *d)
{
	d->ahead = true;
	worker_run(d->worker, S_work, d);
}

void
feed_start(struct feed *d, struct rows *rows, struct worker *worker)
{
	*d = (struct feed){ .rows = rows, .worker = rows ? worker : NULL };
	rows_batch_init(&d->batch[0]);
	rows_batch_init(&d->batch[1]);
	d->ended = rows == NULL;
	if (d->worker)
		S_read_ahead(d);
}

int
feed_fill(struct feed *d, struct fault *f)
{
	struct rows_batch *next = S_other(d);

	if (feed_has(d) || d->ended)
		return 0;
	if (d->ahead) {
		worker_wait(d->worker);
		d->ahead = false;
	} else {
		S_work(d);
	}
	if (d->rc < 0)
		*f = d->fault;
	if (d->rc < 0 || d->rc == 2)
		return d->rc;
	d->ended = d->rc == 1;
	d->now = next;
	d->at = 0;
	d->byte = 0;
	if (d->worker && !d->ended)
		S_read_ahead(d);
	return 0;
}

void
feed_stop(struct feed *d)
{
	if (d->ahead)
		worker_wait(d->worker);
	d->ahead = false;
	rows_batch_free(&d->batch[0]);
	rows_batch_free(&d->batch[1]);
}
