/*
 * watch.c - whether anybody opened a file since it was watched
 */
#include "capture/watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

#define WATCH_PATH_BYTES 320	/* "/proc/self/fd/N/" and a name */
#define WATCH_INFO_BYTES 2048	/* several times what ROLE_COUNT lines take */

static void
S_add_name(const struct watch *w, const struct names *n, enum role r)
{
	char path[WATCH_PATH_BYTES];
	int len = snprintf(path, sizeof(path), "/proc/self/fd/%d/%s%s",
			   n->dirfd, n->base, role_suffix(r));

	if (n->entry[r].exists && len < (int)sizeof(path))
		(void)inotify_add_watch(w->fd, path, IN_OPEN | IN_DONT_FOLLOW);
}

static bool
S_is_among(const struct inode_id *id, const struct inode_id *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i].ino == id->ino && ids[i].dev == id->dev)
			return true;
	return false;
}

/*
 * "inotify wd:W ino:HEX sdev:HEX mask:...": proc(5). sdev is the kernel's own
 * number, with 20 bits for the minor. On file systems whose stat shows
 * another device (btrfs) nothing is covered.
 */
static void
S_take_line(struct watch *w, const char *line, const struct inode_id *ids,
	    size_t nids)
{
	struct inode_id id;
	uint64_t ino;
	unsigned sdev;

	if (sscanf(line, "inotify wd:%*x ino:%" SCNx64 " sdev:%x", &ino,
		   &sdev) != 2)
		return;
	id.dev = makedev(sdev >> 20, sdev & 0xfffff);
	id.ino = ino;
	if (w->count < ROLE_COUNT && S_is_among(&id, ids, nids))
		w->id[w->count++] = id;
}

/*
 * A name can have changed between two looks, so what is watched is what the
 * kernel says of the watches, not what the name showed.
 */
static void
S_ask_what(struct watch *w, const struct inode_id *ids, size_t nids)
{
	struct fault ignored = FAULT_INIT;
	char path[64], text[WATCH_INFO_BYTES];
	size_t got;
	OWN_FD(fd);

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", w->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read(fd, text, sizeof(text) - 1, &got, &ignored))
		return;
	text[got] = '\0';
	for (char *line = text, *end; (end = strchr(line, '\n'));
	     line = end + 1) {
		*end = '\0';
		S_take_line(w, line, ids, nids);
	}
}

void
watch_begin(struct watch *w, const struct names *n, const struct inode_id *ids,
	    size_t nids)
{
	w->count = 0;
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd < 0)
		return;
	for (enum role r = 0; r < ROLE_COUNT; r++)
		S_add_name(w, n, r);
	S_ask_what(w, ids, nids);
}

void
watch_end(struct watch *w)
{
	own_fd_close(&w->fd);
	w->count = 0;
}

bool
watch_quiet(const struct watch *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	return w->fd >= 0 && poll(&p, 1, 0) == 0;
}

bool
watch_covers(const struct watch *w, const struct inode_id *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!S_is_among(&ids[i], w->id, w->count))
			return false;
	return true;
}
