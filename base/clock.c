/*
 * clock.c - the clocks, and deadlines on the monotonic one
 */
#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "base/io.h"
#include "base/own.h"

static uint64_t
S_ns(clockid_t id)
{
	struct timespec t;

	MUST(clock_gettime(id, &t) == 0);
	return (uint64_t)t.tv_sec * CLOCK_NS_PER_SEC + (uint64_t)t.tv_nsec;
}

uint64_t
clock_mono_ns(void)
{
	return S_ns(CLOCK_MONOTONIC);
}

uint64_t
clock_boot_ns(void)
{
	return S_ns(CLOCK_BOOTTIME);
}

uint64_t
clock_real_ns(void)
{
	return S_ns(CLOCK_REALTIME);
}

uint64_t
clock_left_ns(uint64_t deadline_ns)
{
	uint64_t now = clock_mono_ns();

	return now >= deadline_ns ? 0 : deadline_ns - now;
}

void
clock_utc(uint64_t real_ns, char text[CLOCK_UTC_BYTES])
{
	time_t s = (time_t)(real_ns / CLOCK_NS_PER_SEC);
	struct tm tm;

	MUST(gmtime_r(&s, &tm) != NULL);
	MUST(strftime(text, CLOCK_UTC_BYTES, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0);
}

int
clock_boot_id(char text[CLOCK_BOOT_ID_BYTES])
{
	struct fault ignored = FAULT_INIT;
	size_t got;
	OWN_FD(fd);

	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read(fd, text, CLOCK_BOOT_ID_BYTES - 1, &got, &ignored)
	    || got != CLOCK_BOOT_ID_BYTES - 1)
		return 1;
	text[got] = '\0';
	return 0;
}
