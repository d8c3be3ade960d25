#include "plugin/fleet/fleet_kind.h"

#include "report/json.h"

const enum fleet_view fleet_kind_views[FLEET_KIND_VIEWS] = {
    FLEET_VIEW_VERSIONS, FLEET_VIEW_DAYS,     FLEET_VIEW_REASONS,
    FLEET_VIEW_PACKAGES, FLEET_VIEW_MACHINES, FLEET_VIEW_EXAMPLES};

static struct argus_error *add_views(const struct fleet_database *database,
                                     const struct fleet_filter *filter, uint64_t limit,
                                     json_t *json)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && i < FLEET_KIND_VIEWS; i++) {
        json_t *rows = NULL;
        error = fleet_view_get(database, fleet_kind_views[i], filter, NULL, limit, &rows);
        if (!error)
            json_put(json, fleet_view_name(fleet_kind_views[i]), rows);
    }
    return error;
}

struct argus_error *fleet_kind_get(const struct fleet_database *database,
                                   const struct fleet_filter *filter, uint64_t limit, json_t *json)
{
    json_t *kinds = NULL;
    struct argus_error *error = fleet_view_get(database, FLEET_VIEW_KINDS, filter, NULL, 0, &kinds);
    if (error)
        return error;
    size_t count = json_array_size(kinds);
    json_put(json, "kinds", kinds);
    if (count != 1)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  count ? "%s is the beginning of several signatures"
                                        : "no kind of hang has the signature %s",
                                  filter->signature);
    return add_views(database, filter, limit, json);
}
