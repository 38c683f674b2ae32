/*
 * cmd_lease.c - the command of the lease database, a program of its own
 *
 * It links SQLite, which this one must never do.
 */
#include "cli/cli.h"
#include "warden/place.h"

const struct args_usage lease_usage = {
	.name = "lease",
	.summary = "Say who may write a path on this machine",
	.instead = place_open_lease,
};
