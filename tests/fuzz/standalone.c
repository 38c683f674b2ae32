/*
 * standalone.c - runs a fuzz target once over each file named
 *
 * For compilers without libFuzzer, and to look at one finding.
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

static int
S_run(const char *path)
{
	uint8_t *bytes = malloc(STANDALONE_MAX), *exact = NULL;
	FILE *in = fopen(path, "rb");
	size_t n = 0;

	if (in && bytes)
		n = fread(bytes, 1, STANDALONE_MAX, in);
	if (!in || !bytes || ferror(in)) {
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
		free(bytes);
		if (in)
			(void)fclose(in);
		return 1;
	}
	(void)fclose(in);
	/* No byte more, so that the tools see a read behind the end. */
	exact = realloc(bytes, n ? n : 1);
	if (!exact)
		exact = bytes;
	(void)LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	return 0;
}

int
main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= S_run(argv[i]);
	return failed;
}
