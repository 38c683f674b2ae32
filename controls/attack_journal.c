/*
 * attack_journal.c - what is crossed, for whoever has to put it back
 */
#include "controls/attack_journal.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "controls/attack.h"

#define JOURNAL_FORMAT "holdfast-attack-1"
#define JOURNAL_PREFIX ".holdfast-attack-"
#define JOURNAL_DIGITS 16
/* A path and two names, each byte escaped. */
#define JOURNAL_MAX (6 * (PATH_MAX + 2 * NAME_MAX) + 1024)

static const char *const kinds[SWAP_KINDS] = { "exchange", "put in",
					       "take out" };

static void
S_name(const char *of, char name[NAME_MAX + 1])
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *of; of++)
		h = (h ^ (unsigned char)*of) * 0x100000001b3;
	snprintf(name, NAME_MAX + 1, JOURNAL_PREFIX "%016" PRIx64, h);
}

static bool
S_is_name(const char *name)
{
	size_t n = strlen(JOURNAL_PREFIX);

	return !strncmp(name, JOURNAL_PREFIX, n) &&
	       strspn(name + n, "0123456789abcdef") == JOURNAL_DIGITS &&
	       strlen(name + n) == JOURNAL_DIGITS;
}

/* The text, '\0' at its end; NULL where there is none. Free it. */
static char *
S_read(int fd)
{
	char *text = malloc(JOURNAL_MAX + 1);
	ssize_t n = text ? pread(fd, text, JOURNAL_MAX, 0) : -1;

	if (n <= 0) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

static bool
S_take_name(const cJSON *o, const char *key, char name[NAME_MAX + 1])
{
	const char *v = cJSON_GetStringValue(cJSON_GetObjectItem(o, key));

	if (!v || !*v || strlen(v) > NAME_MAX || strchr(v, '/') ||
	    !strcmp(v, ".") || !strcmp(v, ".."))
		return false;
	strcpy(name, v);
	return true;
}

static bool
S_take_inode(const cJSON *o, const char *key, ino_t *ino)
{
	const char *v = cJSON_GetStringValue(cJSON_GetObjectItem(o, key));
	char *end;

	if (!v)
		return false;
	errno = 0;
	*ino = strtoull(v, &end, 10);
	return *v && !*end && !errno;
}

/* False: empty or torn. folder lives as long as o. */
static bool
S_take(const cJSON *o, struct crossing *c, const char **folder, int *pid)
{
	const char *format = cJSON_GetStringValue(
		cJSON_GetObjectItem(o, "format"));
	const char *kind = cJSON_GetStringValue(
		cJSON_GetObjectItem(o, "kind"));
	const cJSON *who = cJSON_GetObjectItem(o, "pid");

	*folder = cJSON_GetStringValue(cJSON_GetObjectItem(o, "folder"));
	if (!format || strcmp(format, JOURNAL_FORMAT) || !kind || !*folder ||
	    !cJSON_IsNumber(who))
		return false;
	*pid = who->valueint;
	for (c->kind = 0; c->kind < SWAP_KINDS; c->kind++)
		if (!strcmp(kind, kinds[c->kind]))
			break;
	return c->kind < SWAP_KINDS && S_take_name(o, "name", c->name) &&
	       S_take_name(o, "other", c->other) &&
	       S_take_inode(o, "name_inode", &c->name_ino) &&
	       S_take_inode(o, "other_inode", &c->other_ino);
}

static int
S_undo(int dir, int fd, const char *who)
{
	char *text = S_read(fd);
	cJSON *o = text ? cJSON_Parse(text) : NULL;
	struct crossing c = { .dir = dir, .other_dir = dir };
	const char *folder;
	int pid, rc = 0;

	free(text);
	if (!o || !S_take(o, &c, &folder, &pid))
		goto out;
	if (*folder) {
		c.other_dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (c.other_dir < 0) {
			attack_say("%s: open %s: %s", c.name, folder,
				   strerror(errno));
			rc = -1;
			goto out;
		}
	}
	switch (swap_state(&c)) {
	case CROSSING_STRAIGHT:
	case CROSSING_FOREIGN:
		break;
	default:
		rc = swap_back(&c);
		if (!rc)
			attack_say("%s is put back by %s: the run of process "
				   "%d died while it was exchanged", c.name,
				   who, pid);
	}
	if (c.other_dir != dir)
		close(c.other_dir);
out:
	cJSON_Delete(o);
	return rc;
}

int
journal_undo(const struct swap *s)
{
	return S_undo(s->c.dir, s->journal, "its guardian");
}

/*
 * The journal under this name, locked. 1: a run that lives has it, or
 * nobody, or another user; *fd is -1 then, and errno tells why it was not
 * opened; 0: it was, and it is not ours to lock.
 */
static int
S_lock(int dir, const char *name, int flags, int *fd)
{
	struct stat st, now;

	*fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
		     flags, 0600);
	if (*fd < 0)
		return errno == ENOENT || errno == EACCES || errno == ELOOP ?
			1 : -1;
	if (!fstat(*fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	    st.st_uid == geteuid() && !flock(*fd, LOCK_EX | LOCK_NB) &&
	    !fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) &&
	    now.st_ino == st.st_ino)
		return 0;
	close(*fd);
	*fd = -1;
	errno = 0;
	return 1;
}

/* Every journal of the folder that nobody holds. */
static int
S_leftovers(int dir)
{
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	const struct dirent *e;
	int rc = 0, fd;

	if (!d) {
		attack_say("list the folder: %s", strerror(errno));
		if (again >= 0)
			close(again);
		return -1;
	}
	while (!rc && (e = readdir(d))) {
		if (!S_is_name(e->d_name) || S_lock(dir, e->d_name, 0, &fd))
			continue;
		rc = S_undo(dir, fd, "this run");
		if (!rc)
			unlinkat(dir, e->d_name, 0);
		else
			attack_say("%s says what stood where; remove it when "
				   "the files are right", e->d_name);
		close(fd);
	}
	closedir(d);
	return rc;
}

/* Why there is no journal for us: S_lock gave rc and left errno. */
static void
S_no_journal(const struct swap *s, const char *name, int rc)
{
	int err = errno;
	struct stat st;
	bool there = !fstatat(s->c.dir, name, &st, AT_SYMLINK_NOFOLLOW);

	if (rc > 0 && !err)
		attack_say("%s is attacked by another run, which holds %s",
			   s->c.name, name);
	else if (there)
		attack_say("%s, of uid %u, is in the way of a journal: %s; "
			   "remove it when no run of that user attacks %s",
			   name, (unsigned)st.st_uid, strerror(err),
			   s->c.name);
	else
		attack_say("the folder of %s can't be written: %s; --mode "
			   "rename exchanges names there, --mode inject "
			   "touches none", s->c.name, strerror(err));
}

int
journal_open(struct swap *s)
{
	char name[NAME_MAX + 1];
	int rc;

	if (S_leftovers(s->c.dir))
		return -1;
	S_name(s->c.name, name);
	rc = S_lock(s->c.dir, name, O_CREAT, &s->journal);
	if (rc) {
		S_no_journal(s, name, rc);
		return -1;
	}
	if (!fsync(s->c.dir))
		return 0;
	attack_say("%s: %s", name, strerror(errno));
	return -1;
}

static char *
S_text(const struct swap *s)
{
	cJSON *o = cJSON_CreateObject();
	char ino[32], *text;

	cJSON_AddStringToObject(o, "format", JOURNAL_FORMAT);
	cJSON_AddNumberToObject(o, "pid", getpid());
	cJSON_AddStringToObject(o, "kind", kinds[s->c.kind]);
	cJSON_AddStringToObject(o, "name", s->c.name);
	snprintf(ino, sizeof(ino), "%ju", (uintmax_t)s->c.name_ino);
	cJSON_AddStringToObject(o, "name_inode", ino);
	cJSON_AddStringToObject(o, "other", s->c.other);
	snprintf(ino, sizeof(ino), "%ju", (uintmax_t)s->c.other_ino);
	cJSON_AddStringToObject(o, "other_inode", ino);
	cJSON_AddStringToObject(o, "folder", s->folder);
	text = cJSON_PrintUnformatted(o);
	cJSON_Delete(o);
	return text;
}

int
journal_record(const struct swap *s)
{
	char *text = S_text(s), *old = S_read(s->journal);
	size_t n = text ? strlen(text) : 0;
	int rc = 0;

	if (!n || n > JOURNAL_MAX) {
		attack_say("%s: no journal can be written", s->c.name);
		rc = -1;
	} else if (!old || strcmp(text, old)) {
		if (ftruncate(s->journal, 0) ||
		    pwrite(s->journal, text, n, 0) != (ssize_t)n ||
		    fsync(s->journal)) {
			attack_say("%s: write the journal: %s", s->c.name,
				   strerror(errno));
			rc = -1;
		}
	}
	free(text);
	free(old);
	return rc;
}

void
journal_remove(struct swap *s)
{
	char name[NAME_MAX + 1];

	if (s->journal < 0)
		return;
	S_name(s->c.name, name);
	unlinkat(s->c.dir, name, 0);
	close(s->journal);
	s->journal = -1;
}
