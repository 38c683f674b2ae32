/*
 * f_manifest.c - fuzzes json/ and packet/manifest.h's reader
 *
 * What the reader takes must be read again from what the writer makes of
 * it, and be written the same.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "packet/manifest.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct buf first = BUF_INIT(1u << 26), second = BUF_INIT(1u << 26);
	struct fault f = FAULT_INIT;
	OWN_MANIFEST(m);
	OWN_MANIFEST(again);
	int rc = manifest_read(&m, bytes, n, &f);

	/* Anything but damage would mean that the scan takes what cJSON does
	   not. */
	MUST(rc == 0 || rc == -FAULT_DAMAGED);
	if (rc)
		return 0;
	MUST(manifest_write(&m, &first, &f) == 0);
	MUST(manifest_read(&again, first.data, first.len, &f) == 0);
	MUST(manifest_write(&again, &second, &f) == 0);
	MUST(first.len == second.len
	     && memcmp(first.data, second.data, first.len) == 0);
	buf_free(&first);
	buf_free(&second);
	return 0;
}
