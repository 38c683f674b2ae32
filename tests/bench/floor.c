/*
 * floor.c - what reading a file twice costs at least, in nanoseconds
 *
 * floor FILE COPY: one pread+write copy of FILE to COPY, then one
 * pread+memcmp of both. Prints the two durations.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEP (1 << 20)

static unsigned char one[STEP], other[STEP];

static long long
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static ssize_t
need(ssize_t n, const char *what)
{
	if (n < 0) {
		perror(what);
		exit(1);
	}
	return n;
}

int
main(int argc, char **argv)
{
	long long start, copied, compared;
	off_t at = 0;
	ssize_t n;
	int in, out;

	if (argc != 3)
		return 2;
	in = (int)need(open(argv[1], O_RDONLY), argv[1]);
	out = (int)need(open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600),
			argv[2]);
	start = now();
	while ((n = need(pread(in, one, STEP, at), "pread")) > 0) {
		if (need(write(out, one, (size_t)n), "write") != n)
			return 1;
		at += n;
	}
	copied = now();
	at = 0;
	while ((n = need(pread(in, one, STEP, at), "pread")) > 0) {
		if (pread(out, other, (size_t)n, at) != n ||
		    memcmp(one, other, (size_t)n) != 0)
			return 1;
		at += n;
	}
	compared = now();
	printf("%lld %lld\n", copied - start, compared - copied);
	return 0;
}
