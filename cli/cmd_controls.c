/*
 * cmd_controls.c - the command of the attack controls, a program of its own
 *
 * It links nothing of ours, as little as we link of it.
 */
#include "cli/cli.h"
#include "warden/place.h"

const struct args_usage controls_usage = {
	.name = "controls",
	.summary = "Attack a naive tool, and this one: it must not be fooled",
	.instead = place_open_controls,
};
