/*
 * fakes.h - helpers that keep to the rules of reply/ask.h, and that do not
 *
 * t_warden starts itself under the helper's name: the first file of evidence
 * holds the word that says how it is to behave.
 */
#ifndef TESTS_UNIT_FAKES_H
#define TESTS_UNIT_FAKES_H

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/worker.h"
#include "recover/filter.h"
#include "recover/jail.h"
#include "reply/ask.h"
#include "reply/wire.h"

#define MODE_MAX 64
#define FAKE_SQLITE "9.9.9"
#define FAKE_SOURCE "of no checkout"

struct fake {
	struct wire wire;
	struct fault f;
	struct ask ask;
	struct worker *worker;
	struct jail_report jail;
};

static void
S_fake_must(int failed)
{
	if (failed)
		_exit(99);
}

static void
S_say_hello(struct fake *k, int protocol, const char *version)
{
	S_fake_must(wire_begin(&k->wire, WIRE_HELLO, &k->f));
	S_fake_must(cell_put_int(&k->wire.buf, protocol, &k->f));
	S_fake_must(cell_put_text(&k->wire.buf, version, &k->f));
	S_fake_must(cell_put_int(&k->wire.buf, k->jail.landlock, &k->f));
	S_fake_must(cell_put_text(&k->wire.buf, FAKE_SQLITE, &k->f));
	S_fake_must(cell_put_text(&k->wire.buf, FAKE_SOURCE, &k->f));
	S_fake_must(wire_end(&k->wire, &k->f));
	S_fake_must(wire_flush(&k->wire, &k->f));
}

static void
S_hello(struct fake *k)
{
	S_say_hello(k, WIRE_PROTOCOL, HOLDFAST_VERSION);
}

static void
S_take_ask(struct fake *k)
{
	size_t got;

	S_fake_must(io_read(ASK_FD, &k->ask, sizeof(k->ask), &got, &k->f));
	S_fake_must(got != sizeof(k->ask));
}

/* Jail, greeting, ask: what an honest helper does before it works. */
static void
S_stand(struct fake *k)
{
	S_fake_must(jail_drop(&k->jail, &k->f));
	S_fake_must(worker_start(&k->worker, &k->f));
	S_fake_must(jail_shut(&k->f));
	S_hello(k);
	S_take_ask(k);
}

static void
S_finish(struct fake *k)
{
	S_fake_must(wire_finish(&k->wire, WIRE_YES, &k->f));
	_exit(0);
}

static void
S_raw(const void *bytes, size_t n)
{
	struct fault f = FAULT_INIT;

	S_fake_must(io_write_all(REPLY_FD, bytes, n, &f));
}

static void
S_be_honest(struct fake *k)
{
	char word[MODE_MAX] = { 0 };

	S_stand(k);
	S_fake_must(wire_fact_int(&k->wire, 0, "text_bytes",
				  k->ask.text_bytes, &k->f));
	for (int fd = EVIDENCE_FD; pread(fd, word, MODE_MAX - 1, 0) >= 0; fd++)
		S_fake_must(wire_fact_text(&k->wire, fd - EVIDENCE_FD, "word",
					   word, &k->f));
	S_finish(k);
}

static void
S_be_without_jail(struct fake *k)
{
	S_hello(k);
	S_take_ask(k);
	S_finish(k);
}

static void
S_be_with_old_ids(struct fake *k)
{
	S_fake_must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	S_fake_must(filter_load(&k->f));
	S_be_without_jail(k);
}

static void
S_be_without_filter(struct fake *k)
{
	S_fake_must(jail_drop(&k->jail, &k->f));
	S_be_without_jail(k);
}

/* A filter that allows all, in the first thread only. */
static void
S_be_with_a_free_thread(struct fake *k)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K,
					    SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = 1, .filter = &allow };

	S_fake_must(jail_drop(&k->jail, &k->f));
	S_fake_must(worker_start(&k->worker, &k->f));
	S_fake_must((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
				 &program));
	S_be_without_jail(k);
}

static void
S_be_with_one_descriptor_more(struct fake *k)
{
	S_fake_must(dup(EVIDENCE_FD) != EVIDENCE_FD + 1);
	S_stand(k);
	S_finish(k);
}

static void
S_be_of_another_version(struct fake *k)
{
	S_say_hello(k, WIRE_PROTOCOL, "0.0.0-other");
	S_take_ask(k);
}

static void
S_fail_to_stand(struct fake *k)
{
	struct fault why = FAULT_INIT;

	(void)fault_set(&why, FAULT_SANDBOX, "no filter today");
	S_fake_must(wire_fault(&k->wire, &why, &k->f));
	S_fake_must(wire_flush(&k->wire, &k->f));
	_exit(1);
}

static void
S_greet_with_a_fact(struct fake *k)
{
	S_fake_must(wire_fact_int(&k->wire, 0, "a", 1, &k->f));
	S_finish(k);
}

static void
S_exit_at_once(struct fake *k)
{
	(void)k;
	_exit(3);
}

static void
S_crash(struct fake *k)
{
	volatile int *nowhere = NULL;

	S_stand(k);
	S_raw("\x10", 1);	/* inside a frame */
	*nowhere = 1;
}

static void
S_open_a_file(struct fake *k)
{
	S_stand(k);
	(void)open("/dev/null", O_RDONLY);
	S_finish(k);
}

static void
S_compute_for_ever(struct fake *k)
{
	volatile unsigned long n = 0;

	S_stand(k);
	for (;;)
		n++;
}

static void
S_say_nothing(struct fake *k)
{
	S_stand(k);
	for (;;)
		(void)!pread(EVIDENCE_FD, k, 0, 0);
}

static void
S_leave_before_the_end(struct fake *k)
{
	S_stand(k);
	S_fake_must(wire_fact_int(&k->wire, 0, "a", 1, &k->f));
	S_fake_must(wire_flush(&k->wire, &k->f));
	_exit(0);
}

static void
S_stop_inside_a_frame(struct fake *k)
{
	S_stand(k);
	S_raw("\x09\0\0\0\x0f\0\0\0n", 9);
	_exit(0);
}

static void
S_send_an_unknown_frame(struct fake *k)
{
	S_stand(k);
	S_raw("\0\0\0\0\x7f\0\0\0", 8);
	_exit(0);
}

static void
S_lose_a_frame(struct fake *k)
{
	S_stand(k);
	k->wire.frames++;
	S_finish(k);
}

static void
S_go_on_behind_the_end(struct fake *k)
{
	S_stand(k);
	S_fake_must(wire_finish(&k->wire, WIRE_YES, &k->f));
	S_fake_must(wire_fact_int(&k->wire, 0, "a", 1, &k->f));
	S_finish(k);
}

static void
S_fail_behind_the_end(struct fake *k)
{
	S_stand(k);
	S_fake_must(wire_finish(&k->wire, WIRE_YES, &k->f));
	_exit(7);
}

static void
S_greet_twice(struct fake *k)
{
	S_stand(k);
	S_hello(k);
	S_finish(k);
}

static void
S_say_fault(struct fake *k, int code)
{
	S_stand(k);
	S_fake_must(wire_begin(&k->wire, WIRE_FAULT, &k->f));
	S_fake_must(cell_put_int(&k->wire.buf, code, &k->f));
	S_fake_must(cell_put_text(&k->wire.buf, "page 7 is torn", &k->f));
	S_fake_must(cell_put_text(&k->wire.buf, "take it again", &k->f));
	S_fake_must(wire_end(&k->wire, &k->f));
	S_fake_must(wire_flush(&k->wire, &k->f));
	_exit(1);
}

static void
S_say_damaged(struct fake *k)
{
	S_say_fault(k, FAULT_DAMAGED);
}

static void
S_say_interrupted(struct fake *k)
{
	S_say_fault(k, FAULT_INTERRUPTED);
}

static void
S_say_sandbox(struct fake *k)
{
	S_say_fault(k, FAULT_SANDBOX);
}

static void
S_say_none(struct fake *k)
{
	S_say_fault(k, FAULT_NONE);
}

static void
S_say_too_large(struct fake *k)
{
	S_say_fault(k, FAULT_DAMAGED + 1);
}

static void
S_say_much(struct fake *k)
{
	static const char lots[8192] = { 0 };

	S_stand(k);
	for (;;) {
		S_fake_must(wire_begin(&k->wire, WIRE_PAGES, &k->f));
		S_fake_must(cell_put_int(&k->wire.buf, 0, &k->f));
		S_fake_must(cell_put_blob(&k->wire.buf, lots, sizeof(lots),
					  &k->f));
		S_fake_must(wire_end(&k->wire, &k->f));
	}
}

static void
S_tell_the_environment(struct fake *k)
{
	S_fake_must(ftruncate(EVIDENCE_FD, 0));
	S_fake_must(lseek(EVIDENCE_FD, 0, SEEK_SET) != 0);
	for (char **e = environ; *e; e++)
		S_fake_must(write(EVIDENCE_FD, *e, strlen(*e)) < 0 ||
			    write(EVIDENCE_FD, "\n", 1) < 0);
	S_stand(k);
	S_finish(k);
}

/* The second file of evidence is a pipe here. */
static void
S_never_get_ready(struct fake *k)
{
	pid_t self = getpid();

	(void)k;
	S_fake_must(write(EVIDENCE_FD + 1, &self, sizeof(self)) < 0);
	for (;;)
		(void)pause();
}

static const struct {
	const char *mode;
	void (*be)(struct fake *k);
} fakes[] = {
	{ "never ready", S_never_get_ready },
	{ "honest", S_be_honest },
	{ "without jail", S_be_without_jail },
	{ "with old ids", S_be_with_old_ids },
	{ "without filter", S_be_without_filter },
	{ "free thread", S_be_with_a_free_thread },
	{ "one descriptor more", S_be_with_one_descriptor_more },
	{ "another version", S_be_of_another_version },
	{ "can't stand", S_fail_to_stand },
	{ "greets with a fact", S_greet_with_a_fact },
	{ "exits", S_exit_at_once },
	{ "crashes", S_crash },
	{ "opens", S_open_a_file },
	{ "computes", S_compute_for_ever },
	{ "is silent", S_say_nothing },
	{ "leaves early", S_leave_before_the_end },
	{ "stops inside", S_stop_inside_a_frame },
	{ "unknown frame", S_send_an_unknown_frame },
	{ "loses a frame", S_lose_a_frame },
	{ "goes on", S_go_on_behind_the_end },
	{ "fails late", S_fail_behind_the_end },
	{ "greets twice", S_greet_twice },
	{ "damaged", S_say_damaged },
	{ "interrupted", S_say_interrupted },
	{ "sandbox", S_say_sandbox },
	{ "none", S_say_none },
	{ "too large", S_say_too_large },
	{ "says much", S_say_much },
	{ "environment", S_tell_the_environment },
};

static int
S_helper_main(void)
{
	static struct fake k;
	char mode[MODE_MAX] = { 0 };

	if (pread(EVIDENCE_FD, mode, MODE_MAX - 1, 0) < 0)
		return 98;
	wire_init(&k.wire, REPLY_FD, ASK_OUTPUT_DEFAULT);
	for (size_t i = 0; i < sizeof(fakes) / sizeof(fakes[0]); i++)
		if (strcmp(mode, fakes[i].mode) == 0)
			fakes[i].be(&k);
	return 97;
}

#endif
