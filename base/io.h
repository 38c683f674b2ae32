/*
 * io.h - whole reads and writes on descriptors
 *
 * Each call retries EINTR and short counts, and nothing else.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

/* Up to n bytes at offset; *got < n only at the end of the file. */
int
io_pread(int fd, void *bytes, size_t n, uint64_t offset, size_t *got,
	 struct fault *f);
/* Exactly n bytes; a short file is FAULT_UNSTABLE. */
int
io_pread_all(int fd, void *bytes, size_t n, uint64_t offset, struct fault *f);
int
io_pwrite_all(int fd, const void *bytes, size_t n, uint64_t offset,
	      struct fault *f);
int
io_write_all(int fd, const void *bytes, size_t n, struct fault *f);
/* As io_pread, from the current position of a pipe or a file. */
int
io_read(int fd, void *bytes, size_t n, size_t *got, struct fault *f);

#endif
