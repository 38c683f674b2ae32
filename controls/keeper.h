/*
 * keeper.h - the process that keeps a control: deadline, leftovers, folder
 *
 * The keeper is the subreaper of one control, so a process that the control
 * leaves behind becomes the keeper's child, whatever it did to get away. It
 * ends by SIGTERM (also when the runner dies), after it has cleaned up.
 */
#ifndef CONTROLS_KEEPER_H
#define CONTROLS_KEEPER_H

#include <sys/types.h>

#include "controls/trial.h"

/* A control that takes longer is broken. */
#define KEEPER_SECONDS 60

/*
 * In a process just forked, with SIGTERM, SIGINT and SIGHUP blocked: runs
 * the control, writes its lines and those of the keeper (findings.h) to
 * t->report, and ends.
 */
_Noreturn void
keeper_run(struct trial *t, pid_t runner, unsigned seconds);

#endif
