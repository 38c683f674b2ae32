/*
 * owner.c - who holds a lease, spelt in one way only
 */
#include "lease/owner.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/cell.h"
#include "base/io.h"
#include "base/own.h"

#define OWNER_PREFIX "agent/"
#define OWNER_BLANKS " \t\n\v\f\r"

int
owner_text(const char *what, const char *word, size_t max, struct fault *f)
{
	size_t n = strlen(word);

	if (n > max)
		return fault_set(f, FAULT_USAGE, "%s is longer than %zu bytes",
				 what, max);
	if (cell_utf8_check(word, n))
		return fault_set(f, FAULT_USAGE, "%s is not UTF-8", what);
	return 0;
}

int
owner_session(const char *word, char **session, struct fault *f)
{
	size_t n;
	int rc = owner_text("the session", word, OWNER_NAME_MAX, f);

	if (rc)
		return rc;
	word += strspn(word, OWNER_BLANKS);
	while (strncasecmp(word, OWNER_PREFIX, strlen(OWNER_PREFIX)) == 0) {
		word += strlen(OWNER_PREFIX);
		word += strspn(word, OWNER_BLANKS);
	}
	n = strlen(word);
	while (n > 0 && strchr(OWNER_BLANKS, word[n - 1]))
		n--;
	if (n == 0)
		return fault_set(f, FAULT_USAGE, "the session has no name");
	*session = strndup(word, n);
	if (!*session)
		return fault_set(f, FAULT_TROUBLE, "out of memory");
	return 0;
}

/* proc(5): field 22 of stat; the name before it may hold anything but ends
   at the last parenthesis. */
static int64_t
S_start(const char *stat)
{
	const char *at = strrchr(stat, ')');
	int64_t start = 0;

	if (!at || sscanf(at + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s"
			  " %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNd64,
			  &start) != 1)
		return 0;
	return start;
}

void
owner_process(int64_t pid, struct owner_process *p)
{
	struct fault ignored = FAULT_INIT;
	char path[64], text[1024];
	struct stat ns;
	size_t got;
	OWN_FD(fd);

	*p = (struct owner_process){ .pid = 0 };
	(void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read(fd, text, sizeof(text) - 1, &got, &ignored) ||
	    stat("/proc/self/ns/pid", &ns) || clock_boot_id(p->boot))
		return;
	text[got] = '\0';
	p->start = S_start(text);
	p->ns = (int64_t)ns.st_ino;
	if (p->start > 0)
		p->pid = pid;
}
