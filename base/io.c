/*
 * io.c - whole reads and writes on descriptors
 */
#include "base/io.h"

#include <errno.h>
#include <unistd.h>

int
io_pread(int fd, void *bytes, size_t n, uint64_t offset, size_t *got,
	 struct fault *f)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = pread(fd, (char *)bytes + done, n - done,
				  (off_t)(offset + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return fault_sys(f, FAULT_TROUBLE, errno,
					 "read %zu bytes at offset %llu",
					 n - done,
					 (unsigned long long)(offset + done));
		if (r == 0)
			break;
		done += (size_t)r;
	}
	*got = done;
	return 0;
}

int
io_pread_all(int fd, void *bytes, size_t n, uint64_t offset, struct fault *f)
{
	size_t got;
	int rc = io_pread(fd, bytes, n, offset, &got, f);

	if (rc)
		return rc;
	if (got < n)
		return fault_set(f, FAULT_UNSTABLE,
				 "the file ends at offset %llu, "
				 "%zu bytes early",
				 (unsigned long long)(offset + got), n - got);
	return 0;
}

int
io_pwrite_all(int fd, const void *bytes, size_t n, uint64_t offset,
	      struct fault *f)
{
	size_t done = 0;

	while (done < n) {
		ssize_t w = pwrite(fd, (const char *)bytes + done, n - done,
				   (off_t)(offset + done));

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return fault_sys(f, FAULT_TROUBLE, errno,
					 "write %zu bytes at offset %llu",
					 n - done,
					 (unsigned long long)(offset + done));
		done += (size_t)w;
	}
	return 0;
}

int
io_write_all(int fd, const void *bytes, size_t n, struct fault *f)
{
	size_t done = 0;

	while (done < n) {
		ssize_t w = write(fd, (const char *)bytes + done, n - done);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return fault_sys(f, FAULT_TROUBLE, errno,
					 "write %zu bytes", n - done);
		done += (size_t)w;
	}
	return 0;
}

int
io_read(int fd, void *bytes, size_t n, size_t *got, struct fault *f)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = read(fd, (char *)bytes + done, n - done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return fault_sys(f, FAULT_TROUBLE, errno,
					 "read %zu bytes", n - done);
		if (r == 0)
			break;
		done += (size_t)r;
	}
	*got = done;
	return 0;
}
