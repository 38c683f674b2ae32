/*
 * attack_account.c - the account of a run, for programs
 */
#include "controls/attack_account.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "controls/attack.h"

int
account_start(struct account *r, const char *path)
{
	*r = (struct account){ 0 };
	if (!path)
		return 0;
	r->f = fopen(path, "we");
	if (r->f)
		return 0;
	attack_say("%s: %s", path, strerror(errno));
	return -1;
}

/* Bytes of the UTF-8 sequence at s; 0: it is none. */
static size_t
S_sequence(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
		s[0] >= 0xe0 && s[0] < 0xf0 ? 3 :
		s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong, surrogates, beyond the last one. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void
account_text(cJSON *o, const char *key, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char *clean = malloc(4 * strlen(text) + 1), *to = clean;

	if (!clean)
		return;
	while (*s) {
		size_t n = S_sequence(s);

		if (n) {
			memcpy(to, s, n);
			to += n;
			s += n;
		} else {
			to += sprintf(to, "\\x%02x", *s++);
		}
	}
	*to = '\0';
	cJSON_AddStringToObject(o, key, clean);
	free(clean);
}

static void
S_flags(cJSON *line, uint64_t flags)
{
	static const struct {
		uint64_t bits;
		const char *name;
	} names[] = {
		/* Those that include others first. */
		{ O_TMPFILE, "|O_TMPFILE" }, { O_SYNC, "|O_SYNC" },
		{ O_CREAT, "|O_CREAT" }, { O_EXCL, "|O_EXCL" },
		{ O_NOCTTY, "|O_NOCTTY" }, { O_TRUNC, "|O_TRUNC" },
		{ O_APPEND, "|O_APPEND" }, { O_NONBLOCK, "|O_NONBLOCK" },
		{ O_DSYNC, "|O_DSYNC" }, { O_ASYNC, "|O_ASYNC" },
		{ O_DIRECT, "|O_DIRECT" }, { O_DIRECTORY, "|O_DIRECTORY" },
		{ O_NOFOLLOW, "|O_NOFOLLOW" }, { O_NOATIME, "|O_NOATIME" },
		{ O_CLOEXEC, "|O_CLOEXEC" }, { O_PATH, "|O_PATH" },
	};
	char text[256], *to = text;

	to = stpcpy(to, (flags & O_ACCMODE) == O_RDONLY ? "O_RDONLY" :
		    (flags & O_ACCMODE) == O_WRONLY ? "O_WRONLY" : "O_RDWR");
	flags &= ~(uint64_t)O_ACCMODE;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((flags & names[i].bits) == names[i].bits &&
		    names[i].bits) {
			to = stpcpy(to, names[i].name);
			flags &= ~names[i].bits;
		}
	if (flags)
		sprintf(to, "|0x%llx", (unsigned long long)flags);
	cJSON_AddStringToObject(line, "flags", text);
}

cJSON *
account_seen(struct account *r, pid_t thread, const struct target_open *o,
	    const struct where *w)
{
	char text[PATH_MAX + NAME_MAX + 2];
	cJSON *line;

	r->opens++;
	line = r->f ? cJSON_CreateObject() : NULL;
	if (!line)
		return NULL;
	cJSON_AddStringToObject(line, "kind", "open");
	cJSON_AddStringToObject(line, "call", o->call);
	account_text(line, "path", o->path);
	if (where_text(w, text, sizeof(text)))
		account_text(line, "resolved", text);
	S_flags(line, o->flags);
	cJSON_AddNumberToObject(line, "process", target_process(thread));
	cJSON_AddNumberToObject(line, "thread", thread);
	if (w->swap) {
		account_text(line, "swap", w->swap->c.name);
		cJSON_AddNumberToObject(line, "open",
					(double)w->swap->opens + 1);
	}
	return line;
}

static void
S_print(struct account *r, cJSON *line)
{
	char *text = line ? cJSON_PrintUnformatted(line) : NULL;

	if (text && r->f)
		fprintf(r->f, "%s\n", text);
	cJSON_free(text);
	cJSON_Delete(line);
}

void
account_done(struct account *r, cJSON *line, const char *done)
{
	if (line)
		cJSON_AddStringToObject(line, "done", done);
	S_print(r, line);
}

int
account_end(struct account *r, cJSON *summary)
{
	bool bad;

	S_print(r, summary);
	if (!r->f)
		return 0;
	bad = ferror(r->f);
	bad |= fclose(r->f) != 0;
	r->f = NULL;
	if (bad)
		attack_say("the report could not be written: %s",
			   strerror(errno));
	return bad ? -1 : 0;
}
