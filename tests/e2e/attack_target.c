/*
 * attack_target.c - opens a file in one way or another, and looks again
 *
 * attack_target VERB PATH [ARG]: each verb opens PATH once, then prints what
 * the descriptor and the name show: "READ opened-inode named-inode".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define THREADS 4

static const char *path;
static ino_t before;
static atomic_bool stop;
static atomic_ulong strange, looks, ticks;

static ino_t
S_named(void)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

static int
S_show(int fd)
{
	char text[64] = "";
	int error = errno;
	/* The name first: this is the next thing the thread does. */
	ino_t named = S_named();
	struct stat st = { 0 };

	if (fd < 0) {
		printf("%s - %lu\n", strerror(error), (unsigned long)named);
		return 0;
	}
	if (fstat(fd, &st) || read(fd, text, sizeof(text) - 1) < 0)
		strcpy(text, "unread");
	text[strcspn(text, "\n")] = '\0';
	printf("%s %lu %lu\n", text, (unsigned long)st.st_ino,
	       (unsigned long)named);
	return 0;
}

static int
S_openat2(const char *resolve)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC,
		.resolve = resolve ? strtoull(resolve, NULL, 0) : 0,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

/* PATH is below DIR, which is held. */
static int
S_below(const char *dir, const char *name)
{
	return openat(open(dir, O_PATH | O_DIRECTORY), name, O_RDONLY);
}

/* Through a descriptor that was opened without reading anything. */
static int
S_again(void)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", open(path, O_PATH));
	return open(link, O_RDONLY);
}

/* By a link of /proc to the folder. */
static int
S_through_proc(const char *dir, const char *name)
{
	char link[4096];

	/* A number that means nothing in whoever else reads the link. */
	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d/%s",
		 fcntl(open(dir, O_PATH | O_DIRECTORY), F_DUPFD, 200), name);
	return open(link, O_RDONLY);
}

static void *
S_look(void *arg)
{
	(void)arg;
	while (!stop) {
		if (S_named() != before)
			strange++;
		looks++;
	}
	return NULL;
}

/* Other threads look at the name all the time. */
static int
S_threads(const char *how)
{
	pthread_t t[THREADS];
	int fd;

	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, S_look, NULL);
	while (looks < THREADS)
		;
	fd = open(path, O_RDONLY);
	/* No call of this thread: the others must be able to get on. */
	if (how && !strcmp(how, "spin"))
		for (unsigned long from = looks; looks < from + THREADS * 2;)
			;
	stop = true;
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%lu strange ", (unsigned long)strange);
	return S_show(fd);
}

/* Calls of other tables than the native one. */
static int
S_foreign(void)
{
	close(open(path, O_RDONLY));
#ifdef __x86_64__
	long x32 = syscall(0x40000000 | SYS_openat, AT_FDCWD, path, O_RDONLY);

	printf("%s\n", x32 < 0 ? strerror(errno) : "opened");
	fflush(stdout);
	/* getpid of the 32-bit table; open is another number there. */
	__asm__ volatile("int $0x80" : : "a"(20) : "memory");
#endif
	printf("went on\n");
	return 0;
}

static void
S_tick(int signal_number)
{
	(void)signal_number;
	ticks++;
}

/* Each open must be the one, whatever signals come; how many were. */
static int
S_signals(unsigned long n, const char *want)
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } };
	struct sigaction sa = { .sa_handler = S_tick, .sa_flags = SA_RESTART };
	unsigned long good = 0, named = 0;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned long i = 0; i < n; i++) {
		char text[64] = "";
		int fd = open(path, O_RDONLY);

		named += S_named() == before;
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
			good += !strncmp(text, want, strlen(want));
		close(fd);
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	printf("%lu %lu %s\n", good, named, ticks ? "signals" : "none");
	return 0;
}

int
main(int argc, char **argv)
{
	const char *verb = argv[1], *arg = argc > 3 ? argv[3] : NULL;

	path = argv[2];
	before = S_named();
	if (!strcmp(verb, "open"))
		return S_show((int)syscall(SYS_open, path, O_RDONLY));
	if (!strcmp(verb, "openat"))
		return S_show(openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
	if (!strcmp(verb, "openat2"))
		return S_show(S_openat2(arg));
	if (!strcmp(verb, "creat"))
		return S_show(creat(path, 0600));
	if (!strcmp(verb, "make"))
		return S_show(open(path, O_RDWR | O_CREAT, 0600));
	if (!strcmp(verb, "make-new"))
		return S_show(open(path, O_RDWR | O_CREAT | O_EXCL, 0600));
	if (!strcmp(verb, "no-link"))
		return S_show(open(path, O_RDONLY | O_NOFOLLOW));
	if (!strcmp(verb, "write"))
		return S_show(open(path, O_WRONLY));
	if (!strcmp(verb, "below"))
		return S_show(S_below(arg, argv[4]));
	if (!strcmp(verb, "through-proc"))
		return S_show(S_through_proc(arg, argv[4]));
	if (!strcmp(verb, "again"))
		return S_show(S_again());
	if (!strcmp(verb, "flags")) {
		int fd = open(path, O_RDWR | O_CLOEXEC);

		printf("%d %d\n", (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR,
		       fcntl(fd, F_GETFD) & FD_CLOEXEC);
		return 0;
	}
	if (!strcmp(verb, "threads"))
		return S_threads(arg);
	if (!strcmp(verb, "signals"))
		return S_signals(strtoul(arg, NULL, 10), argv[4]);
	if (!strcmp(verb, "hang")) {
		open(path, O_RDONLY);
		for (;;)
			pause();
	}
	if (!strcmp(verb, "die")) {
		open(path, O_RDONLY);
		raise(SIGKILL);
	}
	if (!strcmp(verb, "foreign"))
		return S_foreign();
	if (!strcmp(verb, "uring")) {
		long fd = syscall(SYS_io_uring_setup, 1, NULL);

		printf("%s\n", fd < 0 ? strerror(errno) : "there");
		return S_show(open(path, O_RDONLY));
	}
	return 2;
}
