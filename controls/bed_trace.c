/*
 * bed_trace.c - catches a program while it reads evidence, by ptrace
 */
#include "controls/bed_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controls/bed_file.h"

/* linux/ptrace.h has the struct as well, and clashes with sys/ptrace.h. */
#define TRACE_OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | \
		       PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | \
		       PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)
#define TRACE_CALL_STOP (SIGTRAP | 0x80)
#define TRACE_OUT "trace-out"
#define TRACE_ERR "trace-err"
/* Below what code may use under its stack pointer. */
#define TRACE_BELOW 4096

struct bed_caught {
	pid_t root, pid, tid;
	int fd;			/* the caught one's, of the evidence */
	int status;		/* of root, once it ended */
	bool ended;
};

/* What happened to a thread. */
struct event {
	pid_t tid;
	int status;
};

_Noreturn static void
S_become(const char *const *argv, int go)
{
	int out = open(TRACE_OUT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		       0600);
	int err = open(TRACE_ERR, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		       0600);
	char one;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setpgid(0, 0) || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
	    read(go, &one, 1) != 1)
		_exit(127);
	(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
	(void)dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Seized before it is the command, so that nothing of that is missed. */
static pid_t
S_start(struct trial *t, const char *const *argv)
{
	int go[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		trial_die(t, "pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		(void)close(go[1]);
		S_become(argv, go[0]);
	}
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, 0, TRACE_OPTIONS))
		trial_die(t, "trace %s: %s", argv[0], strerror(errno));
	(void)close(go[0]);
	if (write(go[1], "", 1) != 1)
		trial_die(t, "pipe: %s", strerror(errno));
	(void)close(go[1]);
	return pid;
}

/* False: nobody is left. */
static bool
S_next(struct trial *t, struct bed_caught *c, struct event *e)
{
	do
		e->tid = waitpid(-1, &e->status, __WALL);
	while (e->tid < 0 && errno == EINTR);
	if (e->tid < 0 && errno != ECHILD)
		trial_die(t, "wait: %s", strerror(errno));
	if (e->tid == c->root && !WIFSTOPPED(e->status)) {
		c->ended = true;
		c->status = e->status;
	}
	return e->tid > 0;
}

/* What stopped, stops and goes on as it would without us. */
static void
S_go_on(const struct event *e)
{
	int signal = WSTOPSIG(e->status), kind = e->status >> 16;

	if (!WIFSTOPPED(e->status))
		return;
	if (kind == PTRACE_EVENT_STOP && signal != SIGTRAP)
		(void)ptrace(PTRACE_LISTEN, e->tid, 0, 0);
	else if (kind || signal == TRACE_CALL_STOP)
		(void)ptrace(PTRACE_SYSCALL, e->tid, 0, 0);
	else
		(void)ptrace(PTRACE_SYSCALL, e->tid, 0, signal);
}

static bool
S_is_call_stop(const struct event *e)
{
	return WIFSTOPPED(e->status) &&
		WSTOPSIG(e->status) == TRACE_CALL_STOP;
}

/* Whose thread it is. */
static pid_t
S_process_of(struct trial *t, pid_t tid)
{
	char path[64], line[256];
	int pid = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) &&
	       sscanf(line, "Tgid: %d", &pid) != 1)
		;
	if (f)
		(void)fclose(f);
	if (pid <= 0)
		trial_die(t, "%s: %s", path, strerror(errno));
	return pid;
}

static bool
S_reads(struct bed_caught *c, pid_t tid, ino_t evidence)
{
	struct __ptrace_syscall_info info;
	char path[64];
	struct stat st;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY ||
	    info.entry.nr != SYS_pread64)
		return false;
	c->fd = (int)info.entry.args[0];
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, c->fd);
	return stat(path, &st) == 0 && st.st_ino == evidence;
}

struct bed_caught *
bed_catch(struct trial *t, const char *const *argv, ino_t evidence,
	  bool child)
{
	struct bed_caught *c = calloc(1, sizeof(*c));
	struct event e;

	if (!c)
		trial_die(t, "no memory");
	c->root = S_start(t, argv);
	while (S_next(t, c, &e)) {
		if (S_is_call_stop(&e) && S_reads(c, e.tid, evidence)) {
			c->tid = e.tid;
			c->pid = S_process_of(t, e.tid);
			if (!child || c->pid != c->root)
				return c;
		}
		S_go_on(&e);
	}
	trial_die(t, "%s never reads the evidence: %s", argv[0],
		  bed_read(t, TRACE_ERR).p);
}

pid_t
bed_caught_pid(const struct bed_caught *c)
{
	return c->pid;
}

#if defined(__x86_64__)

static void
S_text(struct trial *t, pid_t tid, uint64_t at, const char *text)
{
	for (size_t i = 0; i <= strlen(text); i += sizeof(long)) {
		long word = 0;

		memcpy(&word, text + i, strnlen(text + i, sizeof(word)));
		if (ptrace(PTRACE_POKEDATA, tid, at + i, word))
			trial_die(t, "write into %d: %s", tid,
				  strerror(errno));
	}
}

static uint64_t
S_arg(const struct bed_caught *c, uint64_t arg, uint64_t text)
{
	return arg == BED_ARG_SELF ? (uint64_t)c->pid :
		arg == BED_ARG_FILE ? (uint64_t)c->fd :
		arg == BED_ARG_TEXT ? text : arg;
}

static void
S_set(struct trial *t, const struct bed_caught *c,
      const struct bed_call *call)
{
	struct user_regs_struct r;
	unsigned long long *const to[BED_CALL_ARGS] = {
		&r.rdi, &r.rsi, &r.rdx, &r.r10, &r.r8, &r.r9 };
	uint64_t text;

	if (ptrace(PTRACE_GETREGS, c->tid, 0, &r))
		trial_die(t, "registers of %d: %s", c->tid, strerror(errno));
	text = (r.rsp - TRACE_BELOW) & ~(uint64_t)15;
	if (call->text)
		S_text(t, c->tid, text, call->text);
	for (int i = 0; i < BED_CALL_ARGS; i++)
		*to[i] = S_arg(c, call->arg[i], text);
	r.orig_rax = (unsigned long long)call->call;
	if (ptrace(PTRACE_SETREGS, c->tid, 0, &r))
		trial_die(t, "registers of %d: %s", c->tid, strerror(errno));
}

#else

static void
S_set(struct trial *t, const struct bed_caught *c,
      const struct bed_call *call)
{
	(void)c;
	(void)call;
	trial_skip(t, "the registers of this machine are not known");
}

#endif

/*
 * A call that the filter kills for also comes to the stop behind it, with
 * its own number as the result. So it is not over before the next one.
 */
struct bed_answer
bed_inject(struct trial *t, struct bed_caught *c,
	   const struct bed_call *call)
{
	struct bed_answer a = { .died = false };
	struct __ptrace_syscall_info info;
	bool over = false;
	struct event e;

	S_set(t, c, call);
	(void)ptrace(PTRACE_SYSCALL, c->tid, 0, 0);
	while (S_next(t, c, &e)) {
		if (e.tid == c->pid && !WIFSTOPPED(e.status)) {
			a.died = true;
			a.signal = WIFSIGNALED(e.status) ?
				WTERMSIG(e.status) : 0;
			return a;
		}
		if (e.tid == c->tid && S_is_call_stop(&e) &&
		    ptrace(PTRACE_GET_SYSCALL_INFO, e.tid, sizeof(info),
			   &info) > 0) {
			if (over)
				return a;
			over = info.op == PTRACE_SYSCALL_INFO_EXIT;
			a.result = over ? info.exit.rval : 0;
		}
		S_go_on(&e);
	}
	trial_die(t, "%s: nobody is left", call->name);
}

const struct bed_run *
bed_let_go(struct trial *t, struct bed_caught *c, bool end)
{
	struct bed_run *r = calloc(1, sizeof(*r));
	struct bed_bytes out, err;
	struct event e;

	if (!r)
		trial_die(t, "no memory");
	if (end) {
		(void)kill(-c->root, SIGKILL);
		(void)kill(-c->pid, SIGKILL);
		(void)kill(c->pid, SIGKILL);
	}
	(void)ptrace(PTRACE_SYSCALL, c->tid, 0, 0);
	while (S_next(t, c, &e))
		S_go_on(&e);
	if (!c->ended)
		trial_die(t, "the command's end was not seen");
	out = bed_read(t, TRACE_OUT);
	err = bed_read(t, TRACE_ERR);
	*r = (struct bed_run){
		.status = WIFEXITED(c->status) ? WEXITSTATUS(c->status)
					       : 128 + WTERMSIG(c->status),
		.out = (char *)out.p, .nout = out.n,
		.err = (char *)err.p, .nerr = err.n,
	};
	free(c);
	return r;
}
