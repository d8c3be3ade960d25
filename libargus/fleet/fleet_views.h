/* Questions about many hangs, each answered by one query over the database. The same queries, for
 * other engines, are in examples/fleet/queries.
 *
 * An answer is an array of objects with the members that docs/schema/fleet.json lists. */
#ifndef ARGUS_FLEET_VIEWS_H
#define ARGUS_FLEET_VIEWS_H

#include "fleet/database.h"

enum fleet_view {
    FLEET_VIEW_KINDS,       /* hangs of one signature: how many, where, since when, worst */
    FLEET_VIEW_REGRESSIONS, /* kinds that more machines have with a version than before it */
    FLEET_VIEW_PACKAGES,    /* by the package, else the file, of the root cause */
    FLEET_VIEW_REASONS,     /* how the time of all hangs was spent */
    FLEET_VIEW_VERSIONS,    /* by the version of the program that hung */
    FLEET_VIEW_MACHINES,
    FLEET_VIEW_DAYS,     /* in UTC */
    FLEET_VIEW_EXAMPLES, /* hangs, the best example first */
    FLEET_VIEW_TOTALS,   /* one object */
    FLEET_VIEWS
};

/* Which hangs are looked at. */
struct fleet_filter {
    const char *program;   /* NULL: all */
    const char *signature; /* its beginning suffices; NULL: all */
    bool is_exact;         /* `signature` is a whole one, perhaps empty */
    int64_t since_ns;      /* began at this time since 1970 or later */
    /* kinds: `is_new` is true where the first hang of the kind, also before since_ns, began at this
     * time or later */
    int64_t new_since_ns;
};

/* "kinds"; NULL for another number. Static. */
const char *fleet_view_name(enum fleet_view view);
bool fleet_view_find(const char *name, enum fleet_view *ret);

/* `sort`: name of the member by which kinds are sorted, the largest first; NULL: hangs. `limit`: at
 * most this many objects; 0: all. The caller owns `*ret`. */
struct argus_error *fleet_view_get(const struct fleet_database *database, enum fleet_view view,
                                   const struct fleet_filter *filter, const char *sort,
                                   uint64_t limit, json_t **ret);

/* Probability that at least `with_after` of `after` machines have a hang of the kind, if it is as
 * likely as on the `before` machines, of which `with_before` have it: Fisher's exact test, one
 * tail. */
double fleet_fisher(int64_t with_before, int64_t before, int64_t with_after, int64_t after);

#endif
