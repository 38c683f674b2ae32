/*
 * bootstrap.c - runs a program from a Git object, by descriptor
 *
 * What is reviewed is a commit; what is run is usually the file that lies in
 * the working tree a moment later. Here the bytes come from the object, and
 * no name is looked up between the check and the run:
 *
 *   1. commit, trees and blob are read by `git cat-file` and each is hashed
 *      again, from the id that the caller gave (gitobject.h)
 *   2. the bytes go to a memfd, which is sealed
 *   3. the SHA-256 of what is in it is that of the caller
 *   4. it is run by its descriptor; the interpreter of a script reads
 *      /dev/fd/N, so that descriptor stays open in the program
 *
 * Trust: git, the interpreter that the script names, PATH and the rest of
 * the environment are the caller's. What the program itself loads from the
 * working tree is not covered.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "controls/gitobject.h"
#include "controls/verbs.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

struct options {
	const char *repo, *commit, *path, *sha256;
	char **words;
};

static bool
S_is_hex(const char *s, size_t n)
{
	return s && strlen(s) == n && strspn(s, "0123456789abcdef") == n;
}

/* Relative, and each component is one: no "", ".", "..". */
static bool
S_is_path(const char *p)
{
	while (p && *p) {
		size_t n = strcspn(p, "/");

		if (n == 0 || (n == 1 && p[0] == '.') ||
		    (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n;
		if (*p == '\0')
			return true;
		p++;
	}
	return false;
}

static int
S_parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "repo", required_argument, NULL, 'r' },
		{ "commit", required_argument, NULL, 'c' },
		{ "path", required_argument, NULL, 'p' },
		{ "sha256", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	*o = (struct options){ .repo = NULL };
	while ((option = getopt_long(argc, argv, "+h", options, NULL)) >= 0)
		switch (option) {
		case 'r':
			o->repo = optarg;
			break;
		case 'c':
			o->commit = optarg;
			break;
		case 'p':
			o->path = optarg;
			break;
		case 's':
			o->sha256 = optarg;
			break;
		case 'h':
			exit(verbs_help());
		default:
			return VERBS_USAGE;
		}
	o->words = argv + optind;
	if (!o->repo)
		return verbs_fail(VERBS_USAGE, "bootstrap needs --repo");
	if (!S_is_hex(o->commit, 40) && !S_is_hex(o->commit, 64))
		return verbs_fail(VERBS_USAGE, "--commit takes a full id, 40 "
				  "or 64 hexadecimal digits");
	if (!S_is_path(o->path))
		return verbs_fail(VERBS_USAGE, "--path takes a path within "
				  "the commit");
	if (!S_is_hex(o->sha256, 64))
		return verbs_fail(VERBS_USAGE, "--sha256 takes 64 hexadecimal"
				  " digits");
	return 0;
}

/* A longer name is none to memfd_create: then its end. Only /proc shows it. */
#define BOOTSTRAP_NAME_MAX 249

static int
S_sealed(const struct gitobject *blob, const char *path)
{
	size_t length = strlen(path);
	const char *name = length > BOOTSTRAP_NAME_MAX
		? path + length - BOOTSTRAP_NAME_MAX : path;
	int fd = memfd_create(name, MFD_ALLOW_SEALING | MFD_EXEC);
	size_t done = 0;

	/* Before Linux 6.3 there was no such flag, and every one had it. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_ALLOW_SEALING);
	while (fd >= 0 && done < blob->n) {
		ssize_t n = write(fd, blob->p + done, blob->n - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			goto out;
		done += (size_t)n;
	}
	if (fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK |
			     F_SEAL_GROW | F_SEAL_WRITE) == 0)
		return fd;
out:
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

/* Of what the kernel will run, not of the buffer it came from. */
static bool
S_digest(int fd, size_t n, char hex[65])
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	void *map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	bool done;

	if (map == MAP_FAILED)
		return false;
	done = EVP_Digest(map, n, sum, NULL, EVP_sha256(), NULL) == 1;
	for (int i = 0; done && i < 32; i++)
		(void)sprintf(hex + 2 * i, "%02x", sum[i]);
	(void)munmap(map, n);
	return done;
}

static bool
S_runnable(const struct gitobject *blob)
{
	return (blob->n > 2 && memcmp(blob->p, "#!", 2) == 0) ||
		(blob->n > 4 && memcmp(blob->p, "\177ELF", 4) == 0);
}

static int
S_execute(const struct options *o, int fd)
{
	char *name = strdup(o->path);

	/* The words of the caller are behind those of the verb: the one
	 * before them is free for the program's name. */
	if (!name)
		return verbs_fail(VERBS_TROUBLE, "no memory");
	o->words[-1] = name;
	(void)fflush(NULL);
	(void)fexecve(fd, o->words - 1, environ);
	(void)verbs_fail(VERBS_TROUBLE, "run %s: %s", o->path,
			 strerror(errno));
	free(name);
	return VERBS_TROUBLE;
}

static int
S_check_and_run(const struct options *o, const struct gitobject *blob)
{
	char hex[65];
	int fd, status;

	if (!S_runnable(blob))
		return verbs_fail(VERBS_REFUSED, "%s is no script with #! and"
				  " no ELF program", o->path);
	fd = S_sealed(blob, o->path);
	if (fd < 0 || !S_digest(fd, blob->n, hex))
		return verbs_fail(VERBS_TROUBLE, "hold %s: %s", o->path,
				  strerror(errno));
	if (strcmp(hex, o->sha256))
		status = verbs_fail(VERBS_REFUSED, "%s of commit %s has"
				    " SHA-256 %s, and not %s; it is not run",
				    o->path, o->commit, hex, o->sha256);
	else
		status = S_execute(o, fd);
	(void)close(fd);
	return status;
}

int
bootstrap_main(int argc, char **argv)
{
	struct gitobject blob;
	struct options o;
	int status = S_parse(argc, argv, &o);

	if (!status)
		status = gitobject_file(o.repo, o.commit, o.path, &blob);
	if (status)
		return status;
	status = S_check_and_run(&o, &blob);
	free(blob.p);
	return status;
}
