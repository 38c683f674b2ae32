/*
 * queue.h - who is next, in front of BEGIN IMMEDIATE
 *
 * SQLite's busy handler has no queue: of several processes that work without
 * a break one can starve for seconds. So each waits for two locks in a file
 * beside the database: the gate, then the turn, and lets the gate go once it
 * has the turn. Whoever ends a turn finds the gate held by the next one and
 * must stand behind those that wait there already.
 *
 * The locks belong to the open file (F_OFD_SETLK): they go with the process,
 * however it ends. The queue is only about order; what decides is SQLite's
 * own lock, and a program that knows no queue is still kept out by that.
 *
 * Lifecycle: queue_open, queue_enter and queue_leave in pairs, queue_close.
 */
#ifndef LEASE_QUEUE_H
#define LEASE_QUEUE_H

#include <stdint.h>

#include "base/fault.h"

struct queue {
	int fd;			/* owned; -1: none */
	int has_turn;
};

#define QUEUE_INIT { .fd = -1 }

/* dir: the folder; name: of the queue's file there, made with mode 0600. */
int
queue_open(struct queue *q, int dir, const char *name, struct fault *f);
void
queue_close(struct queue *q);

/* FAULT_TROUBLE once the monotonic deadline has passed. */
int
queue_enter(struct queue *q, uint64_t deadline_ns, struct fault *f);
void
queue_leave(struct queue *q);

#endif
