/*
 * standalone.c - runs a fuzz target without libFuzzer
 *
 * usage: PROGRAM [-runs=N] FILE...
 *
 * Once over each file, and over N mutations of it, the same ones each time.
 * For compilers without libFuzzer, for a short run that belongs to the
 * tests, and to look at one finding.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define STANDALONE_MAX (64u << 20)
#define STANDALONE_CHANGES 4u

struct input {
	uint8_t *bytes;
	size_t n;
};

/* SplitMix64, from 0 for each file. */
static uint64_t
S_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Of the first bytes more often than of the rest. */
static size_t
S_place(const struct input *in, uint64_t *r)
{
	size_t n = in->n;

	if (n > 64 && S_random(r) % 3 == 0)
		n = 64;
	return (size_t)(S_random(r) % n);
}

static void
S_word(struct input *in, size_t at, uint64_t *r)
{
	static const uint32_t edge[] = {
		0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x10000, 0x7fffffff,
		0x80000000, 0xffffffff,
	};
	uint32_t v = edge[S_random(r) % (sizeof(edge) / sizeof(edge[0]))];

	for (size_t i = 0; i < 4 && at + i < in->n; i++)
		in->bytes[at + i] = (uint8_t)(v >> (24 - 8 * i));
}

static void
S_change(struct input *in, uint64_t *r)
{
	size_t at, from, n;

	if (in->n == 0)
		return;
	at = S_place(in, r);
	n = (size_t)(S_random(r) % 64) + 1;
	from = (size_t)(S_random(r) % in->n);
	if (n > in->n - at)
		n = in->n - at;
	if (n > in->n - from)
		n = in->n - from;
	switch (S_random(r) % 6) {
	case 0:
		in->bytes[at] ^= (uint8_t)(1u << S_random(r) % 8);
		break;
	case 1:
		in->bytes[at] = (uint8_t)S_random(r);
		break;
	case 2:
		S_word(in, at, r);
		break;
	case 3:
		memset(in->bytes + at, 0, n);
		break;
	case 4:
		memmove(in->bytes + at, in->bytes + from, n);
		break;
	default:
		in->n = S_random(r) % 4 ? in->n : at;
		break;
	}
}

/* In memory of its own length, so that the tools see a read behind it. */
static int
S_once(const uint8_t *bytes, size_t n)
{
	uint8_t *exact = malloc(n ? n : 1);

	if (!exact)
		return 1;
	if (n)
		memcpy(exact, bytes, n);
	(void)LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	return 0;
}

static int
S_mutants(const uint8_t *bytes, size_t n, unsigned long runs)
{
	struct input in = { .bytes = malloc(n ? n : 1) };
	uint64_t random = 0;
	int failed = !in.bytes;

	for (unsigned long i = 0; !failed && i < runs; i++) {
		memcpy(in.bytes, bytes, n);
		in.n = n;
		for (uint64_t k = S_random(&random) % STANDALONE_CHANGES + 1;
		     k > 0; k--)
			S_change(&in, &random);
		failed = S_once(in.bytes, in.n);
	}
	free(in.bytes);
	return failed;
}

static int
S_run(const char *path, unsigned long runs)
{
	uint8_t *bytes = malloc(STANDALONE_MAX);
	FILE *in = fopen(path, "rb");
	int failed = 1;
	size_t n = 0;

	if (in && bytes)
		n = fread(bytes, 1, STANDALONE_MAX, in);
	if (!in || !bytes || ferror(in))
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
	else
		failed = S_once(bytes, n) || S_mutants(bytes, n, runs);
	free(bytes);
	if (in)
		(void)fclose(in);
	return failed;
}

int
main(int argc, char **argv)
{
	unsigned long runs = 0;
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "-runs=", 6) == 0)
			runs = strtoul(argv[i] + 6, NULL, 10);
		else
			failed |= S_run(argv[i], runs);
	}
	return failed;
}
