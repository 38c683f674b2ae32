/*
 * group_bootstrap.c - a reviewed program that is swapped before it runs
 */
#include <string.h>

#include "controls/bed_file.h"
#include "controls/bed_sides.h"
#include "controls/registry.h"

static const char S_reviewed[] = "#!/bin/sh\necho reviewed \"$@\"\n";
static const char S_substitute[] = "#!/bin/sh\necho substitute \"$@\"\n";

/* A commit that has check.sh; its id. */
static const char *
S_commit(struct trial *t)
{
	char *id;

	(void)bed_output(t, BED_ARGV("git", "init", "-q", "repo"));
	bed_write(t, "repo/check.sh", S_reviewed, strlen(S_reviewed));
	(void)bed_output(t, BED_ARGV("git", "-C", "repo", "add", "check.sh"));
	(void)bed_output(t, BED_ARGV(
		"git", "-C", "repo", "-c", "user.name=r", "-c",
		"user.email=r@localhost", "commit", "-q", "-m", "reviewed"));
	id = bed_text(t, "%s", bed_output(t, BED_ARGV(
		"git", "-C", "repo", "rev-parse", "HEAD")));
	id[strcspn(id, "\n")] = '\0';
	return id;
}

static const char *
S_sha256(struct trial *t, const char *path)
{
	return bed_text(t, "%.64s", bed_output(t, BED_ARGV("sha256sum",
							   path)));
}

/* Whatever lies in the working tree, it is on the reviewed commit. */
static struct bed_shown
S_checkout(struct trial *t, const char *commit)
{
	return bed_show_run(bed_command(t, BED_ARGV(
		"sh", "-c", "git -C repo checkout -q \"$0\" >&2 &&"
		" sh repo/check.sh 1 2", commit)));
}

static struct bed_shown
S_show(struct trial *t, const char *commit)
{
	return bed_show_run(bed_command(t, BED_ARGV(
		"sh", "-c", "git -C repo show \"$0:check.sh\" > run.sh &&"
		" sh run.sh 1 2", commit)));
}

static const struct bed_run *
S_bootstrap(struct trial *t, const char *commit, const char *sha256)
{
	return bed_product(t, BED_ARGV(
		"controls", "bootstrap", "--repo", "repo", "--commit", commit,
		"--path", "check.sh", "--sha256", sha256, "--", "1", "2"));
}

static void
S_swapped(struct trial *t)
{
	const char *commit = S_commit(t),
		*sha256 = S_sha256(t, "repo/check.sh");

	bed_naive_inverse(t, S_checkout(t, commit), "reviewed 1 2");
	bed_naive_inverse(t, S_show(t, commit), "reviewed 1 2");
	bed_ours_inverse(t, bed_show_run(S_bootstrap(t, commit, sha256)),
			 "reviewed 1 2");

	bed_write(t, "repo/check.sh", S_substitute, strlen(S_substitute));
	bed_naive(t, S_checkout(t, commit), SYMPTOM_RAN, "substitute 1 2",
		  "reviewed 1 2");
	bed_ours(t, bed_show_run(S_bootstrap(t, commit, sha256)),
		 "reviewed 1 2");
	bed_ours_refuses(t, S_bootstrap(t, commit, S_sha256(
		t, "repo/check.sh")), 3, "not run", NULL);

	/* The object too: git shows another one in its place. */
	(void)bed_output(t, BED_ARGV(
		"sh", "-c", "git -C repo replace $(git -C repo rev-parse"
		" \"$0:check.sh\") $(git -C repo hash-object -w check.sh)",
		commit));
	bed_naive(t, S_show(t, commit), SYMPTOM_RAN, "substitute 1 2",
		  "reviewed 1 2");
	bed_ours(t, bed_show_run(S_bootstrap(t, commit, sha256)),
		 "reviewed 1 2");
}

const struct control group_bootstrap[] = {
	{
		.id = "swapped-program",
		.title = "A reviewed program is swapped before it runs",
		.attack = "the file is changed in the working tree, then the"
			" object is replaced (git replace)",
		.predecessor = "git checkout COMMIT, then sh check.sh, as CI"
			" jobs do; and git show COMMIT:check.sh, then sh",
		.symptom = SYMPTOM_RAN,
		.expected = "`holdfast controls bootstrap` runs the reviewed"
			" bytes, or nothing where their SHA-256 is another",
		.inverse = "nothing is changed",
		.needs = CONTROL_GIT,
		.run = S_swapped,
	},
	{ .id = NULL },
};
