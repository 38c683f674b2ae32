/*
 * hello.c - what the helper says of itself before it is asked anything
 */
#include "warden/hello.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

static int
S_text(struct wire_frame *fr, char to[WARDEN_SQLITE_BYTES],
	     struct fault *f)
{
	OWN_MEM(char, text);
	int rc = wire_get_text(fr, &text, f);

	if (!rc)
		(void)snprintf(to, WARDEN_SQLITE_BYTES, "%s", text);
	return rc;
}

int
hello_take(struct wire_frame *fr, struct warden_seen *seen, struct fault *f)
{
	int64_t protocol, landlock;
	OWN_MEM(char, version);
	int rc = wire_get_int(fr, &protocol, f);

	if (!rc)
		rc = wire_get_text(fr, &version, f);
	if (rc)
		return rc;
	if (protocol != WIRE_PROTOCOL || strcmp(version, HOLDFAST_VERSION))
		return fault_set(f, FAULT_TROUBLE,
				 "the helper is of version %.40s, protocol"
				 " %lld; this is %s, protocol %d", version,
				 (long long)protocol, HOLDFAST_VERSION,
				 WIRE_PROTOCOL);
	rc = wire_get_int(fr, &landlock, f);
	if (!rc)
		rc = S_text(fr, seen->sqlite, f);
	if (!rc)
		rc = S_text(fr, seen->sqlite_source, f);
	if (!rc)
		rc = wire_get_done(fr, f);
	if (!rc)
		seen->landlock = (int)landlock;
	return rc;
}
