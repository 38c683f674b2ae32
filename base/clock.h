/*
 * clock.h - the clocks, and deadlines on the monotonic one
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define CLOCK_NS_PER_SEC 1000000000ull
#define CLOCK_BOOT_ID_BYTES 37	/* a UUID in text, with the NUL */

/* Nanoseconds of CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME. */
uint64_t
clock_mono_ns(void);
uint64_t
clock_boot_ns(void);
uint64_t
clock_real_ns(void);

/* Nanoseconds left until a monotonic instant; 0 when it has passed. */
uint64_t
clock_left_ns(uint64_t deadline_ns);

/* "2026-01-31T12:00:00Z" of a CLOCK_REALTIME instant. */
#define CLOCK_UTC_BYTES 32
void
clock_utc(uint64_t real_ns, char text[CLOCK_UTC_BYTES]);

/* 0, or 1: the kernel shows none. */
int
clock_boot_id(char text[CLOCK_BOOT_ID_BYTES]);

#endif
