/* Kinds of hangs as a page of HTML, with the style of `argus report`: it loads nothing, and
 * everything that comes from the database is escaped. */
#ifndef ARGUS_PLUGIN_FLEET_PAGE_H
#define ARGUS_PLUGIN_FLEET_PAGE_H

#include <jansson.h>

#include "argus/report.h"

/* `totals`: the object of FLEET_VIEW_TOTALS. `kinds`: objects of fleet_kind_get(). `all`: how many
 * kinds there are with those that are left out. `limit`: at most this many rows of each table, 0:
 * all; one row more in `kinds` says that there are others. */
void fleet_page_write(const struct argus_sink *sink, const json_t *totals, const json_t *kinds,
                      size_t all, uint64_t limit);

#endif
