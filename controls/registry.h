/*
 * registry.h - all controls, group by group
 */
#ifndef CONTROLS_REGISTRY_H
#define CONTROLS_REGISTRY_H

#include <stddef.h>

#include "controls/control.h"

/* A group is an array in a file of its own; its last entry has no id. */
extern const struct control group_copies[];
extern const struct control group_names[];
extern const struct control group_journals[];
extern const struct control group_sidecars[];
extern const struct control group_swaps[];
extern const struct control group_bootstrap[];
extern const struct control group_writers[];
extern const struct control group_stages[];
extern const struct control group_packets[];
extern const struct control group_sandbox[];
extern const struct control group_changes[];
extern const struct control group_values[];
extern const struct control group_hostile[];

/* The groups, in the order of the list; NULL is behind the last one. */
extern const struct control *const registry_groups[];

/* The nth control of all groups, or NULL. */
const struct control *
registry_at(size_t n);

size_t
registry_count(void);

/* NULL: there is no such control. */
const struct control *
registry_find(const char *id);

#endif
