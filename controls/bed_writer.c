/*
 * bed_writer.c - a live SQLite writer, which is the truth of a control
 *
 * Format: each way over a socket, a verb or state, a connection's number
 * and a length, then that many bytes of text.
 */
#include "controls/bed_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controls/bed.h"

#define WRITER_ANSWER_MS 30000
#define WRITER_LOOK_MS 20
#define WRITER_TEXT_MAX (16u << 20)

struct head {
	char verb;		/* o, s in; o, e out */
	unsigned connection;
	size_t n;
};

static bool
S_send(int fd, struct head h, const char *text)
{
	struct iovec iov[] = { { .iov_base = &h, .iov_len = sizeof(h) },
		{ .iov_base = (void *)(uintptr_t)text, .iov_len = h.n } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
	size_t all = sizeof(h) + h.n;
	ssize_t n = sendmsg(fd, &m, MSG_NOSIGNAL);

	/* The rest of a text that the socket did not take at once. */
	while (n >= (ssize_t)sizeof(h) && (size_t)n < all) {
		ssize_t more = send(fd, text + ((size_t)n - sizeof(h)),
				    all - (size_t)n, MSG_NOSIGNAL);

		if (more <= 0)
			return false;
		n += more;
	}
	return (size_t)n == all;
}

static char *
S_receive(int fd, struct head *h)
{
	char *text;

	if (recv(fd, h, sizeof(*h), MSG_WAITALL) != sizeof(*h) ||
	    h->n > WRITER_TEXT_MAX)
		return NULL;
	text = malloc(h->n + 1);
	if (!text || (h->n && recv(fd, text, h->n, MSG_WAITALL) !=
				(ssize_t)h->n)) {
		free(text);
		return NULL;
	}
	text[h->n] = '\0';
	return text;
}

/* In the writer's process */

static int
S_row(void *arg, int n, char **value, char **name)
{
	FILE *out = arg;

	(void)name;
	if (ftell(out) > 0)
		(void)fputc('\n', out);
	for (int i = 0; i < n; i++)
		(void)fprintf(out, "%s%s", i ? "|" : "",
			      value[i] ? value[i] : "");
	return 0;
}

static void
S_serve(int fd)
{
	sqlite3 *db[BED_CONNECTIONS] = { NULL };
	struct head h;
	char *text;

	while ((text = S_receive(fd, &h))) {
		char *rows = NULL, *error = NULL;
		size_t n = 0;
		FILE *out = open_memstream(&rows, &n);
		sqlite3 **c = &db[h.connection % BED_CONNECTIONS];
		int rc;

		if (!out)
			_exit(1);
		if (h.verb == 'o')
			rc = sqlite3_open_v2(text, c, SQLITE_OPEN_READWRITE |
				SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL);
		else
			rc = sqlite3_exec(*c, text, S_row, out, &error);
		(void)fclose(out);
		free(text);
		text = rc ? strdup(error ? error : sqlite3_errmsg(*c)) : rows;
		h.verb = rc ? 'e' : 'o';
		h.n = strlen(text);
		if (!S_send(fd, h, text))
			_exit(1);
		free(text);
		if (rc)
			free(rows);
		sqlite3_free(error);
	}
	for (int i = 0; i < BED_CONNECTIONS; i++)
		(void)sqlite3_close(db[i]);
	_exit(0);
}

/* In the control's process */

/* As fork, with this number where it is not 0. */
static pid_t
S_fork(struct trial *t, pid_t as)
{
	struct clone_args a = {
		.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&as,
		.set_tid_size = 1,
	};
	pid_t pid = as ? (pid_t)syscall(SYS_clone3, &a, sizeof(a)) : fork();

	if (pid < 0 && as && errno == EPERM)
		trial_skip(t, "the number of a new process may not be chosen"
			   " here");
	return pid;
}

struct bed_writer *
bed_writer_start(struct trial *t)
{
	return bed_writer_start_as(t, 0);
}

struct bed_writer *
bed_writer_start_as(struct trial *t, pid_t pid)
{
	struct bed_writer *w = calloc(1, sizeof(*w));
	pid_t control = getpid();
	int ends[2];

	if (!w || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		trial_die(t, "socketpair: %s", strerror(errno));
	w->pid = S_fork(t, pid);
	if (w->pid < 0)
		trial_die(t, "fork: %s", strerror(errno));
	if (w->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		(void)prctl(PR_SET_NAME, "writer");
		(void)close(t->report);
		(void)close(ends[0]);
		if (getppid() == control)
			S_serve(ends[1]);
		_exit(1);
	}
	(void)close(ends[1]);
	w->fd = ends[0];
	return w;
}

static void
S_tell(struct trial *t, struct bed_writer *w, char verb, unsigned connection,
       const char *text)
{
	struct head h = { .verb = verb, .connection = connection,
			  .n = strlen(text) };

	if (!S_send(w->fd, h, text))
		trial_die(t, "the writer is gone: %s", strerror(errno));
}

static bool
S_waits(struct bed_writer *w, int ms)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	return poll(&p, 1, ms) <= 0;
}

static char *
S_answer(struct trial *t, struct bed_writer *w, const char *text)
{
	struct head h;
	char *answer;

	if (S_waits(w, WRITER_ANSWER_MS))
		trial_die(t, "the writer does not answer to: %s", text);
	answer = S_receive(w->fd, &h);
	if (!answer || h.verb == 'e')
		trial_die(t, "the writer: %s: %s", text,
			  answer ? answer : "it died");
	return answer;
}

static char *
S_ask(struct trial *t, struct bed_writer *w, char verb, unsigned connection,
      const char *text)
{
	S_tell(t, w, verb, connection, text);
	return S_answer(t, w, text);
}

unsigned
bed_open(struct trial *t, struct bed_writer *w, const char *path,
	 const char *mode)
{
	unsigned c = w->connections++;

	if (c == BED_CONNECTIONS)
		trial_die(t, "too many connections");
	free(S_ask(t, w, 'o', c, path));
	(void)bed_sql(t, w, c, "pragma busy_timeout=10000;"
		      "pragma journal_mode=%s;"
		      "pragma wal_autocheckpoint=0", mode);
	return c;
}

const char *
bed_sql(struct trial *t, struct bed_writer *w, unsigned connection,
	const char *fmt, ...)
{
	char *sql;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&sql, fmt, ap) < 0)
		trial_die(t, "no memory");
	va_end(ap);
	return S_ask(t, w, 's', connection, sql);
}

unsigned
bed_bank(struct trial *t, struct bed_writer *w, const char *path,
	 const char *mode, unsigned rows)
{
	unsigned c = bed_open(t, w, path, mode);

	(void)bed_sql(t, w, c,
		      "create table acct(id integer primary key, who text,"
		      " bal int); with n(i) as (select 1 union all select"
		      " i + 1 from n where i < %u) insert into acct"
		      " select i, '%s', 50 from n", rows, path);
	return c;
}

const char *
bed_bank_rows(struct trial *t, const char *path, unsigned rows)
{
	return bed_text(t, "%u|%u|%s", rows, 50 * rows, path);
}

long
bed_progress(struct trial *t, struct bed_writer *w, unsigned connection)
{
	return strtol(bed_sql(t, w, connection,
			      "insert into acct(who, bal) select min(who), 0"
			      " from acct; select last_insert_rowid()"),
		      NULL, 10);
}

bool
bed_stands(struct trial *t, pid_t pid, const char **how)
{
	char path[64], text[1024];
	const char *state, *tracer;
	int fd;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		trial_die(t, "%s: %s", path, strerror(errno));
	(void)close(fd);
	text[n] = '\0';
	state = strstr(text, "\nState:\t");
	tracer = strstr(text, "\nTracerPid:\t");
	if (!state || !tracer)
		trial_die(t, "%s has another form", path);
	state += strlen("\nState:\t");
	tracer += strlen("\nTracerPid:\t");
	*how = bed_text(t, "state %.*s, tracer %.*s",
			(int)strcspn(state, "\n"), state,
			(int)strcspn(tracer, "\n"), tracer);
	return *state == 'T' || *state == 't' || *tracer != '0';
}

bool
bed_runs(struct trial *t, struct bed_writer *w, unsigned connection,
	 const char *sql, const char **how)
{
	const char *now;
	bool runs = true;

	S_tell(t, w, 's', connection, sql);
	for (int i = 0; i < WRITER_ANSWER_MS / WRITER_LOOK_MS &&
	     S_waits(w, WRITER_LOOK_MS); i++) {
		if (!bed_stands(t, w->pid, &now))
			continue;
		*how = now;
		runs = false;
		(void)kill(w->pid, SIGCONT);
	}
	free(S_answer(t, w, sql));
	return runs;
}

static void
S_gone(struct trial *t, struct bed_writer *w)
{
	(void)close(w->fd);
	if (waitpid(w->pid, NULL, 0) != w->pid)
		trial_die(t, "wait for the writer: %s", strerror(errno));
	w->pid = -1;
}

void
bed_kill(struct trial *t, struct bed_writer *w)
{
	(void)kill(w->pid, SIGKILL);
	S_gone(t, w);
}

void
bed_end(struct trial *t, struct bed_writer *w)
{
	(void)shutdown(w->fd, SHUT_WR);
	S_gone(t, w);
}

const char *
bed_sql_file(struct trial *t, const char *path, const char *fmt, ...)
{
	struct bed_writer *w = bed_writer_start(t);
	const char *rows;
	char *sql;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&sql, fmt, ap) < 0)
		trial_die(t, "no memory");
	va_end(ap);
	free(S_ask(t, w, 'o', 0, path));
	rows = S_ask(t, w, 's', 0, sql);
	bed_end(t, w);
	return rows;
}
