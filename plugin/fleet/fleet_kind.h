/* All that the database tells about one kind of hang. */
#ifndef ARGUS_PLUGIN_FLEET_KIND_H
#define ARGUS_PLUGIN_FLEET_KIND_H

#include "fleet/fleet_views.h"

/* The views that tell about one kind, in the order in which they are shown. */
enum { FLEET_KIND_VIEWS = 6 };
extern const enum fleet_view fleet_kind_views[FLEET_KIND_VIEWS];

/* Adds to the object `json` the array "kinds" with the kind of filter->signature, and an array for
 * each of the views, of at most `limit` rows (0: all). NOT_FOUND: no kind, or several. */
struct argus_error *fleet_kind_get(const struct fleet_database *database,
                                   const struct fleet_filter *filter, uint64_t limit, json_t *json);

#endif
