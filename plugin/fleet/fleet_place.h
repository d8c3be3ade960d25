/* What the fleet's commands share: their database and its options. */
#ifndef ARGUS_PLUGIN_FLEET_PLACE_H
#define ARGUS_PLUGIN_FLEET_PLACE_H

#include "fleet/fleet_views.h"
#include "plugin/command.h"

#define FLEET_OPTION_DATABASE                                                                      \
    {                                                                                              \
        "database", 0, "FILE", "use this hang database [~/.local/share/argus/fleet.db]"            \
    }
#define FLEET_OPTIONS_FILTER                                                                       \
    {"program", 'p', "NAME", "only hangs of this program"},                                        \
    {                                                                                              \
        "since", 0, "DATE", "only hangs since this day, e.g. 2026-11-01 (UTC), or 7d, 12h ago"     \
    }

/* Opens the database of the options; the caller closes it. */
struct argus_error *fleet_place_open(const struct arguments *arguments, bool create,
                                     struct fleet_database **ret);

/* Reads FLEET_OPTIONS_FILTER, and --new-since if the command has it (24 hours ago). */
struct argus_error *fleet_place_filter(const struct arguments *arguments, struct fleet_filter *ret);

/* An object that begins with the members of all JSON of the fleet: `format`,
 * name and version. */
json_t *fleet_place_json(const char *name);

#endif
