/*
 * registry.c - the groups of controls, a line each
 */
#include "controls/registry.h"

const struct control *const registry_groups[] = {
	group_copies,
	group_names,
	group_journals,
	group_sidecars,
	group_swaps,
	group_bootstrap,
	group_writers,
	group_stages,
	group_packets,
	group_sandbox,
	group_changes,
	group_values,
	group_hostile,
	NULL,
};
