/*
 * attack_swap.c - one file in the place of another, and back
 *
 * Everything goes by held folders and last components, so that the command
 * may move about as it likes. Whether something is crossed is told from the
 * inodes at both names alone: whoever puts back (the supervisor, the
 * guardian, the next run) may look at any time and twice.
 */
#include "controls/attack_swap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "controls/attack.h"

/* What is taken out waits under this name, beside its own. */
#define SWAP_HIDDEN ".holdfast-attack-out-"

/* The inode at a name, and its size; 0: nobody is there. */
static ino_t
S_at(int dir, const char *name, struct stat *st)
{
	if (fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW))
		return 0;
	return st->st_ino;
}

/* A held folder and a last component of a path. */
static int
S_split(const char *path, int *dir, char last[NAME_MAX + 1])
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char folder[PATH_MAX];
	int n;

	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") ||
	    strlen(name) > NAME_MAX) {
		attack_say("%s: not the name of a file", path);
		return -1;
	}
	n = slash ? snprintf(folder, sizeof(folder), "%.*s",
			     (int)(name - path), path)
		  : snprintf(folder, sizeof(folder), ".");
	if (n < 0 || (size_t)n >= sizeof(folder)) {
		attack_say("%s: too long", path);
		return -1;
	}
	strcpy(last, name);
	*dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dir < 0)
		attack_say("open %s: %s", folder, strerror(errno));
	return *dir < 0 ? -1 : 0;
}

static int
S_folder_path(int dir, char path[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = readlink(link, path, PATH_MAX - 1);
	if (n < 0)
		return -1;
	path[n] = '\0';
	return 0;
}

static int
S_substitute(struct swap *s, const char *path, bool exchange)
{
	struct stat dir, st;

	s->absent = !strcmp(path, "-");
	if (s->absent) {
		int n = snprintf(s->c.other, sizeof(s->c.other), "%s%s",
				 SWAP_HIDDEN, s->c.name);

		s->c.other_dir = s->c.dir;
		if (n < (int)sizeof(s->c.other))
			return 0;
		attack_say("%s: the name is too long", s->c.name);
		return -1;
	}
	if (S_split(path, &s->c.other_dir, s->c.other))
		return -1;
	if (!S_at(s->c.other_dir, s->c.other, &st)) {
		attack_say("%s: %s (\"-\" stands for: no file)", path,
			   strerror(errno));
		return -1;
	}
	s->other_dev = st.st_dev;
	s->c.other_ino = st.st_ino;
	if (fstat(s->c.other_dir, &dir) || S_folder_path(s->c.other_dir,
							 s->folder)) {
		attack_say("%s: %s", path, strerror(errno));
		return -1;
	}
	if (!exchange && !S_ISREG(st.st_mode)) {
		attack_say("%s: not a regular file", path);
		return -1;
	}
	if (exchange && dir.st_dev != s->dir_dev) {
		attack_say("%s is on another file system than %s: names can't "
			   "be exchanged there, --mode inject works", path,
			   s->c.name);
		return -1;
	}
	if (dir.st_dev == s->dir_dev && dir.st_ino == s->dir_ino)
		s->folder[0] = '\0';
	return 0;
}

int
swap_open(struct swap *s, const char *arg, bool exchange)
{
	const char *equal = strchr(arg, '=');
	char name[PATH_MAX];
	struct stat st, old;

	*s = (struct swap){ .c = { .dir = -1, .other_dir = -1 },
			    .journal = -1 };
	if (!equal || equal == arg || !equal[1] ||
	    (size_t)(equal - arg) >= sizeof(name)) {
		attack_say("--swap %s: not NAME=SUBSTITUTE", arg);
		return -1;
	}
	memcpy(name, arg, (size_t)(equal - arg));
	name[equal - arg] = '\0';
	if (S_split(name, &s->c.dir, s->c.name))
		return -1;
	if (fstat(s->c.dir, &st)) {
		attack_say("%s: %s", name, strerror(errno));
		return -1;
	}
	s->dir_dev = st.st_dev;
	s->dir_ino = st.st_ino;
	if (S_substitute(s, equal + 1, exchange))
		return -1;
	if (!s->absent && S_at(s->c.dir, s->c.name, &old) == s->c.other_ino &&
	    old.st_dev == s->other_dev) {
		attack_say("%s and %s are the same file", name, equal + 1);
		return -1;
	}
	return 0;
}

void
swap_close(struct swap *s)
{
	if (s->c.other_dir >= 0 && s->c.other_dir != s->c.dir)
		close(s->c.other_dir);
	if (s->c.dir >= 0)
		close(s->c.dir);
	if (s->journal >= 0)
		close(s->journal);
	s->c.dir = s->c.other_dir = s->journal = -1;
}

int
swap_look(struct swap *s)
{
	struct stat st;

	s->c.name_ino = S_at(s->c.dir, s->c.name, &st);
	s->c.other_ino = S_at(s->c.other_dir, s->c.other, &st);
	s->other_dev = s->c.other_ino ? st.st_dev : 0;
	if (s->absent) {
		s->c.kind = SWAP_TAKE_OUT;
		if (!s->c.other_ino)
			return !s->c.name_ino;
		attack_say("%s is in the way", s->c.other);
		return -1;
	}
	s->c.kind = s->c.name_ino ? SWAP_EXCHANGE : SWAP_PUT_IN;
	if (s->c.other_ino)
		return 0;
	attack_say("%s: the substitute is gone", s->c.other);
	return -1;
}

static int
S_rename(int from_dir, const char *from, int to_dir, const char *to,
	 unsigned flags)
{
	if (!renameat2(from_dir, from, to_dir, to, flags))
		return 0;
	attack_say("%s %s and %s: %s",
		   flags & RENAME_EXCHANGE ? "exchange" : "rename", from, to,
		   strerror(errno));
	return -1;
}

int
swap_in(const struct crossing *c)
{
	switch (c->kind) {
	case SWAP_EXCHANGE:
		return S_rename(c->dir, c->name, c->other_dir, c->other,
				RENAME_EXCHANGE);
	case SWAP_PUT_IN:
		return S_rename(c->other_dir, c->other, c->dir, c->name,
				RENAME_NOREPLACE);
	default:
		return S_rename(c->dir, c->name, c->other_dir, c->other,
				RENAME_NOREPLACE);
	}
}

/*
 * A file that the command made at a free name is in the way of the one that
 * was there. While it is empty nothing is lost with its name: the command
 * has it open, as it would have under a real attack.
 */
static bool
S_just_made(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size == 0 && st->st_nlink == 1;
}

enum crossing_state
swap_state(const struct crossing *c)
{
	struct stat st, other_st;
	ino_t name = S_at(c->dir, c->name, &st);
	ino_t other = S_at(c->other_dir, c->other, &other_st);

	if (name == c->name_ino && other == c->other_ino)
		return CROSSING_STRAIGHT;
	switch (c->kind) {
	case SWAP_EXCHANGE:
	case SWAP_PUT_IN:
		if (name == c->other_ino && other == c->name_ino)
			return CROSSING_CROSSED;
		return name == c->other_ino || (other && other == c->name_ino)
			? CROSSING_CHANGED : CROSSING_FOREIGN;
	default:
		if (other != c->name_ino)
			return CROSSING_FOREIGN;
		return !name || S_just_made(&st) ? CROSSING_CROSSED
						 : CROSSING_CHANGED;
	}
}

static int
S_changed(const struct crossing *c)
{
	struct stat st;
	unsigned long long name = S_at(c->dir, c->name, &st);
	unsigned long long other = S_at(c->other_dir, c->other, &st);

	attack_say("%s and %s are left as they are: expected the inodes %llu "
		   "and %llu, found %llu and %llu (0: no file)", c->name,
		   c->other, (unsigned long long)c->name_ino,
		   (unsigned long long)c->other_ino, name, other);
	return -1;
}

static int
S_bring_back(const struct crossing *c)
{
	struct stat st;

	if (!S_at(c->dir, c->name, &st))
		return S_rename(c->other_dir, c->other, c->dir, c->name,
				RENAME_NOREPLACE);
	if (S_rename(c->dir, c->name, c->other_dir, c->other,
		     RENAME_EXCHANGE))
		return -1;
	if (!S_at(c->other_dir, c->other, &st) || !S_just_made(&st))
		return S_changed(c);
	return unlinkat(c->other_dir, c->other, 0);
}

int
swap_back(const struct crossing *c)
{
	switch (swap_state(c)) {
	case CROSSING_STRAIGHT:
		return 0;
	case CROSSING_CROSSED:
		break;
	default:
		return S_changed(c);
	}
	switch (c->kind) {
	case SWAP_EXCHANGE:
		return S_rename(c->dir, c->name, c->other_dir, c->other,
				RENAME_EXCHANGE);
	case SWAP_PUT_IN:
		return S_rename(c->dir, c->name, c->other_dir, c->other,
				RENAME_NOREPLACE);
	default:
		return S_bring_back(c);
	}
}
