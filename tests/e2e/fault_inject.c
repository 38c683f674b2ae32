/*
 * fault_inject.c - fails the nth call of one function, in one program
 *
 * LD_PRELOADed by the tests. FAULT_CALL names the function ("flip": a pread
 * that works, and gives one other bit), FAULT_NTH the call that fails (0:
 * none), FAULT_COUNT a file for the number of calls, FAULT_PROGRAM the
 * program; in any other program nothing happens. With FAULT_KILL the call
 * works, and that process is killed just before it. With FAULT_GATE=FOLDER
 * it works as well: before it, FOLDER/reached is opened to write, then
 * FOLDER/go to read (FIFOs, so that each waits for the test).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static const char *the_call;
static long nth, calls;
static pid_t victim;

__attribute__((constructor)) static void
setup(void)
{
	const char *program = getenv("FAULT_PROGRAM");
	const char *n = getenv("FAULT_NTH");

	if (program && strcmp(program, program_invocation_short_name) == 0) {
		nth = n ? atol(n) : 0;
		the_call = getenv("FAULT_CALL");
		if (getenv("FAULT_KILL"))
			victim = (pid_t)atol(getenv("FAULT_KILL"));
	}
}

/* A count, written where the test looks, without the calls that fail. */
__attribute__((destructor)) static void
tell(void)
{
	const char *path = getenv("FAULT_COUNT");
	char text[32];
	long fd;
	int n;

	if (!the_call || !path)
		return;
	fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC,
		     0600);
	n = snprintf(text, sizeof(text), "%ld", calls);
	syscall(SYS_write, fd, text, (size_t)n);
	syscall(SYS_close, fd);
}

static void
pass_gate(const char *folder)
{
	static const char *const name[] = { "reached", "go" };
	char path[4096];

	for (int i = 0; i < 2; i++) {
		long fd;

		snprintf(path, sizeof(path), "%s/%s", folder, name[i]);
		fd = syscall(SYS_openat, AT_FDCWD, path,
			     i ? O_RDONLY : O_WRONLY, 0);
		syscall(SYS_close, fd);
	}
}

static int
fails(const char *name)
{
	const char *gate = getenv("FAULT_GATE");

	if (!the_call || strcmp(the_call, name) != 0 ||
	    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != nth)
		return 0;
	if (gate)
		pass_gate(gate);
	if (victim > 0)
		(void)kill(victim, SIGKILL);
	return victim == 0 && !gate;
}

#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

void *
malloc(size_t n)
{
	if (fails("malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_malloc(n);
}

void *
calloc(size_t n, size_t m)
{
	if (fails("malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_calloc(n, m);
}

void *
realloc(void *p, size_t n)
{
	if (fails("malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(p, n);
}

ssize_t
pread64(int fd, void *b, size_t n, off64_t at)
{
	if (fails("pread")) {
		errno = EIO;
		return -1;
	}
	n = (size_t)syscall(SYS_pread64, fd, b, n, at);
	if ((ssize_t)n > 0 && fails("flip"))
		*(unsigned char *)b ^= 1;
	return (ssize_t)n;
}

ssize_t
__pread64_chk(int fd, void *b, size_t n, off64_t at, size_t room)
{
	(void)room;
	return pread64(fd, b, n, at);
}

ssize_t
pread(int fd, void *b, size_t n, off_t at)
{
	return pread64(fd, b, n, at);
}

ssize_t
pwrite64(int fd, const void *b, size_t n, off64_t at)
{
	if (fails("pwrite")) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, b, n, at);
}

ssize_t
pwrite(int fd, const void *b, size_t n, off_t at)
{
	return pwrite64(fd, b, n, at);
}

ssize_t
read(int fd, void *b, size_t n)
{
	if (fails("read")) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_read, fd, b, n);
}

ssize_t
__read_chk(int fd, void *b, size_t n, size_t room)
{
	(void)room;
	return read(fd, b, n);
}

ssize_t
write(int fd, const void *b, size_t n)
{
	if (fd > 2 && fails("write")) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_write, fd, b, n);
}

int
fsync(int fd)
{
	if (fails("fsync")) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

int
openat64(int dir, const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	if (fails("openat")) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

int
openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	return openat64(dir, path, flags, mode);
}

int
fstat64(int fd, struct stat64 *st)
{
	if (fails("fstat")) {
		errno = EIO;
		return -1;
	}
	return REAL(int (*)(int, struct stat64 *), "fstat64")(fd, st);
}

int
linkat(int od, const char *o, int nd, const char *n, int flags)
{
	if (fails("linkat")) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_linkat, od, o, nd, n, flags);
}

int
inotify_init1(int flags)
{
	if (fails("inotify")) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_inotify_init1, flags);
}

long
ptrace(int request, ...)
{
	va_list ap;
	pid_t pid;
	void *addr, *data;

	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	if (fails("ptrace")) {
		errno = EIO;
		return -1;
	}
	return REAL(long (*)(int, pid_t, void *, void *), "ptrace")(
		request, pid, addr, data);
}
