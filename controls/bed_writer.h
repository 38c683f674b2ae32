/*
 * bed_writer.h - a live SQLite writer, which is the truth of a control
 *
 * A process of its own that does what it is told. It may be traced by
 * anybody of its user, since it tests who can, not whether one may.
 *
 *   bed_writer_start, bed_open, bed_sql..., bed_end or bed_kill
 */
#ifndef CONTROLS_BED_WRITER_H
#define CONTROLS_BED_WRITER_H

#include <sys/types.h>

#include "controls/trial.h"

#define BED_CONNECTIONS 8

struct bed_writer {
	pid_t pid;
	int fd;
	unsigned connections;
};

struct bed_writer *
bed_writer_start(struct trial *t);

/* With the number of one that is gone; skips where one may not choose it. */
struct bed_writer *
bed_writer_start_as(struct trial *t, pid_t pid);

/*
 * Opens (creates) a file with pragma journal_mode=MODE and without automatic
 * checkpoints; the number of the connection, from 0.
 */
unsigned
bed_open(struct trial *t, struct bed_writer *w, const char *path,
	 const char *mode);

/* The rows of all statements, as bed_product_rows; an error dies. */
__attribute__((format(printf, 4, 5))) const char *
bed_sql(struct trial *t, struct bed_writer *w, unsigned connection,
	const char *fmt, ...);

/*
 * The usual small database on a new connection: table acct(id, who, bal)
 * with `rows` rows of 50 each, committed; in WAL mode all of it is only in
 * the WAL. `who` is the file's name, so that rows tell where they are from.
 */
unsigned
bed_bank(struct trial *t, struct bed_writer *w, const char *path,
	 const char *mode, unsigned rows);

/* count, sum and the name in it: what BED_BANK_ROWS gives of a bank. */
#define BED_BANK_SQL "select count(*), sum(bal), min(who) from acct"
const char *
bed_bank_rows(struct trial *t, const char *path, unsigned rows);

/* Commits a row of bal 0 and gives its id: the writer runs. */
long
bed_progress(struct trial *t, struct bed_writer *w, unsigned connection);

/*
 * True: the process is stopped or traced; how it is, for people, is what
 * /proc/PID/status says.
 */
bool
bed_stands(struct trial *t, pid_t pid, const char **how);

/*
 * Whether the writer carries the statements out by itself. False and how:
 * it stood still; then it was continued, and has carried them out since.
 */
bool
bed_runs(struct trial *t, struct bed_writer *w, unsigned connection,
	 const char *sql, const char **how);

/* SIGKILL: nothing is closed, checkpointed or rolled back. */
void
bed_kill(struct trial *t, struct bed_writer *w);

/* Closes its connections, as SQLite does it, and ends. */
void
bed_end(struct trial *t, struct bed_writer *w);

/* All statements on a file that is opened and closed for it. */
__attribute__((format(printf, 3, 4))) const char *
bed_sql_file(struct trial *t, const char *path, const char *fmt, ...);

#endif
