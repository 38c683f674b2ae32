/*
 * hello.h - what the helper says of itself before it is asked anything
 */
#ifndef WARDEN_HELLO_H
#define WARDEN_HELLO_H

#include "base/fault.h"
#include "reply/wire.h"
#include "warden/warden.h"

/*
 * From the cells of a HELLO frame into what was seen. FAULT_TROUBLE: it is
 * of another build than we are.
 */
int
hello_take(struct wire_frame *fr, struct warden_seen *seen, struct fault *f);

#endif
