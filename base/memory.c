/*
 * memory.c - how much memory may be had without harm
 */
#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/own.h"

uint64_t
memory_available(void)
{
	struct fault ignored = FAULT_INIT;
	unsigned long long kib;
	char text[1024], *line;
	size_t got;
	OWN_FD(fd);

	fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read(fd, text, sizeof(text) - 1, &got, &ignored))
		return 0;
	text[got] = '\0';
	line = strstr(text, "MemAvailable:");
	if (!line || sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
		return 0;
	return kib << 10;
}
