/*
 * group_sandbox.c - what code could do that a database took over
 *
 * The program stands where it reads the evidence, in the middle of its
 * work: what it is let do there is what hostile bytes could have it do.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "controls/bed_file.h"
#include "controls/bed_sides.h"
#include "controls/bed_trace.h"
#include "controls/bed_writer.h"
#include "controls/registry.h"

#define SANDBOX_ROWS 50u
#define CWD ((uint64_t)AT_FDCWD)
#define NOTHING ((uint64_t)-1)
#define SELF BED_ARG_SELF
#define TEXT BED_ARG_TEXT
#define THE_FILE BED_ARG_FILE

#define CALL(n, c, t, ...) \
	{ .name = (n), .call = (c), .text = (t), .arg = { __VA_ARGS__ } }

/* What a database that took the reader over might try. */
static const struct bed_call S_calls[] = {
	CALL("openat", SYS_openat, "/dev/null", CWD, TEXT, O_RDONLY),
	CALL("openat of a new file", SYS_openat, "made",
	     CWD, TEXT, O_WRONLY | O_CREAT, 0600),
	CALL("openat2", SYS_openat2, "/dev/null", CWD, TEXT, 0, 0),
	CALL("unlinkat", SYS_unlinkat, "none", CWD, TEXT, 0),
	CALL("renameat2", SYS_renameat2, "none", CWD, TEXT, CWD, TEXT),
	CALL("socket", SYS_socket, NULL, AF_UNIX, SOCK_STREAM),
	CALL("connect", SYS_connect, NULL, NOTHING),
	CALL("execve", SYS_execve, "/bin/true", TEXT, 0, 0),
	CALL("execveat", SYS_execveat, "/bin/true", CWD, TEXT, 0, 0),
	CALL("clone", SYS_clone, NULL, SIGCHLD),
	CALL("clone3", SYS_clone3, NULL, 0),
	CALL("ptrace", SYS_ptrace, NULL, 0),
	CALL("process_vm_readv", SYS_process_vm_readv, NULL, SELF),
	CALL("process_vm_writev", SYS_process_vm_writev, NULL, SELF),
	CALL("pidfd_getfd", SYS_pidfd_getfd, NULL, NOTHING),
	CALL("kill", SYS_kill, NULL, SELF, 0),
	CALL("tgkill", SYS_tgkill, NULL, SELF, SELF, 0),
	CALL("mount", SYS_mount, NULL, 0),
	CALL("unshare", SYS_unshare, NULL, 0),
	CALL("setns", SYS_setns, NULL, NOTHING),
	CALL("setresuid", SYS_setresuid, NULL, NOTHING, NOTHING, NOTHING),
	CALL("io_uring_setup", SYS_io_uring_setup, NULL, 1),
	CALL("bpf", SYS_bpf, NULL, NOTHING),
	CALL("perf_event_open", SYS_perf_event_open, NULL, 0),
	CALL("memfd_create", SYS_memfd_create, "made", TEXT),
	CALL("dup", SYS_dup, NULL, THE_FILE),
	CALL("ioctl", SYS_ioctl, NULL, THE_FILE),
	CALL("read of the evidence", SYS_read, NULL, THE_FILE),
	CALL("write of the evidence", SYS_write, NULL, THE_FILE),
	CALL("pwrite64", SYS_pwrite64, NULL, THE_FILE),
	CALL("mmap to execute", SYS_mmap, NULL,
	     0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, NOTHING),
	CALL("mprotect to execute", SYS_mprotect, NULL, 0, 0, PROT_EXEC),
	CALL("prlimit64 that reads", SYS_prlimit64, NULL, 0, RLIMIT_CORE),
};

#define SANDBOX_CALLS (sizeof(S_calls) / sizeof(S_calls[0]))
/* The rest answers with an errno, or what the system around it says. */
#define SANDBOX_DONE_MIN 10u

struct scene {
	const char *rows;
	const char *const *naive, *const *ours;	/* the commands */
	ino_t packet;
};

/* A copy of main and WAL, and a packet: both readers recover the WAL. */
static struct scene
S_scene(struct trial *t)
{
	static const char *naive[] = { "sqlite3", "-batch", "-init",
		"/dev/null", "copy.db", BED_BANK_SQL, NULL };
	static const char *ours[] = { NULL, "query", "packet", BED_BANK_SQL,
		NULL };
	struct bed_writer *w = bed_writer_start(t);
	const struct bed_run *r;

	(void)bed_bank(t, w, "app.db", "wal", SANDBOX_ROWS);
	bed_copy(t, "app.db", "kept.db");
	bed_copy(t, "app.db-wal", "kept.db-wal");
	r = bed_capture(t, "app.db", "packet", NULL);
	if (!bed_yes(r))
		trial_die(t, "capture: %s", bed_told(t, r));
	bed_end(t, w);
	ours[0] = t->product;
	return (struct scene){ bed_bank_rows(t, "app.db", SANDBOX_ROWS),
		naive, ours, bed_inode(t, "packet") };
}

/* Each time with a WAL that is not recovered yet. */
static struct bed_caught *
S_catch_naive(struct trial *t, const struct scene *s)
{
	bed_copy(t, "kept.db", "copy.db");
	bed_copy(t, "kept.db-wal", "copy.db-wal");
	return bed_catch(t, s->naive, bed_inode(t, "copy.db-wal"), false);
}

/* Caught, looked at by nobody, and let go. */
static void
S_inverse(struct trial *t, const struct scene *s)
{
	bed_naive_inverse(t, bed_show_run(bed_let_go(
		t, S_catch_naive(t, s), false)), s->rows);
	(void)bed_let_go(t, bed_catch(t, s->ours, s->packet, true), false);
	bed_ours_inverse(t, bed_show_file(t, "packet", BED_BANK_SQL),
			 s->rows);
}

static void
S_naive_calls(struct trial *t, const struct scene *s)
{
	unsigned reached = 0, done = 0;

	for (size_t i = 0; i < SANDBOX_CALLS; i++) {
		struct bed_caught *c = S_catch_naive(t, s);
		struct bed_answer a = bed_inject(t, c, &S_calls[i]);

		(void)bed_let_go(t, c, true);
		reached += !(a.died && a.signal == SIGSYS);
		done += !a.died && a.result >= 0;
	}
	trial_examined(t, SANDBOX_CALLS);
	trial_predecessor(t, reached == SANDBOX_CALLS &&
			  done >= SANDBOX_DONE_MIN && bed_exists("made") ?
			  SYMPTOM_CALLS : NULL, "%u of %zu calls reach the"
			  " kernel, %u of them succeed", reached,
			  SANDBOX_CALLS, done);
	bed_unlink(t, "made");
}

static void
S_our_call(struct trial *t, const struct scene *s,
	   const struct bed_call *call)
{
	struct bed_caught *c = bed_catch(t, s->ours, s->packet, true);
	struct bed_answer a = bed_inject(t, c, call);
	bool killed = a.died && a.signal == SIGSYS;
	const struct bed_run *r = bed_let_go(t, c, !killed);

	trial_examined(t, 1);
	if (!killed)
		trial_product(t, false, "%s: %s %lld", call->name,
			      a.died ? "it dies by signal" : "it gets",
			      a.died ? (long long)a.signal
				     : (long long)a.result);
	else
		trial_product(t, r->status == 5 && r->nout == 0,
			      "each is death by SIGSYS, %s", bed_told(t, r));
}

static void
S_filter(struct trial *t)
{
	struct scene s = S_scene(t);

	S_inverse(t, &s);
	S_naive_calls(t, &s);
	for (size_t i = 0; i < SANDBOX_CALLS; i++)
		S_our_call(t, &s, &S_calls[i]);
	trial_product(t, !bed_exists("made"), "and nothing was made");
}

/* What the kernel shows of a thread */

struct rights {
	char uid[64], gid[64], groups[512];
	char inherit[32], permit[32], effect[32], bound[32], ambient[32];
	char privileges[16], seccomp[16];
};

static void
S_field(struct trial *t, const char *text, const char *name, char *to,
	size_t room)
{
	const char *at = strstr(text, bed_text(t, "\n%s:", name));
	size_t n;

	if (!at)
		trial_die(t, "the kernel shows no %s", name);
	at += strlen(name) + 2;
	at += strspn(at, " \t");
	n = strcspn(at, "\n");
	while (n && at[n - 1] == ' ')
		n--;
	(void)snprintf(to, room, "%.*s", (int)n, at);
	for (; *to; to++)
		if (*to == '\t')
			*to = ' ';
}

static void
S_rights(struct trial *t, const char *task, struct rights *r)
{
	const char *path = bed_text(t, "%s/status", task);
	char text[8192];
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		(void)fclose(f);
	text[n] = '\0';
	S_field(t, text, "Uid", r->uid, sizeof(r->uid));
	S_field(t, text, "Gid", r->gid, sizeof(r->gid));
	S_field(t, text, "Groups", r->groups, sizeof(r->groups));
	S_field(t, text, "CapInh", r->inherit, sizeof(r->inherit));
	S_field(t, text, "CapPrm", r->permit, sizeof(r->permit));
	S_field(t, text, "CapEff", r->effect, sizeof(r->effect));
	S_field(t, text, "CapBnd", r->bound, sizeof(r->bound));
	S_field(t, text, "CapAmb", r->ambient, sizeof(r->ambient));
	S_field(t, text, "NoNewPrivs", r->privileges,
		sizeof(r->privileges));
	S_field(t, text, "Seccomp", r->seccomp, sizeof(r->seccomp));
}

#define NOBODY "65534 65534 65534 65534"

static bool
S_none(const char *capabilities)
{
	return strspn(capabilities, "0") == strlen(capabilities);
}

/* Each field that is not as little as it can be. */
static const char *
S_too_much(struct trial *t, const struct rights *r)
{
	const struct {
		const char *name, *value;
		bool right;
	} fields[] = {
		{ "Uid", r->uid, strcmp(r->uid, NOBODY) == 0 },
		{ "Gid", r->gid, strcmp(r->gid, NOBODY) == 0 },
		{ "Groups", r->groups, !r->groups[0] },
		{ "CapInh", r->inherit, S_none(r->inherit) },
		{ "CapPrm", r->permit, S_none(r->permit) },
		{ "CapEff", r->effect, S_none(r->effect) },
		{ "CapBnd", r->bound, S_none(r->bound) },
		{ "CapAmb", r->ambient, S_none(r->ambient) },
		{ "NoNewPrivs", r->privileges, r->privileges[0] == '1' },
		{ "Seccomp", r->seccomp, r->seccomp[0] == '2' },
	};
	const char *all = "";

	trial_examined(t, sizeof(fields) / sizeof(fields[0]));
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!fields[i].right)
			all = bed_text(t, "%s%s%s %s", all,
				       *all ? ", " : "", fields[i].name,
				       fields[i].value);
	return all;
}

/* Calls with each number in a folder of /proc; how many there are. */
static unsigned
S_each(struct trial *t, const char *folder,
       void (*look)(struct trial *t, const char *entry, const char *number))
{
	DIR *d = opendir(folder);
	struct dirent *e;
	unsigned n = 0;

	if (!d)
		trial_die(t, "%s: %s", folder, strerror(errno));
	while ((e = readdir(d))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		n++;
		look(t, bed_text(t, "%s/%s", folder, e->d_name), e->d_name);
	}
	(void)closedir(d);
	return n;
}

static void
S_look_at_thread(struct trial *t, const char *task, const char *tid)
{
	struct rights r;
	const char *much;

	S_rights(t, task, &r);
	much = S_too_much(t, &r);
	trial_product(t, !*much, "every thread: uid and gid 65534, no group,"
		      " no capability, a filter%s%s%s%s",
		      *much ? "; but thread " : "", *much ? tid : "",
		      *much ? ": " : "", much);
}

/* /dev/null, two that have no name, and the evidence. */
static bool
S_is_documented(struct trial *t, long fd, const char *target)
{
	if (fd < 3)
		return strcmp(target, "/dev/null") == 0;
	if (fd < 5)
		return strncmp(target, "socket:", 7) == 0 ||
			strncmp(target, "pipe:", 5) == 0;
	return fd == 5 && strcmp(target, bed_text(t, "%s/packet",
						  bed_folder(t))) == 0;
}

static void
S_look_at_descriptor(struct trial *t, const char *entry, const char *number)
{
	FILE *f = fopen(bed_text(t, "%.*sfdinfo/%s",
				 (int)(strstr(entry, "/fd/") + 1 - entry),
				 entry, number), "re");
	char target[512], line[128];
	ssize_t n = readlink(entry, target, sizeof(target) - 1);
	long fd = strtol(number, NULL, 10);
	unsigned long flags = O_ACCMODE;

	target[n > 0 ? n : 0] = '\0';
	while (f && fgets(line, sizeof(line), f))
		(void)sscanf(line, "flags: %lo", &flags);
	if (f)
		(void)fclose(f);
	trial_examined(t, 1);
	trial_product(t, S_is_documented(t, fd, target) &&
		      (fd < 5 || (flags & O_ACCMODE) == O_RDONLY),
		      "descriptor %ld is %s, flags 0%lo", fd, target, flags);
}

static void
S_dropped(struct trial *t)
{
	struct scene s = S_scene(t);
	struct bed_caught *c;
	struct rights r;
	const char *proc;
	unsigned threads;

	S_inverse(t, &s);
	c = S_catch_naive(t, &s);
	S_rights(t, bed_text(t, "/proc/%d", bed_caught_pid(c)), &r);
	trial_predecessor(t, strcmp(r.uid, "0 0 0 0") == 0 &&
			  !S_none(r.effect) ? SYMPTOM_RIGHTS : NULL, "%s",
			  S_too_much(t, &r));
	(void)bed_let_go(t, c, false);

	c = bed_catch(t, s.ours, s.packet, true);
	proc = bed_text(t, "/proc/%d", bed_caught_pid(c));
	threads = S_each(t, bed_text(t, "%s/task", proc), S_look_at_thread);
	trial_product(t, threads > 0, "%u threads", threads);
	(void)S_each(t, bed_text(t, "%s/fd", proc), S_look_at_descriptor);
	(void)bed_let_go(t, c, false);
}

const struct control group_sandbox[] = {
	{
		.id = "forbidden-calls",
		.title = "Code that took the reader over makes system calls",
		.attack = "by ptrace the running reader makes another call in"
			" the place of its read of the evidence: files,"
			" sockets, programs, processes, memory to execute",
		.predecessor = "sqlite3, which recovers the same WAL",
		.symptom = SYMPTOM_CALLS,
		.expected = "each call is the reader's death by SIGSYS, exit"
			" 5 and no row",
		.inverse = "its read stays its read",
		.needs = CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_filter,
	},
	{
		.id = "dropped-rights",
		.title = "What root's reader is left with, seen from outside",
		.attack = "root reads evidence that somebody else made",
		.predecessor = "sqlite3, started by root",
		.symptom = SYMPTOM_RIGHTS,
		.expected = "ids 65534, no groups, no capabilities, no new"
			" privileges, a filter, in every thread; the"
			" documented descriptors alone, the evidence"
			" read-only",
		.inverse = "nobody looks: both show the rows",
		.needs = CONTROL_ROOT | CONTROL_PAUSE | CONTROL_SQLITE3,
		.run = S_dropped,
	},
	{ .id = NULL },
};
